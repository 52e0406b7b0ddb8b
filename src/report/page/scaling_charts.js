// Charts over the number of workers: speed-up against the ideal, efficiency, parts of the time, bandwidth.

// Groups points into series: one per batch size, and per method if there are several. A method has its colour, and every
// series its dashes; batch sizes of a single method have colours.
function scalingSeries(points) {
  const methods = [...new Set(points.map((point) => point.method))];
  const batches = [...new Set(points.map((point) => point.batch))];
  const byMethod = methods.length > 1 || batches.length === 1;
  const colours = seriesColours(byMethod ? methods : batches.map(String));
  const groups = new Map();
  for (const point of [...points].sort((one, other) => one.workers - other.workers)) {
    const name = [isNumber(point.batch) ? `batch ${point.batch} per worker` : null,
      methods.length > 1 || !isNumber(point.batch) ? point.method : null].filter((part) => part).join(', ') || 'runs';
    groups.set(name, [...(groups.get(name) ?? []), point]);
  }
  return [...groups].map(([name, its], index) => ({ name, points: its, dash: DASHES[index % DASHES.length],
    colourName: colours[byMethod ? methods.indexOf(its[0].method) : batches.indexOf(its[0].batch)] }));
}

// Oversubscribed runs get hollow marks: they measure overhead.
function scalingDataset(series, field, scale) {
  const tint = colour(series.colourName);
  // One worker has no bandwidth: its 0 is not a measurement.
  const known = series.points.filter((point) => isNumber(point[field]) && point[field] > 0);
  return { label: series.name, data: known.map((point) => ({ x: point.workers, y: scale * point[field] })),
    parsing: false, clip: 8, borderColor: tint, borderDash: series.dash, borderWidth: 2, pointRadius: 4, pointHoverRadius: 6,
    pointBorderColor: tint, pointBorderWidth: 2,
    pointBackgroundColor: known.map((point) => (point.oversubscribed ? colour('card') : tint)) };
}

function workersAxis(points) {
  const counts = [...new Set(points.map((point) => point.workers))].sort((one, other) => one - other);
  return axis('workers', { scale: { type: 'linear', min: Math.min(1, ...counts), grace: '4%',
    afterBuildTicks: (its) => { its.ticks = counts.map((value) => ({ value })); } },
  ticks: { callback: (value) => String(value), autoSkip: false } });
}

// `ideal` is a function of the number of workers relative to the fewest.
function idealLine(points, ideal) {
  const counts = points.map((point) => point.workers);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  return { label: 'ideal', data: [fewest, most].map((x) => ({ x, y: ideal(x / fewest) })), parsing: false,
    pointRadius: 0, borderColor: colour('muted'), borderWidth: 1.5, borderDash: [6, 4], pointHitRadius: 0,
    pointHoverRadius: 0 };
}

function scalingLines({ title, field, unit, digits, scale = 1, ideal, points, series }) {
  const build = () => ({
    type: 'line',
    data: { datasets: [...series.map((its) => scalingDataset(its, field, scale)),
      ...(ideal ? [idealLine(points, ideal)] : [])] },
    options: chartOptions({ x: workersAxis(points), y: axis(`${title.toLowerCase()}, ${unit}`, { scale: { min: 0 } }) },
      { callbacks: { title: ([first]) => (first ? plural(first.parsed.x, 'worker') : ''),
        label: (item) => ` ${item.dataset.label}: ${item.parsed.y.toFixed(digits)} ${unit}` } }),
    caption: points.some((point) => point.oversubscribed)
      ? 'Hollow marks: more threads than cores. These runs measure overhead, not speed-up.' : '',
  });
  return chartFigure({ title, build, label: `Line chart: ${title.toLowerCase()} over workers`,
    legend: [...series.map((its) => ({ label: its.name, colour: its.colourName, line: true, dash: its.dash })),
      ...(ideal ? [{ label: 'ideal', colour: 'muted', line: true, dash: [6, 4] }] : [])] });
}

