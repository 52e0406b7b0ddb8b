// The legend of the curves: hovering over a name highlights its curve, pressing it hides or shows the curve. Every
// section with curves has a legend; all of them show the same choices.

const legendUpdates = [];

function curvesChanged() {
  legendUpdates.forEach((update) => update());
  allCharts.forEach((entry) => { if (entry.build.followsCurves) drawChart(entry); });
}

function highlight(name) {
  if (curveView.highlighted === name) return;
  curveView.highlighted = name;
  curvesChanged();
}

function toggle(name) {
  if (!curveView.hidden.delete(name)) curveView.hidden.add(name);
  curveView.highlighted = null;
  curvesChanged();
}

function legendButton(name) {
  const button = element('button', { type: 'button', 'aria-pressed': 'true', title: 'press to hide or show',
    onclick: () => toggle(name), onpointerenter: (event) => event.pointerType === 'mouse' && highlight(name),
    onpointerleave: () => highlight(null), onblur: () => highlight(null) }, [lineSwatch(runColour(name)), name]);
  legendUpdates.push(() => button.setAttribute('aria-pressed', String(!curveView.hidden.has(name))));
  return button;
}

function ranksChoice(runs) {
  const numbers = rankNumbers(runs);
  if (numbers.length < 2) return null;
  const options = [['mean', 'mean over ranks'], ['every', 'every rank'],
    ...numbers.map((rank) => [String(rank), `rank ${rank}`])];
  const choice = select('Ranks', options, curveView.ranks, (value) => {
    curveView.ranks = value;
    curvesChanged();
  });
  const list = choice.querySelector('select');
  legendUpdates.push(() => { list.value = curveView.ranks; });
  return choice;
}

function runLegend(names) {
  return element('div', { class: 'legend', role: 'group', 'aria-label': 'Runs' }, names.map(legendButton));
}

function curveTools(runs) {
  const names = runs.map((run) => run.name);
  const choice = ranksChoice(runs);
  if (names.length < 2 && !choice) return null;
  return element('div', { class: 'tools' }, [names.length > 1 ? runLegend(names) : null, choice]);
}

// Marks the builder of a chart as dependent on the reader's choice of curves.
function followingCurves(build) {
  return Object.assign(build, { followsCurves: true });
}
