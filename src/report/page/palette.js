// Assigns a colour to every run. A method has the same colour in every report; other names take the free colours.

const SERIES_COLOURS = 10;
const METHOD_SLOTS = { alone: 0, ddp: 1, 'gather-scatter': 2, 'all-reduce': 3, coordinator: 4, p2p: 5, ring: 6 };
const runSlots = new Map();

function assignColours(names) {
  const known = names.filter((name) => Object.hasOwn(METHOD_SLOTS, name));
  known.forEach((name) => runSlots.set(name, METHOD_SLOTS[name]));
  const free = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0].filter((slot) => !known.some((name) => METHOD_SLOTS[name] === slot));
  names.filter((name) => !runSlots.has(name)).forEach((name, index) => {
    runSlots.set(name, free.length > 0 ? free[index % free.length] : index % SERIES_COLOURS);
  });
}

// The name of a run's colour in page.css; null if there is no such run.
function runColour(name) {
  return runSlots.has(name) ? `series-${runSlots.get(name)}` : null;
}
