// Sortable tables, with explanations of their columns and buttons to take them away as CSV and Markdown.

const LONG_CELL = 34;  // characters above which the text of a cell wraps
const NO_VALUE = new Set(['', '–', '-', 'n/a', null, undefined]);
const fittedTables = [];

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

function bodyRow(row, shown, numbers) {
  return element('tr', {}, shown.map((column) => {
    const text = String(row[column] ?? '');
    const look = numbers[column] ? 'number' : text.length > LONG_CELL && 'wrap';
    if (column > 0) return element('td', { class: look }, text);
    const tint = runColour(text);
    return element('th', { scope: 'row' }, tint ? [swatch(tint), text] : text);
  }));
}

// A heading that sorts its table: ascending at the first press, descending at the second.
function headCell(title, column, explain, numbers, sort) {
  return element('th', { scope: 'col', class: column > 0 && numbers[column] ? 'number' : null, title: explain?.[title],
    tabindex: '0', onclick: sort, onkeydown: (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      sort();
    } }, element('span', {}, title.replace(/ (\S{1,2})$/, '\u00a0$1')));  // a unit stays with its word
}

// A table of the columns `shown`, by their numbers. `table.order` keeps what it was sorted by: {column, descending}.
function grid(table, shown = table.columns.map((_, column) => column)) {
  const { columns, rows, explain } = table;
  const numbers = columns.map((_, column) => isNumberColumn(rows, column));
  const body = element('tbody');
  const heads = shown.map((column) => headCell(columns[column], column, explain, numbers, () => {
    table.order = { column, descending: table.order?.column === column && !table.order.descending };
    showOrder();
  }));
  const showOrder = () => {
    const { column, descending } = table.order ?? {};
    shown.forEach((its, index) => {
      if (its !== column) heads[index].removeAttribute('aria-sort');
      else heads[index].setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    });
    const ordered = table.order ? sortedRows(rows, column, descending, numbers[column]) : rows;
    body.replaceChildren(...ordered.map((row) => bodyRow(row, shown, numbers)));
  };
  showOrder();
  return element('table', {}, [element('thead', {}, [groupRow(columns, shown), element('tr', {}, heads)]), body]);
}

function scrollBox(label, table) {
  return element('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: '0' }, table);
}

// A table in a box that scrolls if nothing else helps. It shows the columns that fit, or all.
function fittedTable(table) {
  const box = scrollBox(table.title, grid(table));
  const its = { table, box, all: false };
  const all = table.columns.map((_, column) => column);
  const widths = () => {
    const whole = grid(table);
    box.replaceChildren(whole);
    return columnWidths(whole);
  };
  its.button = element('button', { type: 'button', class: 'small', hidden: true, 'aria-pressed': 'false', onclick: () => {
    its.all = !its.all;
    its.fit();
  } });
  its.fit = () => {
    if (box.clientWidth === 0 || onPaper) return;
    const fitting = fittingColumns(table.columns, widths(), box.clientWidth);
    its.button.hidden = fitting.length === all.length;
    its.button.textContent = its.all ? 'Fewer columns' : `All ${all.length} columns`;
    its.button.setAttribute('aria-pressed', String(its.all));
    if (!its.all && fitting.length < all.length) box.replaceChildren(grid(table, fitting));
  };
  its.paper = (room) => {
    const parts = paperParts(table.columns, widths(), room);
    if (parts.length > 1) box.replaceChildren(...parts.map((columns) => grid(table, columns)));
  };
  let width = 0;
  new ResizeObserver(() => {
    if (box.clientWidth !== width) its.fit();
    width = box.clientWidth;
  }).observe(box);
  fittedTables.push(its);
  return its;
}

function meanings(columns, explain) {
  const known = columns.filter((title) => explain?.[title]);
  if (known.length === 0) return null;
  return element('details', {}, [element('summary', {}, 'Explanation of the columns'),
    definitions({ class: 'meanings' }, known.map((title) => [title, explain[title]]))]);
}

// The table with one number per cell: the program adds it as `clean` if it differs.
function cleanRows(table) {
  const { columns, rows } = table.clean ?? table;
  return { columns, rows: rows.map((row) => row.map((cell) => (NO_VALUE.has(cell) ? '' : String(cell)))) };
}

function tableAsCsv(table) {
  const { columns, rows } = cleanRows(table);
  return csv([columns, ...rows]);
}

function tableAsMarkdown(table) {
  const { columns, rows } = cleanRows(table);
  const line = (cells) => `|${cells.map((cell) => (cell === '' ? ' |' : ` ${markdownText(cell)} |`)).join('')}\n`;
  const ruler = columns.map((_, column) => (column > 0 && isNumberColumn(rows, column) ? ' ---: |' : ' --- |'));
  const explained = Object.entries(table.explain ?? {}).map(([name, text]) =>
    `- ${markdownText(name)}: ${markdownText(text)}\n`);
  return `## ${markdownText(table.title)}\n\n${line(columns)}|${ruler.join('')}\n${rows.map(line).join('')}`
    + (explained.length > 0 ? `\n${explained.join('')}` : '');
}

function tableButtons(table) {
  const name = fileNameOf(table.title);
  const save = (label, type, text) => element('button', { type: 'button', class: 'small',
    'aria-label': `Save the table “${table.title}” as ${label}`,
    onclick: () => saveFile(`${name}.${type}`, new Blob([text(table)], { type: 'text/plain' })) }, label);
  return [copyButton('Copy', `Copy the table “${table.title}” as CSV`, () => tableAsCsv(table), 'small'),
    save('CSV', 'csv', tableAsCsv), save('Markdown', 'md', tableAsMarkdown)];
}

const MOST_ROWS_OPEN = 20;  // longer tables below the first are folded away

function tableBlock(given, folded = false) {
  const table = { title: 'Table', columns: [], rows: [], ...given };
  const fitted = fittedTable(table);
  return element('div', { class: 'table' }, [
    element('div', { class: 'caption' }, [element('h3', {}, table.title),
      element('div', { class: 'actions' }, [fitted.button, ...tableButtons(table)])]),
    folded ? element('details', {}, [element('summary', {}, plural(table.rows.length, 'row')), fitted.box]) : fitted.box,
    meanings(table.columns, table.explain),
  ]);
}

function tables(page) {
  if (page.tables.length === 0) return null;
  return section('tables', 'Results', page.tables.map((table, index) =>
    tableBlock(table, index > 0 && (table.rows ?? []).length > MOST_ROWS_OPEN)));
}
