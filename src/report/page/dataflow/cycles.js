// The page that plays cycles back: the array, the output so far, counters, and a sentence on each cycle.

function matrix(id, plane) {
  return element('table', { class: 'matrix', id }, element('tbody', {}, plane.map((row, y) =>
    element('tr', {}, row.map((_, x) => element('td', { class: 'number', 'data-place': `${y},${x}` }, '·'))))));
}

// One table for each image and filter.
function outputPlanes(recording) {
  const several = recording.output.length * recording.output[0].length > 1;
  const planes = recording.output.flatMap((filters, image) => filters.map((plane, filter) =>
    element('figure', { class: 'plane' }, [
      several ? element('figcaption', {}, `image ${image + 1}, filter ${filter + 1}`) : null,
      matrix(`output-${image}-${filter}`, plane)])));
  return element('div', { class: 'planes' }, planes);
}

const COUNTERS = [['macs', 'multiply-accumulates'], ['filter', 'filter words read'], ['ifmap', 'input words read'],
  ['hops', 'psum hops'], ['psumReads', 'psums read back'], ['writes', 'psums written']];

// The counters after each cycle.
function countersOverTime(cycles) {
  const sums = Object.fromEntries(COUNTERS.map(([name]) => [name, 0]));
  return cycles.map((cycle) => {
    sums.macs += (cycle.products ?? []).reduce((sum, product) => sum + product[6], 0);
    sums.filter += cycle.filter_words ?? 0;
    sums.ifmap += cycle.ifmap_words ?? 0;
    sums.hops += (cycle.hops ?? []).length;
    sums.psumReads += (cycle.writes ?? []).filter((write) => write[6]).length;
    sums.writes += (cycle.writes ?? []).length;
    return { ...sums };
  });
}

function counterList() {
  return element('dl', { class: 'figures', id: 'counters', 'aria-label': 'Counters' }, COUNTERS.map(([name, label]) =>
    element('div', {}, [element('dt', {}, label), element('dd', { id: `counter-${name}` }, '0')])));
}

const ARRAY_KEYS = [{ label: 'filter row', colour: 'filter' }, { label: 'input row', colour: 'ifmap' },
  { label: 'psum', colour: 'psum' }];

function arrayPicture() {
  const { canvas } = player;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  return composePicture({ title: document.getElementById('cycle-number').textContent, width, height,
    caption: document.getElementById('now').textContent,
    keys: ARRAY_KEYS.map(({ label, colour: tint }) => ({ label, fill: colour(tint) })),
    draw: (context) => context.drawImage(canvas, 0, 0, width, height) });
}

function cyclesBody(page) {
  const { recording } = page;
  player = makePlayer(recording);
  return [
    section('array', 'The array', [
      element('p', { class: 'lead' }, 'Each element holds a row of a filter and slides it along a row of the input. '
        + 'Partial sums (psums) move up the columns and add up to rows of the output. '
        + `Mapping: ${recording.mapping}; `
        + `${plural(recording.mac_width, 'product')} per cycle in each element.`),
      player.stepper.controls,
      element('div', { class: 'caption' }, [colourKeys(ARRAY_KEYS), pictureButton('The array', arrayPicture)]),
      element('p', { id: 'now', class: 'now', 'aria-live': 'polite' }),
      element('div', { class: 'array-and-output' }, [element('div', { class: 'scroll array-box' }, player.canvas),
        element('div', { class: 'result' }, [element('h3', {}, 'Output so far'), outputPlanes(recording)])])]),
    counterList(),
    tables(page),
  ];
}
