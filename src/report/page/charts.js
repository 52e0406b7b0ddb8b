// Common parts of all charts: the figure around them, axes, tooltips and redrawing.

const allCharts = [];

// A figure with a chart. `build` returns Chart.js's {type, data, options, plugins} and a `caption`. It is called again
// when the theme or a choice of the reader changes. `legend` is a list of {label, colour, line} for the data sets with
// these labels, or the legend that several charts share; `keys` is any other element above the chart.
function chartFigure({ title, label, wide, height, tools, legend, keys, build }) {
  const canvas = element('canvas', { role: 'img', 'aria-label': label ?? title }, `${label ?? title}: see the tables.`);
  const caption = element('figcaption');
  const frame = element('div', { class: 'frame', style: height ? `height: ${height}px` : null }, canvas);
  const own = Array.isArray(legend) && legend.length > 1 ? makeLegend(legend) : null;
  const entry = { title, canvas, caption, build, chart: null, width: wide ? 960 : 640, legend: own ?? legend };
  entry.legend?.redraws?.push(() => drawChart(entry));
  allCharts.push(entry);
  return element('figure', { class: wide ? 'chart wide' : 'chart' }, [
    element('div', { class: 'caption' }, [element('h3', {}, title),
      element('div', { class: 'actions' }, [tools, pictureButton(title, () => chartPicture(entry))])]),
    own?.element ?? keys, frame, caption]);
}

function drawChart(entry) {
  const { caption, ...built } = entry.build();
  built.options.devicePixelRatio = entry.density;
  const hidden = entry.legend?.hidden ?? new Set();
  built.data.datasets.forEach((set) => { set.hidden = hidden.has(set.series ?? set.label); });
  entry.caption.textContent = caption ?? '';
  entry.caption.hidden = !caption;
  if (!entry.chart) {
    entry.chart = new Chart(entry.canvas, built);
    return;
  }
  entry.chart.data = built.data;
  entry.chart.options = built.options;
  entry.chart.update('none');
}

function drawAllCharts() {
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  Chart.defaults.locale = 'en';
  allCharts.forEach(drawChart);
}

function axis(title, more = {}) {
  return {
    title: { display: Boolean(title), text: title, color: colour('muted') },
    ticks: { color: colour('muted'), maxRotation: 0, autoSkipPadding: 16, ...more.ticks },
    grid: { color: colour('grid'), borderColor: colour('line'), tickLength: 4, ...more.grid },
    ...more.scale,
  };
}

// An axis of integers from the first to the last x of the curves, with ticks at round numbers. By default Chart.js would
// end the axis where curves leave the other axis.
function countAxis(title, curves) {
  const xs = curves.flatMap((curve) => curve.points.map((point) => point.x));
  const [first, last] = xs.reduce(([least, most], x) => [Math.min(least, x), Math.max(most, x)], [Infinity, -Infinity]);
  const mark = (scale) => {
    const step = Math.max(1, tickStep(scale.max - scale.min || 1, scale.width < 400 ? 6 : 12));
    const ticks = [];
    for (let value = Math.ceil(scale.min / step) * step; value <= scale.max; value += step) ticks.push({ value });
    scale.ticks = ticks;
  };
  const range = last > first ? { min: first, max: last } : {};
  return axis(title, { scale: { type: 'linear', ...range, afterBuildTicks: mark },
    ticks: { callback: (value) => String(value) } });
}

// An axis with a name beside every horizontal bar.
function namesAxis(scale = {}) {
  return axis('', { scale, grid: { display: false }, ticks: { color: colour('ink'), autoSkip: false } });
}

// The smallest step of 1, 2 or 5 times a power of ten that divides `span` into at most `count` steps.
function tickStep(span, count) {
  const power = 10 ** Math.floor(Math.log10(span / count));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => span / step <= count * (1 + 1e-9));
}

// REQUIRES: `scales` by Chart.js's names. `tooltip` replaces parts of the tooltip's options.
function chartOptions(scales, tooltip = {}, more = {}) {
  return {
    animation: false, responsive: true, maintainAspectRatio: false, scales,
    interaction: { mode: 'nearest', axis: 'x', intersect: false },
    plugins: {
      legend: { display: false },
      tooltip: { backgroundColor: colour('ink'), titleColor: colour('paper'), bodyColor: colour('paper'),
        footerColor: colour('paper'), footerFont: { weight: 'normal' }, padding: 10, boxPadding: 4, cornerRadius: 6,
        usePointStyle: true, ...tooltip },
    },
    ...more,
  };
}

// The style of a run's curve. A highlighted curve is in front and thicker, all others are faint.
function curveLook(curve) {
  const tint = colour(runColour(curve.run));
  const { highlighted, ranks } = curveView;
  const borderWidth = ranks === 'every' ? 1 : 2;
  const borderDash = dashOf(runColour(curve.run));
  if (highlighted === null) return { borderColor: tint, borderWidth, borderDash, order: 1 };
  return highlighted === curve.run ? { borderColor: tint, borderWidth: borderWidth + 1, borderDash, order: 0 }
    : { borderColor: faded(tint, 0.15), borderWidth, borderDash, order: 1 };
}

// A line. Its points are drawn only if there are at most three, because so short a line is hard to see.
function curveDataset(curve, look, points = curve.points) {
  return { label: curve.label, data: points, parsing: false, normalized: true, backgroundColor: look.borderColor,
    pointRadius: points.length <= 3 ? 3 : 0, pointHoverRadius: 4, pointHitRadius: 6, ...look };
}

// With many curves a tooltip lists only those nearest to the pointer.
function curveInteraction(count) {
  return { interaction: count > 12 ? { mode: 'nearest', axis: 'xy', intersect: false }
    : { mode: 'nearest', axis: 'x', intersect: false } };
}
