// Everything that was asked for: what all runs share, and what tells them apart.

function shown(value) {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

// Folders, versions and the machine are told elsewhere on the page.
const TOLD_ELSEWHERE = new Set(['format', 'command', 'version', 'machine']);

function optionNames(runs) {
  const names = runs.flatMap((run) => Object.keys(run.config ?? {}));
  return [...new Set(names)].filter((name) => !TOLD_ELSEWHERE.has(name)).sort();
}

function configurationSection(page) {
  const runs = page.runs.filter((run) => run.config);
  const names = optionNames(runs);
  if (names.length === 0) return null;
  const values = (name) => runs.map((run) => shown(run.config[name]));
  const differs = (name) => new Set(values(name)).size > 1;
  const own = names.filter(differs);
  const common = names.filter((name) => !differs(name));
  const parts = [];
  if (own.length > 0) {
    parts.push(tableBlock({ title: 'What differs', columns: ['run', ...own],
      rows: runs.map((run) => [run.name, ...own.map((name) => shown(run.config[name]))]) }));
  }
  if (common.length > 0) {
    parts.push(tableBlock({ title: runs.length > 1 ? 'The same for all runs' : 'Options', columns: ['option', 'value'],
      rows: common.map((name) => [name, values(name)[0]]) }));
  }
  return section('configuration', 'Configuration',
    [element('details', {}, [element('summary', {}, 'All options of the runs'), ...parts])]);
}
