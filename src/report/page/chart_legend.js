// A legend of a drawing, or of several: pressing a name hides or shows its series.

function keyButton({ label, colour, line, dash, shape }, press) {
  const sample = line ? lineSwatch(colour, dash) : swatch(colour);
  if (shape) sample.classList.add(shape);
  const button = element('button', { type: 'button', 'aria-pressed': 'true', title: 'press to hide or show',
    onclick: () => button.setAttribute('aria-pressed', String(press(label))) }, [sample, label]);
  return button;
}

// Entries are {label, colour}, with {line, dash} for a line and {shape} for another class of the sample. The legend has an
// `element`, the set of `hidden` labels, and functions that draw its drawings again.
function makeLegend(entries) {
  const legend = { entries, hidden: new Set(), redraws: [] };
  const press = (label) => {
    if (!legend.hidden.delete(label)) legend.hidden.add(label);
    legend.redraws.forEach((redraw) => redraw());
    return !legend.hidden.has(label);
  };
  legend.element = element('div', { class: 'keys', role: 'group', 'aria-label': 'Legend' },
    entries.map((entry) => keyButton(entry, press)));
  return legend;
}
