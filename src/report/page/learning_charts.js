// Charts of loss over iterations and epochs, and of accuracy over epochs.

// A loss that ends above twice its first value has diverged. It would flatten all other curves, so the axis ends above
// the others.
function lossLimit(curves) {
  const first = (curve) => curve.points.find((point) => isNumber(point.y))?.y ?? Infinity;
  const last = (curve) => curve.points[curve.points.length - 1].y;
  const diverged = curves.filter((curve) => !(last(curve) <= 2 * first(curve)));
  const others = curves.filter((curve) => !diverged.includes(curve));
  if (diverged.length === 0 || others.length === 0) return { limit: undefined, note: '' };
  const limit = Math.max(2 * Math.max(...others.map(first)), ...finiteValues(others));
  const names = listing(diverged.map((curve) => curve.label));
  return { limit, note: `Diverged and cut off above ${threeDigits(limit)}: ${names}.` };
}

function lossChart(runs, kind, xTitle) {
  return followingCurves(() => {
    const curves = visibleCurves(runs, kind, 'loss');
    const groups = curveView.ranks === 'every' ? [] : coincidingGroups(curves);
    const { limit, note } = lossLimit(curves);
    const datasets = curves.map((curve) => curveDataset(curve,
      { ...curveLook(curve), ...(curveView.highlighted === curve.run ? {} : dashesOf(curve, groups)) }));
    return { type: 'line', data: { datasets },
      options: chartOptions({ x: countAxis(xTitle, curves), y: axis('loss', { scale: { max: limit } }) },
      { callbacks: { title: ([first]) => `${xTitle} ${first?.parsed.x ?? ''}`,
        label: (item) => ` ${item.dataset.label}: ${item.parsed.y.toFixed(4)}` } }, curveInteraction(curves.length)),
      caption: [coincidenceNote(groups, curves), note].filter((part) => part).join(' ') };
  });
}

// The final test as a mark at the last epoch.
function testMark(curve, runs) {
  const run = runs.find((its) => its.name === curve.run);
  if (!isNumber(run.test?.accuracy)) return null;
  const look = curveLook(curve);
  return { label: `${run.name}, test`, parsing: false, pointStyle: 'rectRot', pointRadius: 6, pointHoverRadius: 7,
    data: [{ x: curve.points[curve.points.length - 1].x, y: run.test.accuracy }], showLine: false,
    backgroundColor: look.borderColor, borderColor: colour('card'), borderWidth: 1, order: 0 };
}

function accuracyChart(runs) {
  return followingCurves(() => {
    const curves = visibleCurves(runs, 'epochs', 'accuracy');
    const groups = curveView.ranks === 'every' ? [] : coincidingGroups(curves);
    const lines = curves.map((curve) => curveDataset(curve,
      { ...curveLook(curve), ...(curveView.highlighted === curve.run ? {} : dashesOf(curve, groups)) }));
    const tested = curveView.ranks === 'mean' ? curves : [];
    const marks = tested.map((curve) => testMark(curve, runs)).filter((mark) => mark);
    const percentAxis = { scale: { min: 0, suggestedMax: 1 },
      ticks: { callback: (value) => `${Math.round(100 * value)} %` } };
    return { type: 'line', data: { datasets: [...lines, ...marks] },
      options: chartOptions({ x: countAxis('epoch', curves), y: axis('training accuracy', percentAxis) },
      { callbacks: { title: ([first]) => `epoch ${first?.parsed.x ?? ''}`,
        label: (item) => ` ${item.dataset.label}: ${(100 * item.parsed.y).toFixed(1)} %` } },
      curveInteraction(curves.length)),
      caption: [coincidenceNote(groups, curves), marks.length > 0 ? '◆ final test accuracy.' : '']
        .filter((part) => part).join(' ') };
  });
}

function hasSeveral(runs, kind) {
  return runs.some((run) => (run[kind] ?? []).some((record) => (record.loss ?? []).length > 1));
}

function learningSection(page) {
  const { runs } = page;
  const charts = [];
  if (hasSeveral(runs, 'iterations')) {
    charts.push(chartFigure({ title: 'Loss over iterations', wide: true,
      build: lossChart(runs, 'iterations', 'iteration'),
      label: 'Line chart of the training loss over iterations, a curve for every run' }));
  }
  if (hasSeveral(runs, 'epochs')) {
    charts.push(chartFigure({ title: 'Loss over epochs', build: lossChart(runs, 'epochs', 'epoch'),
      label: 'Line chart of the training loss over epochs, a curve for every run' }));
    charts.push(chartFigure({ title: 'Accuracy over epochs', build: accuracyChart(runs),
      label: 'Line chart of the training accuracy over epochs, a curve for every run' }));
  }
  if (charts.length === 0) return null;
  return section('learning', 'Loss and accuracy', [curveTools(runs), element('div', { class: 'charts' }, charts)]);
}
