// Makes curves of runs: selects ranks and points, and finds curves that coincide.

// The reader's choices for all charts with curves.
const curveView = { ranks: 'mean', hidden: new Set(), highlighted: null };

// The points of one rank. A value that is no number (the loss of a diverged training) leaves a gap.
function rankPoints(record, xField, yField) {
  const [xs, ys] = [record[xField] ?? [], record[yField] ?? []];
  return xs.map((x, index) => ({ x, y: isNumber(ys[index]) ? ys[index] : NaN }));
}

function meanPoints(curves) {
  if (curves.length === 1) return curves[0];
  const sums = new Map();
  for (const { x, y } of curves.flat()) {
    const entry = sums.get(x) ?? { sum: 0, count: 0 };
    entry.sum += y;
    entry.count += 1;
    sums.set(x, entry);
  }
  return [...sums].sort(([one], [other]) => one - other).map(([x, { sum, count }]) => ({ x, y: sum / count }));
}

// The curves of a run for the chosen ranks: their mean, one per rank, or a single rank's. Empty if the run lacks that
// rank.
function curvesOfRun(run, records, xField, yField) {
  const ranked = records.filter((record) => (record[yField] ?? []).some(isNumber));
  const make = (points, label) => ({ run: run.name, label, points });
  if (ranked.length === 0) return [];
  if (curveView.ranks === 'mean') {
    return [make(meanPoints(ranked.map((record) => rankPoints(record, xField, yField))), run.name)];
  }
  return ranked.filter((record) => curveView.ranks === 'every' || String(record.rank) === curveView.ranks)
    .map((record) => make(rankPoints(record, xField, yField), `${run.name}, rank ${record.rank}`));
}

// The curves of all runs that are not hidden. `kind` is 'iterations' or 'epochs'.
function visibleCurves(runs, kind, yField) {
  const xField = kind === 'iterations' ? 'iteration' : 'epoch';
  return runs.filter((run) => !curveView.hidden.has(run.name))
    .flatMap((run) => curvesOfRun(run, run[kind] ?? [], xField, yField));
}

function finiteValues(curves) {
  return curves.flatMap((curve) => curve.points.map((point) => point.y)).filter(isNumber);
}

function rankNumbers(runs) {
  const numbers = runs.flatMap((run) => (run.iterations ?? []).map((record) => record.rank));
  return [...new Set(numbers)].sort((one, other) => one - other);
}

// Whether two curves differ by at most `tolerance` wherever both have a point.
function coincide(one, other, tolerance) {
  const values = new Map(one.points.map(({ x, y }) => [x, y]));
  const common = other.points.filter(({ x, y }) => isNumber(y) && isNumber(values.get(x)));
  return common.length > 1 && common.every(({ x, y }) => Math.abs(values.get(x) - y) <= tolerance);
}

// Groups of two or more curves that a reader could not distinguish. A pixel is about 1/250 of a chart.
function coincidingGroups(curves) {
  const values = finiteValues(curves).sort((one, other) => one - other);
  if (values.length === 0) return [];
  const tolerance = (values[values.length - 1] - values[0]) / 250;
  const groups = [];
  for (const curve of curves) {
    const equal = groups.find((group) => coincide(group[0], curve, tolerance));
    if (equal) equal.push(curve);
    else groups.push([curve]);
  }
  return groups.filter((group) => group.length > 1);
}

// Coinciding curves alternate along the line: each shows for one dash, then the next one.
function dashesOf(curve, groups) {
  const group = groups.find((one) => one.includes(curve));
  if (!group) return {};
  const dash = 9;
  return { borderDash: [dash, dash * (group.length - 1)], borderDashOffset: -dash * group.indexOf(curve) };
}

function coincidenceNote(groups, curves) {
  if (groups.length === 0) return '';
  if (groups.length === 1 && groups[0].length === curves.length) {
    return `All ${curves.length} curves coincide; they are drawn with alternating dashes.`;
  }
  const named = groups.map((group) => listing(group.map((curve) => curve.label)));
  return `Coinciding curves, drawn with alternating dashes: ${named.join('; ')}.`;
}

// Replaces each value by the median of its neighbours, which removes noise.
function runningMedian(points, reach) {
  return points.map(({ x }, index) => {
    const near = points.slice(Math.max(0, index - reach), index + reach + 1).map((point) => point.y)
      .filter(isNumber).sort((one, other) => one - other);
    return { x, y: near.length > 0 ? quantile(near, 0.5) : NaN };
  });
}
