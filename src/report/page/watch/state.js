// The state of runs as `lockstep watch` reports it: words, bars and tables; and asking for it again.

function timeLeft(seconds) {
  if (seconds >= 7200) return `${(seconds / 3600).toFixed(1)} h`;
  return seconds >= 120 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds)} s`;
}

function stateMark(run) {
  return element('span', { class: `run-state ${run.state}`, title: run.why || null }, run.state);
}

function hasProgress(run) {
  return isNumber(run.iterations) && run.iterations > 0;
}

function progressBar(run) {
  if (!hasProgress(run)) return null;
  return element('progress', { max: run.iterations, value: Math.min(run.iteration, run.iterations),
    'aria-label': `progress of ${run.name}` });
}

function progressText(run) {
  if (run.kind === 'group') return plural(run.count, 'run');
  const epoch = run.epoch > 0 ? `, epoch ${run.epoch}${run.epochs > 0 ? ` of ${run.epochs}` : ''}` : '';
  return `iteration ${run.iteration}${hasProgress(run) ? ` of ${run.iterations}` : ''}${epoch}`;
}

// The figures of a run as [name, value, unit]. Figures without a value are left out.
function runFigures(run) {
  const running = run.state === 'running';
  return [
    ['speed', run.images_per_second > 0 ? threeDigits(run.images_per_second) : '', 'images/s'],
    ['left', running && run.seconds_left > 0 ? timeLeft(run.seconds_left) : '', 'left'],
    // JSON has no NaN: after an iteration, null is the loss of a training that diverged.
    ['loss', isNumber(run.loss) ? run.loss.toFixed(4) : run.iteration > 0 ? 'NaN' : '', 'loss'],
    ['test', isNumber(run.test_accuracy) ? percent(run.test_accuracy) : '', 'test accuracy'],
  ].filter(([, value]) => value !== '');
}

function plainTable(label, columns, rows) {
  const head = element('tr', {}, columns.map(([title, look]) => element('th', { scope: 'col', class: look }, title)));
  return scrollBox(label,
    element('table', { class: 'plain' }, [element('thead', {}, head), element('tbody', {}, rows)]));
}

function runRow(run) {
  const value = (name) => runFigures(run).find(([its]) => its === name)?.[1] ?? '';
  const cell = (name) => element('td', { class: 'number' }, value(name));
  return element('tr', { class: [run.kind, run.group ? 'member' : ''].join(' ') }, [
    element('th', { scope: 'row' }, element('a', { href: `/run/${run.id}/` }, run.name)),
    element('td', {}, stateMark(run)),
    element('td', {}, [progressBar(run), element('small', {}, progressText(run))]),
    cell('speed'), cell('left'), cell('loss'), cell('test'),
    element('td', { class: 'started', title: run.command }, run.group ? '' : run.command)]);
}

function runTable(runs) {
  return plainTable('Runs', [['Run'], ['State'], ['Progress'], ['images/s', 'number'], ['Time left', 'number'],
    ['Loss', 'number'], ['Test accuracy', 'number'], ['Command']], runs.map(runRow));
}

function rankState(rank, run) {
  if (rank.ending) return rank.ending;
  if (run.state !== 'running') return run.state;
  return isNumber(rank.iteration) ? 'training' : 'starting';
}

function rankRow(rank, run) {
  const known = isNumber(rank.iteration);
  const cells = known ? [rank.iteration, duration(rank.seconds_per_iteration), percent(rank.waiting),
    `${timeLeft(rank.age)} ago`] : ['', '', '', 'none'];
  return element('tr', {}, [element('th', { scope: 'row' }, `rank ${rank.rank}`),
    element('td', {}, rankState(rank, run)), ...cells.map((cell) => element('td', { class: 'number' }, String(cell)))]);
}

function rankTable(run) {
  return plainTable('Ranks', [['Rank'], ['State'], ['Iteration', 'number'], ['Time per iteration', 'number'],
    ['Waiting for others', 'number'], ['Last record', 'number']], run.ranks.map((rank) => rankRow(rank, run)));
}

function updateAttributes(old, made) {
  for (const { name, value } of made.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  old.getAttributeNames().filter((name) => !made.hasAttribute(name)).forEach((name) => old.removeAttribute(name));
}

// Gives `old` the children of `made`, but keeps elements of the same kind: a link can be pressed while it is updated,
// and keeps the focus.
function updateChildren(old, made) {
  const fresh = [...made.childNodes];
  fresh.forEach((node, index) => {
    const its = old.childNodes[index];
    if (!its) old.append(node);
    else if (its.nodeName !== node.nodeName) its.replaceWith(node);
    else if (node.nodeType !== Node.TEXT_NODE) {
      updateAttributes(its, node);
      updateChildren(its, node);
    } else if (its.data !== node.data) its.data = node.data;
  });
  while (old.childNodes.length > fresh.length) old.lastChild.remove();
}

function updateContent(place, content) {
  updateChildren(place, element('div', {}, content));
}

async function getJson(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

// Calls `show` with the JSON at `path` about once a second. `problem` shows why there is none.
async function follow(path, show, problem) {
  for (;;) {
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
    try {
      const state = await getJson(path);
      problem.hidden = true;
      await show(state);
    } catch (error) {
      // fetch() fails with a TypeError.
      problem.textContent = error instanceof TypeError
        ? 'No connection to lockstep watch. This page continues when it runs again.' : error.message;
      problem.hidden = false;
    }
  }
}

function problemLine() {
  return element('p', { class: 'problem', role: 'status', hidden: true });
}
