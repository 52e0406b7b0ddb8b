// The timeline of one iteration: a lane for each rank and stream, on one clock.

// A board is a timeline on the page: its data and layout, the view in microseconds, and the elements.
let board = null;   // that of the section `timeline`
const boards = [];  // of all sections

const TIMELINE_KEYS_SHOWN = [
  { label: 'forward', colour: 'forward' }, { label: 'backward', colour: 'compute' },
  { label: 'optimizer', colour: 'optimizer' }, { label: 'synchronise', colour: 'synchronise' },
  { label: 'communication hidden by backward', colour: 'hidden' },
  { label: 'waiting hidden by backward', colour: 'hidden-wait' },
  { label: 'exposed transfer', colour: 'exposed' }, { label: 'waiting for other ranks', colour: 'wait' },
  { label: 'gradient ready', colour: 'gradient', shape: 'mark' },
];

function drawTimeline() {
  boards.forEach((its) => its.draw());
}

// Device pixels, so that lines stay sharp on dense screens.
function fitCanvas(canvas, height) {
  const width = onPaper ? CHART_PAPER_WIDTH : canvas.parentElement.clientWidth;
  const density = window.devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const context = canvas.getContext('2d');
  context.setTransform(density, 0, 0, density, 0, 0);
  return { context, width };
}

function paintBoard(its) {
  const { context, width } = fitCanvas(its.canvas, its.layout.height);
  if (width === 0) return;
  its.scale = paintTimeline(context, its, width);
  const digits = its.view.end - its.view.start < 100 ? 4 : 2;
  const [start, end] = [its.view.start, its.view.end].map((time) => (time / 1e3).toFixed(digits));
  its.range.textContent = `${start} to ${end} ms`;
}

// Shows the timeline of another run.
function loadTimeline({ name, timeline }) {
  board.timeline = timeline;
  board.title = `Timeline of one iteration: ${name}`;
  board.extent = extentOf(timeline);
  board.layout = layOut(timeline, board.levels);
  board.words.textContent = `Iteration ${timeline.iteration ?? ''}. ${overlapInWords(timeline)}`;
  board.table.replaceChildren(element('summary', {}, 'As a table'), timelineTable(timeline));
  board.tip.hidden = true;
  board.canvas.setAttribute('aria-label', `Timeline of iteration ${timeline.iteration ?? ''}: `
    + `${board.layout.lanes.length} lanes, ${duration((board.extent.end - board.extent.start) / 1e6)}. `
    + overlapInWords(timeline));
}

function zoomButtons(its, whole) {
  const button = (text, label, act) =>
    element('button', { type: 'button', 'aria-label': label, onclick: act }, text);
  return element('div', { class: 'zoom' }, [
    button('+', 'Zoom in', () => zoom(its, 0.5)),
    button('−', 'Zoom out', () => zoom(its, 2)),
    button('Reset', whole, () => resetView(its))]);
}

// An empty board. The ids of its elements start with `name`; `keys` are the entries of its legend.
function makeBoard(name, keys) {
  const canvas = element('canvas', { role: 'img', tabindex: '0', id: `${name}-canvas` });
  const its = { canvas, tip: element('div', { class: 'tip', hidden: true }), levels: 2, view: null, scale: null,
    range: element('span', { class: 'range', id: `${name}-range`, 'aria-live': 'polite' }),
    draw: () => paintBoard(its), point: (event) => showTip(its, event) };
  its.legend = makeLegend(keys.map((key) => ({ shape: 'solid', ...key })));
  its.legend.redraws.push(its.draw);
  boards.push(its);
  return its;
}

// Connects a board to its input events. REQUIRES: it has its timeline and layout.
function openBoard(its) {
  its.view = { ...its.extent };
  listenToTimeline(its);
  new ResizeObserver(() => its.draw()).observe(its.canvas);
}

function timelinePicture(its) {
  const keys = its.legend.entries.filter(({ label }) => !its.legend.hidden.has(label));
  const [width, height] = [960, its.layout.height];
  return composePicture({ title: its.title, width, height, caption: its.words?.textContent,
    keys: keys.map(({ label, colour: tint }) => ({ label, fill: colour(tint) })),
    draw: (context) => paintTimeline(context, its, width) });
}

// The canvas with its legend and a hint how to move and zoom.
function timelineFigure(its) {
  return element('figure', { class: 'chart' }, [its.legend.element,
    element('div', { class: 'timeline' }, [its.canvas, its.tip]),
    element('p', { class: 'hint' },
      'Drag to move. Zoom with + and −, or with the wheel after a click. Double-click to reset.')]);
}

// The run that loses most of its time to communication: its timeline shows why. Without such parts, the last run.
function runToOpen(runs) {
  const lost = (run) => (run.parts?.exposed > 0 && run.parts.total > 0 ? run.parts.exposed / run.parts.total : 0);
  return runs.reduce((most, run) => (lost(run) >= lost(most) ? run : most));
}

function newBoard(run) {
  board = Object.assign(makeBoard('timeline', TIMELINE_KEYS_SHOWN),
    { words: element('p', { class: 'lead' }), table: element('details'), title: '' });
  loadTimeline(run);
  openBoard(board);
}

function timelineTools(runs, opened) {
  const choose = select('Run', runs.map((run) => [run.name, run.name]), opened.name, (name) => {
    loadTimeline(runs.find((run) => run.name === name));
    resetView(board);
  });
  const depth = select('Operations', [['0', 'none'], ['2', 'outer'], ['6', 'all']], '2', (levels) => {
    board.levels = Number(levels);
    board.layout = layOut(board.timeline, board.levels);
    board.draw();
  });
  return element('div', { class: 'tools' }, [runs.length > 1 ? choose : null, depth,
    zoomButtons(board, 'Show the whole iteration'), board.range,
    pictureButton('Timeline of one iteration', () => timelinePicture(board))]);
}

function timelineSection(page) {
  const runs = page.runs.filter((run) =>
    (run.timeline?.lanes ?? []).some((lane) => clean(lane.spans).length > 0));
  if (runs.length === 0) return null;
  const opened = runToOpen(runs);
  newBoard(opened);
  return section('timeline', 'Timeline of one iteration', [board.words, timelineTools(runs, opened),
    timelineFigure(board), board.table]);
}
