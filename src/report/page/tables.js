// Sortable tables, with explanations of their columns and a button that copies them as CSV.

const LONG_CELL = 34;  // characters above which the text of a cell wraps
const NO_VALUE = new Set(['', '–', '-', 'n/a']);

// A column is numeric if every cell with a value is a number, perhaps with a sign after it: "3.98", "36,924", "2 ×".
function isNumberColumn(rows, column) {
  const cells = rows.map((row) => String(row[column] ?? '')).filter((cell) => !NO_VALUE.has(cell));
  return cells.length > 0 && cells.every((cell) => /^[−+-]?[\d.,]+(e[+-]?\d+)?\s*[%×*†]*$/i.test(cell));
}

function cellNumber(cell) {
  return Number.parseFloat(String(cell).replace('−', '-').replaceAll(',', ''));
}

function sortedRows(rows, column, descending, asNumbers) {
  const sign = descending ? -1 : 1;
  const key = (row) => (asNumbers ? cellNumber(row[column]) : String(row[column] ?? ''));
  return [...rows].sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    if (asNumbers && (Number.isNaN(a) || Number.isNaN(b))) return Number.isNaN(a) - Number.isNaN(b);
    return sign * (a < b ? -1 : Number(a > b));
  });
}

function bodyRow(row, numbers) {
  return element('tr', {}, row.map((cell, column) => {
    const text = String(cell ?? '');
    const look = numbers[column] ? 'number' : text.length > LONG_CELL && 'wrap';
    if (column > 0) return element('td', { class: look }, text);
    const tint = runColour(text);
    return element('th', { scope: 'row' }, tint ? [swatch(tint), text] : text);
  }));
}

// A heading that sorts its table: ascending at the first press, descending at the second.
function headCell(title, column, explain, numbers, sort) {
  const press = () => sort(column, cell);
  const cell = element('th', { scope: 'col', class: numbers[column] ? 'number' : null, title: explain?.[title],
    tabindex: '0', onclick: press, onkeydown: (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      press();
    } }, element('span', {}, title.replace(/ (\S{1,2})$/, '\u00a0$1')));  // a unit stays with its word
  return cell;
}

function grid(columns, rows, explain) {
  const numbers = columns.map((_, column) => isNumberColumn(rows, column));
  const body = element('tbody', {}, rows.map((row) => bodyRow(row, numbers)));
  const sort = (column, cell) => {
    const descending = cell.getAttribute('aria-sort') === 'ascending';
    cell.parentElement.querySelectorAll('[aria-sort]').forEach((other) => other.removeAttribute('aria-sort'));
    cell.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    body.replaceChildren(...sortedRows(rows, column, descending, numbers[column]).map((row) => bodyRow(row, numbers)));
  };
  const head = element('tr', {}, columns.map((title, column) => headCell(title, column, explain, numbers, sort)));
  return element('table', {}, [element('thead', {}, head), body]);
}

function scrollBox(label, table) {
  return element('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: '0' }, table);
}

function meanings(columns, explain) {
  const known = columns.filter((title) => explain?.[title]);
  if (known.length === 0) return null;
  return element('details', {}, [element('summary', {}, 'Explanation of the columns'),
    definitions({ class: 'meanings' }, known.map((title) => [title, explain[title]]))]);
}

function tableBlock(table) {
  const columns = table.columns ?? [];
  const rows = table.rows ?? [];
  const title = table.title ?? 'Table';
  return element('div', { class: 'table' }, [
    element('div', { class: 'caption' }, [element('h3', {}, title),
      copyButton('Copy as CSV', `Copy the table “${title}” as CSV`, () => csv([columns, ...rows]))]),
    scrollBox(title, grid(columns, rows, table.explain)),
    meanings(columns, table.explain),
  ]);
}

function tables(page) {
  if (page.tables.length === 0) return null;
  return section('tables', 'Results', page.tables.map(tableBlock));
}
