// Colours and patterns. A method has the same ones in every report. Lines are dashed and areas are hatched, so that they
// also differ in print and for readers with any form of colour blindness.

// The number of a method's colour in page.css: `alone` has --series-0.
const METHOD_SLOTS = { alone: 0, ddp: 1, 'gather-scatter': 2, 'all-reduce': 3, coordinator: 4, p2p: 5, ring: 6, tree: 7,
  'halving-doubling': 8, sharded: 9, server: 10, 'local-sgd': 11, 'ddp+float16': 12, 'ddp+bfloat16': 13 };
const SERIES_COLOURS = 14;

// Patterns: 0 solid, 1 stripes or long dashes, 2 dots, 3 a grid or dashes and dots.
const SERIES_PATTERNS = [0, 0, 1, 2, 3, 1, 0, 2, 3, 2, 3, 1, 0, 3];
const PART_PATTERNS = { exposed: 1, wait: 2, data: 3, forward: 1, ifmap: 1, psum: 2 };
const DASHES = [[], [9, 4], [2, 3], [10, 3, 2, 3]];
const TILE = 8;  // pixels per repetition of a pattern

const runSlots = new Map();

// Gives every run a colour: that of its method if no earlier run has it, else a free one.
function assignColours(runs) {
  const methodOf = (run) => [run.name, run.summary?.method, run.config?.sync].find((name) =>
    Object.hasOwn(METHOD_SLOTS, name ?? ''));
  const methods = new Set(runs.map(methodOf).filter((name) => name).map((name) => METHOD_SLOTS[name]));
  const taken = new Set();
  for (const run of runs) {
    const slot = METHOD_SLOTS[methodOf(run)];
    if (slot === undefined || taken.has(slot)) continue;
    taken.add(slot);
    runSlots.set(run.name, slot);
  }
  const free = Array.from({ length: SERIES_COLOURS }, (_, slot) => slot).filter((slot) => !methods.has(slot));
  const others = runs.filter((run) => !runSlots.has(run.name));
  others.forEach((run, index) => runSlots.set(run.name,
    free.length > 0 ? free[index % free.length] : index % SERIES_COLOURS));
}

// The name of a run's or a method's colour in page.css; null if there is no such name.
function runColour(name) {
  const slot = runSlots.get(name) ?? (Object.hasOwn(METHOD_SLOTS, name) ? METHOD_SLOTS[name] : undefined);
  return slot === undefined ? null : `series-${slot}`;
}

// The colours of names that are no runs, in order: methods have theirs.
function seriesColours(names) {
  const taken = names.map(runColour);
  const free = Array.from({ length: SERIES_COLOURS }, (_, index) => `series-${(index + 1) % SERIES_COLOURS}`)
    .filter((name) => !taken.includes(name));
  let next = 0;
  return taken.map((name) => name ?? free[next++ % free.length]);
}

function patternOf(colourName) {
  const series = /^series-(\d+)$/.exec(colourName);
  return series ? SERIES_PATTERNS[series[1]] : PART_PATTERNS[colourName] ?? 0;
}

function dashOf(colourName) {
  return DASHES[patternOf(colourName)];
}

const PATTERN_PATHS = { 1: 'M-2,2 L2,-2 M-2,10 L10,-2 M6,10 L10,6', 2: 'M2,2 h2 v2 h-2 z M6,6 h2 v2 h-2 z',
  3: 'M0,4 H8 M4,0 V8' };

// What fills an area of this colour on a canvas: the colour itself, or with the lines of its pattern.
function fillOf(colourName) {
  const tint = colour(colourName);
  const pattern = patternOf(colourName);
  if (pattern === 0) return tint;
  const tile = element('canvas', { width: TILE, height: TILE });
  const context = tile.getContext('2d');
  context.fillStyle = tint;
  context.fillRect(0, 0, TILE, TILE);
  context.strokeStyle = faded(colour('card'), 0.6);
  context.lineWidth = 1.5;
  context.stroke(new Path2D(PATTERN_PATHS[pattern]));
  return context.createPattern(tile, 'repeat');
}
