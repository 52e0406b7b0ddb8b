// The parts of an iteration's time as bars: compute, exposed transfer, waiting and data. They add up to the iteration.

const TIME_PARTS = [['compute', 'compute'], ['exposed', 'exposed transfer'], ['wait', 'waiting for other ranks'],
  ['data', 'data']];

// Waiting is a part of the exposed time, and the rest is the transfer. Runs of 0.1.0 measured waiting that backward hides.
function splitOf(compute, exposed, wait, data) {
  const exposedWait = Math.min(wait, exposed);
  return { compute, exposed: exposed - exposedWait, wait: exposedWait, data };
}

function splitOfRun({ name, parts }) {
  if (!parts || !isNumber(parts.total)) return null;
  const value = (part) => (isNumber(parts[part]) ? parts[part] : 0);
  return { label: name, hidden: value('hidden'),
    ...splitOf(value('forward') + value('backward') + value('optimizer'), value('exposed'), value('wait'),
      value('data')) };
}

function splitOfRank(record) {
  const seconds = record.seconds_per_iteration;
  if (!isNumber(seconds)) return null;
  const value = (part) => seconds * (isNumber(record[`${part}_share`]) ? record[`${part}_share`] : 0);
  return { label: `rank ${record.rank}`, hidden: value('hidden_communication'),
    ...splitOf(value('compute'), value('exposed_communication'), value('wait'), value('data')) };
}

// A page of one run shows its ranks instead, so that a straggler is visible.
function timeSplits(runs) {
  const splits = runs.length === 1 && (runs[0].summary?.ranks ?? []).length > 1
    ? runs[0].summary.ranks.map(splitOfRank) : runs.map(splitOfRun);
  return splits.filter((split) => split);
}

function totalOf(split) {
  return TIME_PARTS.reduce((sum, [part]) => sum + split[part], 0);
}

// Writes the total of the shown parts of each bar at its end, or left of it if the chart is too narrow. `text` shows a
// total in the unit of the axis.
function barTotals(text) {
  return { id: 'barTotals', afterDatasetsDraw: ({ ctx, chartArea, data, scales }) => {
    ctx.save();
    ctx.font = `12px ${Chart.defaults.font.family}`;
    ctx.textBaseline = 'middle';
    data.labels.forEach((_, row) => {
      const total = data.datasets.reduce((sum, set) => sum + (set.hidden ? 0 : set.data[row] ?? 0), 0);
      const end = scales.x.getPixelForValue(total);
      const left = Math.min(end + 8, chartArea.right + 8 - ctx.measureText(text(total)).width);
      ctx.fillStyle = faded(colour('card'), 0.85);
      if (left < end + 8) ctx.fillRect(left - 3, scales.y.getPixelForValue(row) - 8, chartArea.right, 16);
      ctx.fillStyle = colour('ink');
      ctx.fillText(text(total), left, scales.y.getPixelForValue(row));
    });
    ctx.restore();
  } };
}

function splitTooltip(splits) {
  return { callbacks: {
    label: (item) => ` ${item.dataset.label}: ${duration(item.raw / item.dataset.perSecond)}`
      + ` (${percent(item.raw / item.dataset.perSecond / totalOf(splits[item.dataIndex]))})`,
    footer: ([first]) => {
      const hidden = first ? splits[first.dataIndex].hidden : 0;
      return hidden > 0 ? `hidden by backward: ${duration(hidden)}` : '';
    } } };
}

// `read` returns the splits each time the chart is drawn; their number and unit stay the same.
function timeSplitChart(read) {
  let splits = read();
  const unit = timeUnit(Math.max(...splits.map(totalOf)));
  const build = () => {
    splits = read();
    return {
      type: 'bar',
      data: { labels: splits.map((split) => split.label), datasets: TIME_PARTS.map(([part, label]) => ({ label,
        perSecond: unit.perSecond, data: splits.map((split) => split[part] * unit.perSecond), barThickness: 20,
        backgroundColor: fillOf(part) })) },
      options: chartOptions({
        x: axis(`${unit.name} per iteration`, { scale: { stacked: true, grace: '12%' } }),
        y: namesAxis({ stacked: true }),
      }, splitTooltip(splits), { indexAxis: 'y', interaction: { mode: 'index', axis: 'y', intersect: false } }),
      plugins: [barTotals((sum) => duration(sum / unit.perSecond))],
      caption: 'Mean over all iterations except the first. Communication that backward hides takes no extra time and is '
        + 'not shown.',
    };
  };
  return chartFigure({ title: 'Where the time goes', wide: true, height: 64 + 34 * splits.length, build,
    label: 'Stacked bars of the time of an iteration: compute, exposed transfer, waiting, data',
    legend: TIME_PARTS.map(([part, label]) => ({ label, colour: part })) });
}
