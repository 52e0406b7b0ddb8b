// Charts of time per iteration, and of bytes.

const timeView = { logarithmic: false };

// Rounds up to the end of an axis: 1, 1.5, 2, 3, 5 or 7 times a power of ten.
function roundedUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 1.5, 2, 3, 5, 7, 10].find((factor) => factor * power >= value * (1 - 1e-9));
}

function medianOf(curve) {
  const values = finiteValues([curve]).sort((one, other) => one - other);
  return values.length > 0 ? quantile(values, 0.5) : 0;
}

// A few iterations take many times as long as the others (the first includes setup, others were interrupted). A linear
// axis ends a little above twice the median of the slowest run, and the caption counts the points above it.
function timeLimit(curves, unit) {
  const limit = roundedUp(Math.max(1e-9, 2.2 * Math.max(0, ...curves.map(medianOf))));
  const values = finiteValues(curves);
  const above = values.filter((value) => value > limit).length;
  if (timeView.logarithmic || above === 0) return { limit: undefined, note: '' };
  const largest = values.reduce((most, value) => Math.max(most, value), 0);
  return { limit, note: `${above} of ${values.length} points lie above the axis, up to `
    + `${duration(largest / unit.perSecond)}; the logarithmic axis shows all.` };
}

function inUnit(curve, unit) {
  return { ...curve, points: curve.points.map(({ x, y }) => ({ x, y: y * unit.perSecond })) };
}

// The running median as a line, and single iterations as faint dots behind it.
function timeDatasets(curve, reach) {
  const look = curveLook(curve);
  const line = curveDataset(curve, look, reach > 0 ? runningMedian(curve.points, reach) : curve.points);
  if (reach === 0 || curveView.ranks === 'every') return [line];
  const faint = curveView.highlighted === null || curveView.highlighted === curve.run ? 0.3 : 0.05;
  const dots = { label: 'dots', data: curve.points, parsing: false, normalized: true, showLine: false, pointRadius: 1.5,
    pointHoverRadius: 0, pointHitRadius: 0, backgroundColor: faded(colour(runColour(curve.run)), faint),
    borderWidth: 0, pointBorderWidth: 0, order: 2 };
  return [line, dots];
}

function iterationTimeChart(runs) {
  return followingCurves(() => {
    const all = visibleCurves(runs, 'iterations', 'seconds');
    const typical = finiteValues(all).sort((one, other) => one - other);
    const unit = timeUnit(typical.length > 0 ? quantile(typical, 0.9) : 0);
    const curves = all.map((curve) => inUnit(curve, unit));
    const longest = Math.max(0, ...curves.map((curve) => curve.points.length));
    const reach = longest >= 40 ? Math.ceil(longest / 60) : 0;
    const { limit, note } = timeLimit(curves, unit);
    const smooth = reach > 0 ? `Lines: running median of ${2 * reach + 1} points. ` : '';
    const scale = timeView.logarithmic ? { type: 'logarithmic' } : { min: 0, max: limit };
    return { type: 'line', data: { datasets: curves.flatMap((curve) => timeDatasets(curve, reach)) },
      options: chartOptions({ x: countAxis('iteration', curves), y: axis(`${unit.name} per iteration`, { scale }) },
      { filter: (item) => item.dataset.label !== 'dots',
        callbacks: { title: ([first]) => `iteration ${first?.parsed.x ?? ''}`,
          label: (item) => ` ${item.dataset.label}: ${duration(item.parsed.y / unit.perSecond)}` } },
      curveInteraction(curves.length)),
      caption: smooth + note };
  });
}

function logarithmicButton() {
  const button = element('button', { type: 'button', 'aria-pressed': 'false', onclick: () => {
    timeView.logarithmic = !timeView.logarithmic;
    button.setAttribute('aria-pressed', String(timeView.logarithmic));
    button.textContent = timeView.logarithmic ? 'Linear axis' : 'Logarithmic axis';
    curvesChanged();
  } }, 'Logarithmic axis');
  return button;
}

// Bytes of rank 0 and of the others, because some methods send everything through rank 0. A page of one run shows all of
// its ranks.
function trafficRows(runs) {
  const known = runs.map((run) => ({ name: run.name, ranks: (run.summary?.ranks ?? [])
    .filter((record) => isNumber(record.bytes_per_iteration)) })).filter(({ ranks }) => ranks.length > 1);
  if (runs.length === 1) {
    return known.flatMap(({ ranks }) => ranks.map((record) =>
      ({ label: `rank ${record.rank}`, values: [record.bytes_per_iteration] })));
  }
  return known.map(({ name, ranks }) => ({ label: name,
    values: [ranks[0].bytes_per_iteration, mean(ranks.slice(1).map((record) => record.bytes_per_iteration))] }));
}

function trafficChart(rows) {
  const unit = byteUnit(Math.max(...rows.flatMap((row) => row.values)));
  const kinds = [['rank 0', 'compute'], ['other ranks, mean', 'forward']].slice(0, rows[0].values.length);
  const build = () => ({
    type: 'bar',
    data: { labels: rows.map((row) => row.label), datasets: kinds.map(([label, name], index) => ({ label,
      data: rows.map((row) => row.values[index] / unit.bytes), backgroundColor: fillOf(name), barThickness: 11 })) },
    options: chartOptions({ x: axis(`${unit.name} per iteration`, { scale: { min: 0 } }),
      y: namesAxis() },
    { callbacks: { label: (item) => ` ${rows[0].values.length > 1 ? `${item.dataset.label}: ` : ''}`
      + byteCount(item.raw * unit.bytes) } },
    { indexAxis: 'y', interaction: { mode: 'index', axis: 'y', intersect: false } }),
    caption: 'Bytes that a rank sends to other ranks per iteration.',
  });
  return chartFigure({ title: 'Bytes per iteration', wide: true, height: 64 + (kinds.length > 1 ? 38 : 26) * rows.length,
    build, label: 'Bars of the bytes that ranks send in an iteration',
    legend: kinds.map(([label, name]) => ({ label, colour: name })) });
}

function timeSection(page) {
  const { runs } = page;
  const charts = [];
  const splits = timeSplits(runs);
  if (splits.length > 0) charts.push(timeSplitChart(() => timeSplits(runs)));
  if (hasSeveral(runs, 'iterations')) {
    charts.push(chartFigure({ title: 'Time per iteration', wide: true, tools: logarithmicButton(),
      keys: curveTools(runs), build: iterationTimeChart(runs),
      label: 'Line chart of the time of each iteration, a curve for every run' }));
  }
  const rows = trafficRows(runs);
  if (rows.some((row) => row.values.some((value) => value > 0))) charts.push(trafficChart(rows));
  if (charts.length === 0) return null;
  return section('time', 'Time and traffic', [element('div', { class: 'charts' }, charts)]);
}
