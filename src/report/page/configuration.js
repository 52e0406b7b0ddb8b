// All options of the runs: those in which the runs differ, and those that they have in common.

function shown(value) {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

// Fields of config.json that are no options; the head of the page shows them.
const NOT_OPTIONS = new Set(['format', 'command', 'version', 'machine']);

function optionNames(runs) {
  const names = runs.flatMap((run) => Object.keys(run.config ?? {}));
  return [...new Set(names)].filter((name) => !NOT_OPTIONS.has(name)).sort();
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
    parts.push(tableBlock({ title: 'Options that differ', columns: ['run', ...own],
      rows: runs.map((run) => [run.name, ...own.map((name) => shown(run.config[name]))]) }));
  }
  if (common.length > 0) {
    parts.push(tableBlock({ title: runs.length > 1 ? 'Options of all runs' : 'Options', columns: ['option', 'value'],
      rows: common.map((name) => [name, values(name)[0]]) }));
  }
  return section('configuration', 'Configuration',
    [element('details', {}, [element('summary', {}, 'All options'), ...parts])]);
}
