// Bars of time, loss and accuracy, one for every run.

const RATE_BARS = { title: 'Images per second by method', wide: true, value: (run) => run.summary.images_per_second,
  text: threeDigits, unit: () => ({ name: 'images/s', per: 1 }), caption: 'Over all iterations except the first.' };

const METHOD_BARS = [
  { title: 'Time by method', wide: true, value: (run) => run.summary.seconds_per_iteration?.mean, text: duration,
    unit: (largest) => ({ name: `${timeUnit(largest).name} per iteration`, per: timeUnit(largest).perSecond }),
    caption: 'Mean over all iterations except the first.' },
  { title: 'Training loss by method', value: (run) => run.summary.train_loss, text: (loss) => loss.toFixed(4),
    unit: () => ({ name: 'loss', per: 1 }), caption: 'In the last epoch.' },
  { title: 'Test accuracy by method', value: (run) => run.summary.test_accuracy,
    text: (fraction) => `${(100 * fraction).toFixed(1)}\u00a0%`, unit: () => ({ name: '%', per: 100 }), most: 100,
    caption: 'After the last iteration.' },
];

function methodBars({ title, wide, value, text, unit, most = Infinity, caption }, runs) {
  const known = runs.filter((run) => run.summary && isNumber(value(run)));
  if (known.length < 2) return null;
  const build = followingCurves(() => {
    const shown = known.filter((run) => !curveView.hidden.has(run.name));
    const largest = Math.max(0, ...shown.map(value));
    const { name, per } = unit(largest);
    const max = roundedUp(1.25 * per * largest || 1);  // with room for the totals
    return {
      type: 'bar',
      data: { labels: shown.map((run) => run.name), datasets: [{ label: name, data: shown.map((run) => per * value(run)),
        backgroundColor: shown.map((run) => fillOf(runColour(run.name))), maxBarThickness: 16 }] },
      options: chartOptions({ x: axis(name, { scale: { min: 0, max: Math.min(most, max) } }), y: namesAxis() },
        { callbacks: { label: (item) => ` ${text(item.raw / per)}` } },
        { indexAxis: 'y', interaction: { mode: 'index', axis: 'y', intersect: false } }),
      plugins: [barTotals((sum) => text(sum / per))], caption,
    };
  });
  return chartFigure({ title, wide, build, height: 64 + 26 * known.length, label: `Bars: ${title.toLowerCase()}` });
}

// The runs of a scaling study have different numbers of workers: its own charts show them.
function methodBarsSection(page) {
  // The time of an iteration compares only runs of one global batch.
  const sameBatch = new Set(page.runs.map((run) => run.config?.batch)).size === 1;
  const bars = sameBatch ? METHOD_BARS : [RATE_BARS, ...METHOD_BARS.slice(1)];
  const charts = page.scaling ? [] : bars.map((its) => methodBars(its, page.runs)).filter((its) => its);
  if (charts.length === 0) return null;
  return section('by-method', 'Methods side by side', [
    element('div', { class: 'tools' }, runLegend(page.runs.map((run) => run.name))),
    element('div', { class: 'charts' }, charts)]);
}
