// The post-mortem of a failed run: the verdict, the last second of every rank as a timeline, and a table of the ranks.

const POST_MORTEM_KEYS = [
  { label: 'in an operation', colour: 'exposed' }, { label: 'waiting for other ranks', colour: 'wait' },
  { label: 'the rank ended', colour: 'ink', shape: 'mark' },
];

const POST_MORTEM_TITLE = 'The last second of the run';

// Lanes without operations get a height too, so that every rank is visible.
function layOutEnd(timeline) {
  const layout = layOut(timeline, 0);
  layout.lanes.forEach((lane) => { lane.height = Math.max(lane.height, ROW_HEIGHTS.communication); });
  return layout;
}

function postMortemBoard(timeline, verdict, index) {
  const its = Object.assign(makeBoard(index > 0 ? `post-mortem-${index}` : 'post-mortem', POST_MORTEM_KEYS), { timeline,
    extent: extentOf(timeline), layout: layOutEnd(timeline), title: POST_MORTEM_TITLE,
    words: { textContent: verdict.join(' ') } });
  its.canvas.setAttribute('aria-label', `Timeline of the run's last second: ${verdict[0] ?? ''}`);
  openBoard(its);
  return its;
}

function postMortemOf(run, alone, index) {
  const { verdict, timeline, table } = run.post_mortem;
  const lines = (Array.isArray(verdict) ? verdict : []).map(String);
  const drawn = (timeline?.lanes ?? []).some((lane) => clean(lane.spans).length > 0);
  const its = drawn ? postMortemBoard(timeline, lines, index) : null;
  // The verdict or the notes of the page have the lines of a run without results.
  return [alone ? null : element('h3', {}, run.name),
    run.stopped ? null : element('ul', { class: 'notes' }, lines.map((line) => element('li', {}, unbroken(line)))),
    its && element('div', { class: 'tools' }, [zoomButtons(its, 'Show the whole last second'), its.range,
      pictureButton(POST_MORTEM_TITLE, () => timelinePicture(its))]),
    its && timelineFigure(its),
    table ? tableBlock(table) : null];
}

function postMortemSection(page) {
  const runs = page.runs.filter((run) => run.post_mortem);
  if (runs.length === 0) return null;
  return section('post-mortem', 'Post-mortem',
    runs.flatMap((run, index) => postMortemOf(run, page.runs.length === 1, index)));
}
