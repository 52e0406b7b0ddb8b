// Creates elements. Text from files (titles, names, cells) becomes text nodes and attributes, never HTML.

// Attributes that are null, undefined or false are left out; `onclick` and other `on…` become listeners.
function element(tag, attributes = {}, children = []) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...[children].flat().filter((child) => child !== null && child !== undefined));
  return made;
}

// A section of the page with its heading, to which the table of contents links.
function section(id, title, children) {
  return element('section', { id, 'aria-labelledby': `${id}-title` },
    [element('h2', { id: `${id}-title` }, title), ...children]);
}

// A definition list from `pairs` of a term and its meaning. Pairs without a meaning are left out.
function definitions(attributes, pairs) {
  const rows = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return element('dl', attributes,
    rows.flatMap(([term, value]) => [element('dt', {}, term), element('dd', {}, value)]));
}

// An element of a drawing.
function svgElement(tag, attributes, children = []) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  made.append(...children);
  return made;
}

// A sample of a colour with its pattern.
function swatch(colourName) {
  return element('span', { class: `swatch pattern-${patternOf(colourName)}`, style: `--colour: var(--${colourName})`,
    'aria-hidden': 'true' });
}

// A sample of a line with its dashes.
function lineSwatch(colourName, dash = dashOf(colourName)) {
  return svgElement('svg', { class: 'line', viewBox: '0 0 24 4', 'aria-hidden': 'true' }, [svgElement('line', {
    x1: 0, y1: 2, x2: 24, y2: 2, 'stroke-width': 2.5, 'stroke-dasharray': dash.join(' '),
    style: `stroke: var(--${colourName})` })]);
}

// Saves a file to the reader's downloads.
function saveFile(name, content) {
  const address = URL.createObjectURL(content);
  element('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

// "Time per iteration" becomes "time-per-iteration".
function fileNameOf(title) {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 100) || 'untitled';
}

// A small legend that cannot be pressed, of plain colours: entries of {label, colour}.
function colourKeys(entries) {
  return element('div', { class: 'keys' }, entries.map(({ label, colour }) => {
    const sample = swatch(colour);
    sample.classList.add('solid');
    return element('span', {}, [sample, label]);
  }));
}

function select(label, options, chosen, onChoice) {
  const list = element('select', { onchange: () => onChoice(list.value) },
    options.map(([value, text]) => element('option', { value, selected: value === chosen }, text)));
  return element('label', {}, [label, list]);
}

// The clipboard API needs a secure page. A file from disk is not one in every browser: then the text is selected and
// copied.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text) {
  const area = element('textarea', { class: 'visually-hidden', 'aria-hidden': 'true' });
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  return copied;
}

// `text` is a function that is called at the time of the click.
function copyButton(label, describedBy, text, look = null) {
  const button = element('button', { type: 'button', class: look, 'aria-label': describedBy, onclick: async () => {
    button.textContent = await copyText(text()) ? 'Copied' : 'Copying failed';
    setTimeout(() => { button.textContent = label; }, 1500);
  } }, label);
  return button;
}
