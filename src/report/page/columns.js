// Which columns of a table are shown: tables that are wider than the page leave out the less important ones, until the
// reader asks for all.

// Groups of columns, by name. A number is how soon a column is left out: the largest first, 0 last. Other columns
// have no group, and the number 1.
const COLUMN_GROUPS = {
  Speed: { 'images/s': 0, lowest: 2, highest: 2, 'speed-up': 0, 'efficiency %': 0, 's/epoch': 2, 'mean ms': 1, 'median ms': 2,
    'p90 ms': 3, 'total s': 3, 'training s': 2, 'epoch 1 s': 1, 'epoch 2 s': 1,
    's/iteration': 1, 'ms/iteration': 1, 'ms/iteration (mean)': 1 },
  Time: { 'compute %': 1, 'transfer %': 1, 'waiting %': 2, 'data %': 3, 'hidden %': 3, 'exposed %': 1,
    'compute s': 2, 'transfer s': 2, 'waiting s': 2, 'data s': 3, 'comm s': 3, 'hidden s': 3, 'exposed s': 2, 'wait s': 3 },
  Traffic: { 'MB rank 0': 2, 'MB others': 3, 'MB/iteration': 2, 'MB/s': 2, 'of bench %': 3 },
  Learning: { loss: 1, 'train loss': 1, 'train %': 2, 'test %': 0, test: 0, 'test loss': 3, weights: 2 },
};
const DEFAULT_RANK = 1;

function groupOf(title) {
  return Object.keys(COLUMN_GROUPS).find((name) => Object.hasOwn(COLUMN_GROUPS[name], title)) ?? '';
}

function leftOutRank(title) {
  return COLUMN_GROUPS[groupOf(title)]?.[title] ?? DEFAULT_RANK;
}

// Neighbouring columns of one group, as [{name, columns}].
function groupRuns(titles, columns) {
  const runs = [];
  for (const column of columns) {
    const name = groupOf(titles[column]);
    if (runs.length > 0 && runs[runs.length - 1].name === name) runs[runs.length - 1].columns.push(column);
    else runs.push({ name, columns: [column] });
  }
  return runs;
}

// The row above the heads: the names of the groups. Null if there are no groups to tell apart.
function groupRow(titles, columns) {
  const runs = groupRuns(titles, columns);
  if (runs.filter((run) => run.name !== '').length < 2) return null;
  return element('tr', { class: 'groups' }, runs.map(({ name, columns: its }) =>
    (name === '' ? element('td', { colspan: its.length }) : element('th', { scope: 'colgroup', colspan: its.length }, name))));
}

// The least width of every column of a table in pixels: that of its longest word or number.
function columnWidths(table) {
  table.style.width = '1px';
  const widths = [...table.querySelectorAll('thead tr:last-child > *')].map((cell) => cell.getBoundingClientRect().width);
  table.style.width = '';
  return widths;
}

// The columns that fit into `room` pixels, in their order. The first column, which names the rows, always stays.
function fittingColumns(titles, widths, room) {
  const columns = titles.map((_, column) => column);
  let total = widths.reduce((sum, width) => sum + width, 0);
  const leaving = columns.slice(1).sort((one, other) => leftOutRank(titles[other]) - leftOutRank(titles[one])
    || other - one);
  const left = new Set();
  for (const column of leaving) {
    if (total <= room || left.size === columns.length - 2) break;
    left.add(column);
    total -= widths[column];
  }
  return columns.filter((column) => !left.has(column));
}

// For paper: the columns in parts that fit, each with the columns that name the rows: those before the first group. A
// group is divided only if it does not fit into a part of its own.
function paperParts(titles, widths, room) {
  const parts = [];
  const grouped = titles.findIndex((title) => groupOf(title) !== '');
  const all = titles.map((_, column) => column);
  const [names, others] = [all.slice(0, Math.max(1, grouped)), all.slice(Math.max(1, grouped))];
  const widthOf = (columns) => [...names, ...columns].reduce((sum, column) => sum + widths[column], 0);
  for (const { columns } of groupRuns(titles, others)) {
    const whole = widthOf(columns) <= room;
    for (const piece of whole ? [columns] : columns.map((column) => [column])) {
      const last = parts[parts.length - 1];
      if (last && widthOf([...last, ...piece]) <= room) last.push(...piece);
      else parts.push([...piece]);
    }
  }
  return parts.map((columns) => [...names, ...columns]);
}
