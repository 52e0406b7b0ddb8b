// The timeline of one iteration: a lane for each rank and stream, on one clock.

// A board is a timeline on the page: its data and layout, the view in microseconds, and the elements.
let board = null;   // that of the section `timeline`
const boards = [];  // of all sections

const TIMELINE_KEYS_SHOWN = [
  { label: 'forward', colour: 'forward' }, { label: 'backward', colour: 'compute' },
  { label: 'optimizer', colour: 'optimizer' }, { label: 'synchronise', colour: 'synchronise' },
  { label: 'communication hidden by backward', colour: 'hidden' },
  { label: 'waiting hidden by backward', colour: 'hidden-wait' },
  { label: 'exposed communication', colour: 'exposed' }, { label: 'waiting for other ranks', colour: 'wait' },
  { label: 'gradient ready', colour: 'gradient', shape: 'mark' },
];

function drawTimeline() {
  boards.forEach((its) => its.draw());
}

// Device pixels, so that lines stay sharp on dense screens.
function fitCanvas(canvas, height) {
  const width = onPaper ? PAPER_WIDTH : canvas.parentElement.clientWidth;
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
  its.scale = paintTimeline(context, its.layout, its.timeline, its.view, width, width < 600 ? 50 : 112);
  const digits = its.view.end - its.view.start < 100 ? 4 : 2;
  const [start, end] = [its.view.start, its.view.end].map((time) => (time / 1e3).toFixed(digits));
  its.range.textContent = `${start} to ${end} ms`;
}

// Shows the timeline of another run.
function loadTimeline(timeline) {
  board.timeline = timeline;
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

// An empty board. The ids of its elements start with `name`.
function makeBoard(name) {
  const canvas = element('canvas', { role: 'img', tabindex: '0', id: `${name}-canvas` });
  const its = { canvas, tip: element('div', { class: 'tip', hidden: true }), levels: 2, view: null, scale: null,
    range: element('span', { class: 'range', id: `${name}-range`, 'aria-live': 'polite' }),
    draw: () => paintBoard(its), point: (event) => showTip(its, event) };
  boards.push(its);
  return its;
}

// Connects a board to its input events. REQUIRES: it has its timeline and layout.
function openBoard(its) {
  its.view = { ...its.extent };
  listenToTimeline(its);
  new ResizeObserver(() => its.draw()).observe(its.canvas);
}

// The canvas with its legend and a hint how to move and zoom.
function timelineFigure(its, keys) {
  return element('figure', { class: 'chart' }, [colourKeys(keys),
    element('div', { class: 'timeline' }, [its.canvas, its.tip]),
    element('p', { class: 'hint' },
      'Drag to move. Zoom with + and −, or with the wheel after a click. Double-click to reset.')]);
}

function newBoard(runs) {
  board = Object.assign(makeBoard('timeline'), { words: element('p', { class: 'lead' }), table: element('details') });
  loadTimeline(runs[runs.length - 1].timeline);
  openBoard(board);
}

function timelineTools(runs) {
  const choose = select('Run', runs.map((run) => [run.name, run.name]), runs[runs.length - 1].name, (name) => {
    loadTimeline(runs.find((run) => run.name === name).timeline);
    resetView(board);
  });
  const depth = select('Operations', [['0', 'none'], ['2', 'outer'], ['6', 'all']], '2', (levels) => {
    board.levels = Number(levels);
    board.layout = layOut(board.timeline, board.levels);
    board.draw();
  });
  return element('div', { class: 'tools' }, [runs.length > 1 ? choose : null, depth,
    zoomButtons(board, 'Show the whole iteration'), board.range]);
}

function timelineSection(page) {
  const runs = page.runs.filter((run) =>
    (run.timeline?.lanes ?? []).some((lane) => clean(lane.spans).length > 0));
  if (runs.length === 0) return null;
  newBoard(runs);
  return section('timeline', 'Timeline of one iteration', [board.words, timelineTools(runs),
    timelineFigure(board, TIMELINE_KEYS_SHOWN), board.table]);
}
