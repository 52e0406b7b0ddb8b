// The key figures at the top of a report, by its kind.

// Entries are {label, value, unit, about}: value and unit in large type, about in small type.
function timeFigure(label, seconds, about) {
  if (!isNumber(seconds)) return null;
  const [value, unit] = duration(seconds).split(' ');
  return { label, value, unit, about };
}

function percentFigure(label, fraction, about) {
  return isNumber(fraction) ? { label, value: (100 * fraction).toFixed(1), unit: '%', about } : null;
}

function exposedFigure({ exposed_communication_share: exposed, wait_share: wait, hidden_communication_share: hidden }) {
  const about = [['waiting', wait], ['hidden', hidden]].filter(([, fraction]) => isNumber(fraction));
  const transfer = isNumber(exposed) ? Math.max(0, exposed - (wait ?? 0)) : null;
  return percentFigure('Exposed transfer', transfer, about.map(([what, fraction]) => `${percent(fraction)} ${what}`).join(', '));
}

function middleTimes({ p50, p90 } = {}) {
  return isNumber(p50) && isNumber(p90) ? `mean; median ${duration(p50)}, p90 ${duration(p90)}` : 'mean';
}

function oneRunFigures(run) {
  const { summary } = run;
  if (!summary) return [];
  return [
    timeFigure('Time per iteration', summary.seconds_per_iteration?.mean, middleTimes(summary.seconds_per_iteration)),
    isNumber(summary.images_per_second)
      ? { label: 'Throughput', value: threeDigits(summary.images_per_second), unit: 'images/s' } : null,
    percentFigure('Compute', summary.compute_share, 'forward, backward, optimizer'),
    summary.workers > 1 ? exposedFigure(summary) : null,
    isNumber(summary.train_loss) ? { label: 'Training loss', value: summary.train_loss.toFixed(4) } : null,
    percentFigure('Test accuracy', summary.test_accuracy,
      isNumber(summary.test_images) ? `${summary.test_correct}/${summary.test_images} images` : null),
  ];
}

function rateFigure(label, entry, about) {
  return entry ? { label, value: threeDigits(entry.images_per_second), unit: 'images/s', about } : null;
}

function spreadOf({ lowest, highest, repetitions }) {
  return repetitions > 1 ? `${threeDigits(lowest)} to ${threeDigits(highest)} in ${repetitions} repetitions` : null;
}

// The program ranks the runs, because their spread decides which of them is named the fastest.
function rankingFigures({ fastest, exact, inexact }, alone) {
  const group = exact.length > 0 ? exact : inexact;
  const [first, last] = [group[0], group[group.length - 1]];
  const approximate = exact.length > 0 ? inexact[0] : null;
  const times = (entry) => threeDigits(first.images_per_second / entry.images_per_second);
  const title = fastest ? 'Fastest' : group.length > 1 ? 'Highest rate' : 'Throughput';
  const noise = fastest || group.length < 2 ? null : 'others are within noise';
  return [
    rateFigure(`${title}: ${first.name}`, first, [spreadOf(first), noise].filter((part) => part).join('; ')),
    group.length > 1 ? rateFigure(`Slowest: ${last.name}`, last, `${first.name} is ${times(last)} times as fast`) : null,
    rateFigure(`Not exact: ${approximate?.name}`, approximate, 'trains differently'),
    isNumber(alone) ? { label: 'Speed-up over one worker', value: threeDigits(first.images_per_second / alone), unit: '×',
      about: first.name } : null,
  ];
}

function comparisonFigures({ runs, ranking }) {
  const alone = runs.find((run) => run.name === 'alone')?.summary?.images_per_second;
  return [
    ...(ranking ? rankingFigures(ranking, alone) : []),
    rangeFigure('Training loss', runs.map((run) => run.summary?.train_loss), (loss) => loss.toFixed(4), ''),
    rangeFigure('Test accuracy', runs.map((run) => run.summary?.test_accuracy),
      (fraction) => (100 * fraction).toFixed(1), '%'),
  ];
}

// The accuracy of the correct run, and of the mistake with the lowest accuracy.
function mistakeFigures(runs) {
  const known = runs.filter((run) => isNumber(run.summary?.train_accuracy));
  if (known.length === 0) return [];
  const accuracy = (run) => run.summary.train_accuracy;
  const worst = known.reduce((one, other) => (accuracy(other) < accuracy(one) ? other : one));
  return [known[0], ...(worst === known[0] ? [] : [worst])].flatMap((run) => [
    percentFigure(`${run.name}: training accuracy`, accuracy(run)),
    percentFigure(`${run.name}: test accuracy`, run.summary.test_accuracy)]);
}

// One value if it is the same for all runs, else the range.
function rangeFigure(label, values, show, unit) {
  const known = values.filter(isNumber).sort((one, other) => one - other);
  if (known.length === 0) return null;
  const [low, high] = [show(known[0]), show(known[known.length - 1])];
  return low === high ? { label, value: low, unit, about: 'the same for all runs' }
    : { label, value: `${low}–${high}`, unit };
}

function scalingFigures(points) {
  // One worker is the baseline.
  const best = (field) => points.filter((point) => point.workers > 1 && isNumber(point[field]))
    .sort((one, other) => other[field] - one[field])[0];
  const [fastest, widest, leanest] = [best('speedup'), best('bandwidth_mbs'), best('efficiency')];
  const where = (point) => `${plural(point.workers, 'worker')}${isNumber(point.batch) ? `, batch ${point.batch}` : ''}`;
  return [
    fastest ? { label: 'Largest speed-up', value: threeDigits(fastest.speedup), unit: '×', about: where(fastest) } : null,
    leanest ? { ...percentFigure('Best efficiency', leanest.efficiency), about: where(leanest) } : null,
    widest ? { label: 'Highest bandwidth', value: threeDigits(widest.bandwidth_mbs), unit: 'MB/s', about: where(widest) }
      : null,
  ];
}

function figuresOf(page) {
  if (page.scaling) return scalingFigures(page.scaling.points ?? []);
  if (page.runs.length === 1) return oneRunFigures(page.runs[0]);
  return page.kind === 'mistakes' ? mistakeFigures(page.runs) : comparisonFigures(page);
}

function keyFigures(page) {
  const known = figuresOf(page).filter((entry) => entry);
  if (known.length === 0) return null;
  return element('dl', { class: 'figures', id: 'figures', 'aria-label': 'Key figures' }, known.map((entry) =>
    element('div', {}, [element('dt', {}, entry.label),
      element('dd', {}, [entry.value, entry.unit ? element('small', {}, ` ${entry.unit}`) : null,
        entry.about ? element('div', { class: 'about' }, unbroken(entry.about)) : null])])));
}
