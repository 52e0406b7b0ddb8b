// Curves over the number of workers, on a logarithmic axis: a line per method, marks for simulated values.

const CURVES = [
  { title: 'Time per iteration', field: 'seconds_per_iteration', unit: 'ms', scale: 1e3, type: 'logarithmic' },
  { title: 'Speed-up', field: 'speedup', unit: '×', scale: 1, type: 'logarithmic', ideal: (workers) => workers },
  { title: 'Efficiency', field: 'efficiency', unit: '%', scale: 100, type: 'linear', ideal: () => 100 },
  { title: 'Exposed communication', field: 'exposed_communication', unit: 'ms', scale: 1e3, type: 'logarithmic' },
];

function methodsOf(predictions) {
  return [...new Set(predictions.map((one) => one.method))];
}

function curvePoints(predictions, method, simulated, { field, scale }) {
  return predictions.filter((one) => one.method === method && Boolean(one.simulated) === simulated
    && isNumber(one[field]) && one[field] > 0).map((one) => ({ x: one.workers, y: scale * one[field] }));
}

function curveLine(label, data, tint, more = {}) {
  const line = colour(tint);
  return { label, data, parsing: false, borderColor: line, backgroundColor: line, borderDash: dashOf(tint), borderWidth: 2,
    pointRadius: 2.5, pointHoverRadius: 5, ...more };
}

function curveSets(predictions, look) {
  const methods = methodsOf(predictions);
  const colours = seriesColours(methods);
  const counts = predictions.map((one) => one.workers);
  const formula = methods.map((method, index) =>
    curveLine(method, curvePoints(predictions, method, false, look), colours[index]));
  const simulated = methods.map((method, index) =>
    curveLine(`${method}, simulated`, curvePoints(predictions, method, true, look), colours[index],
      { series: method, showLine: false, pointStyle: 'rectRot', pointRadius: 6 })).filter((its) => its.data.length > 0);
  const ideal = look.ideal ? [curveLine('ideal', [Math.min(...counts), Math.max(...counts)].map((x) =>
    ({ x, y: look.ideal(x) })), 'muted', { borderDash: [6, 4], pointRadius: 0, borderWidth: 1.5 })] : [];
  return [...formula, ...simulated, ...ideal];
}

function workerMarks(predictions) {
  const counts = [...new Set(predictions.map((one) => one.workers))].sort((one, other) => one - other);
  return axis('workers', { scale: { type: 'logarithmic', min: counts[0], max: counts[counts.length - 1],
    afterBuildTicks: (its) => { its.ticks = counts.map((value) => ({ value })); } },
  ticks: { callback: (value) => String(value) } });
}

function curveFigure(predictions, look, legend) {
  const { title, unit, type } = look;
  const build = () => ({
    type: 'line',
    data: { datasets: curveSets(predictions, look) },
    options: chartOptions({ x: workerMarks(predictions), y: axis(`${title.toLowerCase()}, ${unit}`,
      { scale: { type, ...(type === 'linear' ? { min: 0 } : {}) } }) },
    { callbacks: { title: ([first]) => (first ? plural(first.parsed.x, 'worker') : ''),
      label: (item) => ` ${item.dataset.label}: ${threeDigits(item.parsed.y)} ${unit}` } }),
  });
  return chartFigure({ title, build, label: `Line chart: ${title.toLowerCase()} over workers`, height: 380,
    legend });
}

function curvesSection(page) {
  const { predictions } = page;
  if (predictions.length === 0) return null;
  const methods = methodsOf(predictions);
  const colours = seriesColours(methods);
  const legend = makeLegend(methods.map((label, index) => ({ label, colour: colours[index], line: true })));
  return section('curves', 'Scaling with the number of workers', [legend.element, element('div', { class: 'charts' },
    CURVES.map((look) => curveFigure(predictions, look, legend)))]);
}
