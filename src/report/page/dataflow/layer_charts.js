// Stacked bars of every layer: energy, time and words moved.

const ENERGY_PARTS = [['alu', 'ALU', 'series-1'], ['register', 'registers', 'series-6'], ['array', 'between elements',
  'series-3'], ['buffer', 'buffer', 'series-13'], ['dram', 'DRAM', 'series-2']];
const CYCLE_PARTS = [['compute', 'computing', 'series-1'], ['bus_wait', 'waiting for a bus', 'series-2'],
  ['ramp_up', 'ramp-up of passes', 'series-13']];
const WORD_PARTS = [['filter', 'filters', 'filter'], ['ifmap', 'input maps', 'ifmap'], ['psum', 'psums', 'psum']];

function wordsSum(words) {
  return WORD_PARTS.reduce((sum, [part]) => sum + words[part], 0);
}

// The unit of an axis up to `largest`: "k", "M" or "G".
function amountUnit(largest) {
  return [['G', 1e9], ['M', 1e6], ['k', 1e3]].find(([, size]) => largest >= 2 * size) ?? ['', 1];
}

function rowLabel(page, layer) {
  const several = (field) => page.layers.some((other) => other[field] !== page.layers[0][field]);
  return [layer.name, several('dataflow') ? layer.dataflow : null, several('pass') ? layer.pass : null]
    .filter((part) => part).join(' · ');
}

// `rows` are {label, values by part}. All values are divided by `scale`; `unitName` labels the axis.
function stackedBars({ title, label, rows, parts, unitName, scale, text, caption }) {
  const total = (row) => parts.reduce((sum, [part]) => sum + row.values[part], 0);
  const build = () => ({
    type: 'bar',
    data: { labels: rows.map((row) => row.label), datasets: parts.map(([part, name, tint]) => ({ label: name,
      data: rows.map((row) => row.values[part] / scale), backgroundColor: fillOf(tint),
      barThickness: rows.length > 16 ? 14 : 20 })) },
    options: chartOptions({ x: axis(unitName, { scale: { stacked: true, grace: '14%' } }),
      y: namesAxis({ stacked: true }) },
    { callbacks: { label: (item) => ` ${item.dataset.label}: ${text(item.raw * scale)}`
      + ` (${percent(item.raw * scale / (total(rows[item.dataIndex]) || 1))})` } },
    { indexAxis: 'y', interaction: { mode: 'index', axis: 'y', intersect: false } }),
    plugins: [barTotals((sum) => text(sum * scale))],
    caption,
  });
  return chartFigure({ title, wide: true, label, build, height: 64 + (rows.length > 16 ? 24 : 34) * rows.length,
    legend: parts.map(([, name, tint]) => ({ label: name, colour: tint })) });
}

function amountText(name, scale) {
  return (value) => `${threeDigits(value / scale)}${name ? `\u00a0${name}` : ''}`;
}

function energyChart(title, rows, caption) {
  const largest = Math.max(...rows.map((row) => ENERGY_PARTS.reduce((sum, [part]) => sum + row.values[part], 0)));
  const [name, scale] = amountUnit(largest);
  return stackedBars({ title, rows, parts: ENERGY_PARTS, unitName: `energy, in ${name} multiply-accumulates`, scale,
    text: amountText(name, scale), caption, label: 'Stacked bars of energy by where it is spent' });
}

function timeChart(page, rows) {
  const perMillisecond = 1e3 * (page.chip?.megahertz ?? 200);
  return stackedBars({ title: 'Where the time goes', rows, parts: CYCLE_PARTS, unitName: 'ms', scale: perMillisecond,
    text: (cycles) => duration(cycles / perMillisecond / 1e3), label: 'Stacked bars of time by what it is spent on',
    caption: 'Buses carry psums and input maps while elements compute; if a bus is slower, elements wait. Ramp-up: before '
      + 'a pass starts, its filters and the first window of every input row are loaded.' });
}

function wordsChart(title, rows, caption) {
  const [name, scale] = amountUnit(Math.max(...rows.map((row) => wordsSum(row.values))));
  return stackedBars({ title, rows, parts: WORD_PARTS, unitName: `${name} words`, scale,
    text: amountText(name, scale), caption, label: `Stacked bars of words by kind: ${title}` });
}

function layerFigures(page) {
  const { total } = page;
  if (!total) return null;
  const [macName, macScale] = amountUnit(total.macs);
  const entries = [
    ['Time', ...duration(total.milliseconds / 1e3).split(' '), `${threeDigits(total.gmacs_per_second)} GMAC/s`],
    ['Multiply-accumulates', threeDigits(total.macs / macScale), macName, null],
    ['Active elements', threeDigits(total.active_pes), '', `${percent(total.utilisation)} of the array`],
    ['Energy per multiply-accumulate', threeDigits(total.energy_total / total.macs), '×', 'relative to one in the ALU'],
    ['DRAM', ...byteCount(total.dram_bytes).split(' '), 'not compressed'],
    ['Buffer', ...byteCount(total.buffer_bytes).split(' '), 'input maps and psums'],
  ];
  return element('dl', { class: 'figures', id: 'figures', 'aria-label': 'Key figures' }, entries.map(
    ([term, value, unit, about]) => element('div', {}, [element('dt', {}, term), element('dd', {}, [value,
      unit ? element('small', {}, ` ${unit}`) : null,
      about ? element('div', { class: 'about' }, about) : null])])));
}

function totalRows(page, field) {
  const dataflows = new Set(page.totals.map((total) => total.dataflow));
  return page.totals.map((total) => ({ label: dataflows.size > 1 ? total.dataflow : total.pass,
    values: total[field] }));
}

function chipFacts(page) {
  const { chip } = page;
  if (!chip) return null;
  const three = ({ filter, ifmap, psum }) => `${filter} filter, ${ifmap} input, ${psum} psum`;
  const pairs = [['Array', chip.array.join('×')], ['Clock', `${chip.megahertz} MHz`],
    ['Buffer', `${threeDigits(chip.buffer_bytes / 1024)} KiB`], ['Registers, words', three(chip.registers)],
    ['Buses, words per cycle', three(chip.bus_words)]];
  return element('dl', { class: 'facts', id: 'chip' }, pairs.map(([term, value]) =>
    element('div', {}, [element('dt', {}, term), element('dd', {}, value)])));
}

function layersBody(page) {
  const rows = (values) => page.layers.map((layer) => ({ label: rowLabel(page, layer), values: values(layer) }));
  const charts = [
    page.totals.length > 1 ? energyChart('Total energy', totalRows(page, 'energy'),
      'All layers together.') : null,
    energyChart('Where the energy goes', rows((layer) => layer.energy),
      'Relative to one multiply-accumulate. Every product reads two registers, and reads and writes a psum.'),
    timeChart(page, rows((layer) => layer.cycles_split)),
    wordsChart('Words through the buffer', rows((layer) => layer.accesses_by_type.buffer),
      'Filters have their own buffer and are counted here too.'),
    wordsChart('Words from and to the DRAM', rows((layer) => layer.accesses_by_type.dram),
      'Psums are the final output. Data are not compressed.'),
  ].filter((its) => its);
  return [chipFacts(page), layerFigures(page),
    section('charts', 'Layer by layer', [element('div', { class: 'charts' }, charts)]), tables(page)];
}