function pointLabel(point, series) {
  const name = point.workers > 1 ? series.find((its) => its.points.includes(point)).name : `batch ${point.batch ?? ''}`;
  return `${plural(point.workers, 'worker')}, ${name.replace(' per worker', '')}${point.oversubscribed ? ' *' : ''}`;
}

// The parts of an epoch's seconds. Files of 0.1.0 have exposed communication, waiting included, or only its total.
const EPOCH_PARTS = { compute: (point) => point.compute_seconds, wait: (point) => point.wait_seconds ?? 0,
  exposed: (point) => point.transfer_seconds ?? point.exposed_seconds ?? point.communication_seconds,
  data: (point) => point.data_seconds ?? 0 };

// The run with one worker is in the curve of every method, but gets a single bar.
function splitPoints(series) {
  const seen = new Set();
  return series.flatMap((its) => its.points).filter((point) => {
    const again = point.workers === 1 && seen.has(point.batch);
    if (point.workers === 1) seen.add(point.batch);
    return !again && TIME_PARTS.every(([part]) => isNumber(EPOCH_PARTS[part](point)));
  });
}

function scalingSplit(series) {
  const known = splitPoints(series);
  if (known.length === 0) return null;
  const total = (point) => TIME_PARTS.reduce((sum, [part]) => sum + EPOCH_PARTS[part](point), 0);
  const unit = timeUnit(Math.max(...known.map(total)));
  const build = () => ({
    type: 'bar',
    data: { labels: known.map((point) => pointLabel(point, series)),
      datasets: TIME_PARTS.map(([part, label]) => ({ label, backgroundColor: fillOf(part), barThickness: 16,
        data: known.map((point) => EPOCH_PARTS[part](point) * unit.perSecond) })) },
    options: chartOptions({ x: axis(`${unit.name} per epoch`, { scale: { stacked: true, grace: '12%' } }),
      y: namesAxis({ stacked: true }) },
    { callbacks: { label: (item) => ` ${item.dataset.label}: ${duration(item.raw / unit.perSecond)}` } },
    { indexAxis: 'y', interaction: { mode: 'index', axis: 'y', intersect: false } }),
    plugins: [barTotals((sum) => duration(sum / unit.perSecond))],
    caption: known.some((point) => point.oversubscribed) ? '* more threads than cores.' : '',
  });
  return chartFigure({ title: 'Where the time of an epoch goes', wide: true, build,
    height: 64 + 28 * known.length,
    label: 'Stacked bars of compute, exposed transfer, waiting and data for every number of workers and batch',
    legend: TIME_PARTS.map(([part, label]) => ({ label, colour: part })) });
}

function scalingSection(page) {
  const points = (page.scaling?.points ?? []).filter((point) => isNumber(point.workers));
  if (points.length === 0) return null;
  const series = scalingSeries(points);
  const has = (field) => points.some((point) => isNumber(point[field]));
  const lines = [
    { title: 'Speed-up', field: 'speedup', unit: '×', digits: 2, ideal: (times) => times },
    { title: 'Efficiency', field: 'efficiency', unit: '%', digits: 0, scale: 100, ideal: () => 100 },
    { title: 'Bandwidth', field: 'bandwidth_mbs', unit: 'MB/s', digits: 0 },
    { title: 'Time per iteration over workers', field: 'seconds_per_iteration', unit: 'ms', digits: 2, scale: 1e3 },
    { title: 'Time per epoch', field: 'seconds_per_epoch', unit: 's', digits: 2 },
  ].filter(({ field }) => has(field)).map((line) => scalingLines({ ...line, points, series }));
  const lead = page.scaling.weak
    ? 'Weak scaling: every worker has the same number of images. Ideally the time per epoch is constant.'
    : 'Strong scaling: the same images are divided among more workers.';
  return section('scaling', 'Scaling', [element('p', { class: 'lead' }, lead),
    element('div', { class: 'charts' }, [...lines, scalingSplit(series)])]);
}
