// The head of the page: the job, the machine, the verdict and the command.

const MODEL_NAMES = { lenet5: 'LeNet-5', vgg11: 'VGG-11', vgg13: 'VGG-13', vgg16: 'VGG-16', vgg19: 'VGG-19',
  resnet18: 'ResNet-18', resnet34: 'ResNet-34' };
const DATA_NAMES = { mnist: 'MNIST', cifar10: 'CIFAR-10', synthetic: 'synthetic images' };

// The distinct values of a field over all runs.
function valuesOf(runs, field) {
  const values = runs.map((run) => run.config?.[field] ?? run.summary?.[field])
    .filter((value) => value !== null && value !== undefined && value !== '');
  return [...new Set(values)];
}

function workersOf(runs) {
  const all = valuesOf(runs, 'workers').sort((one, other) => one - other);
  // The run with one worker is the baseline of a comparison.
  return all.length === 2 && runs.some((run) => run.name === 'alone') ? all.slice(1) : all;
}

function lengthOf(runs) {
  const iterations = [...new Set(runs.map((run) => run.summary?.iterations ?? run.stopped?.of).filter(isNumber))];
  const epochs = [...new Set(runs.map((run) => run.summary?.epochs).filter(isNumber))];
  if (iterations.length !== 1) return null;
  return epochs.length === 1 ? `${plural(iterations[0], 'iteration')} in ${plural(epochs[0], 'epoch')}`
    : plural(iterations[0], 'iteration');
}

function facts(runs) {
  const named = (field, names) => listing(valuesOf(runs, field).map((value) => names[value] ?? String(value)));
  const plain = (field) => listing(valuesOf(runs, field).map(String));
  const limit = valuesOf(runs, 'limit').filter((value) => value > 0);
  const pairs = [
    ['Model', named('model', MODEL_NAMES)],
    ['Data', named('data', DATA_NAMES) + (limit.length === 1 ? `, ${limit[0]} images` : '')],
    ['Workers', listing(workersOf(runs).map(String))],
    ['Global batch', plain('batch') || plain('global_batch')],
    ['Length', lengthOf(runs)],
    ['Learning rate', plain('lr')],
    ['Transport', plain('transport')],
  ];
  return element('dl', { class: 'facts' }, pairs.filter(([, value]) => value).map(([term, value]) =>
    element('div', {}, [element('dt', {}, term), element('dd', {}, value)])));
}

function machineLine(page) {
  const machine = page.machine ?? {};
  const parts = [machine.processor, isNumber(machine.cores) ? plural(machine.cores, 'core') : null,
    isNumber(machine.memory_bytes) ? `${byteCount(machine.memory_bytes)} of memory` : null, machine.system];
  const known = parts.filter((part) => part);
  return known.length > 0 ? element('p', { class: 'machine' }, known.join(' · ')) : null;
}

// The verdict of one run that ended without results or diverged is a warning.
function verdictCard({ runs, verdict }) {
  const [run] = runs.length === 1 ? runs : [];
  const ended = run?.stopped && !run.stopped.running;
  const failed = ended || run?.summary?.bottleneck?.kind === 'diverged';
  const title = run?.stopped?.running ? 'So far' : 'Verdict';
  return element('div', { class: failed ? 'verdict failed' : 'verdict' },
    [element('h2', {}, ended ? 'What happened' : title), element('p', {}, unbroken(verdict))]);
}

function commandLine(command) {
  if (!command) return null;
  const code = element('code', { id: 'command', tabindex: '0', 'aria-label': 'command that repeats this' },
    [element('span', { class: 'prompt' }, '$ '), command]);
  return element('div', { class: 'command' }, [code, copyButton('Copy', 'Copy the command', () => command)]);
}

// The logo: three bars.
function brandMark() {
  return svgElement('svg', { viewBox: '0 0 22 22', 'aria-hidden': 'true' }, [2, 6, 2].map((x, row) =>
    svgElement('rect', { x, y: 3 + 6 * row, width: 14, height: 4, rx: 2, fill: `var(--series-${row + 1})` })));
}

function header(page) {
  const about = [page.version ? `version ${page.version}` : null, page.made].filter((part) => part).join(' · ');
  return element('header', {}, [
    element('div', { class: 'bar' }, [
      element('span', { class: 'brand' }, [brandMark(), 'Lockstep', element('small', {}, about)]), themeButton()]),
    element('h1', {}, page.title ?? 'Lockstep report'),
    facts(page.runs),
    machineLine(page),
    page.verdict ? verdictCard(page) : null,
    commandLine(page.command),
  ]);
}

const MOST_NOTES = 10;  // further notes are folded away

function notes(page) {
  const all = page.notes.filter((note) => note !== page.verdict);
  if (all.length === 0) return null;
  const list = (its) => element('ul', { class: 'notes' }, its.map((note) => element('li', {}, unbroken(note))));
  const rest = all.slice(MOST_NOTES);
  return section('notes', 'Findings', [list(all.slice(0, MOST_NOTES)), rest.length > 0
    ? element('details', {}, [element('summary', {}, `${rest.length} more`), list(rest)]) : null]);
}
