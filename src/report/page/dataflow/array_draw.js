// Draws the array: processing elements with their filter row (green), input row (blue) and partial sum (red).

const CELL = 26;  // CSS pixels per word
const GAP = 22;   // between elements

// The size of an element and the number of words shown in its rows.
function elementShape(player_) {
  const { recording } = player_;
  const taps = recording.filter[0][0][0].length;
  const columns = recording.input[0][0][0].length;
  const shown = Math.min(columns, taps + 5);
  return { taps, columns, shown, width: Math.max(shown, taps) * CELL + 20, height: 4 * CELL + 34 };
}

function usedGrid(player_) {
  const places = player_.recording.passes.flatMap((pass) => pass.elements.map((its) => its.array));
  return { rows: Math.max(...places.map(([row]) => row)) + 1,
    columns: Math.max(...places.map(([, column]) => column)) + 1 };
}

function word(context, x, y, value, { fill, ink, strong }) {
  context.fillStyle = fill;
  context.beginPath();
  context.roundRect(x + 1, y + 1, CELL - 2, CELL - 2, 4);
  context.fill();
  context.fillStyle = ink;
  context.font = `${strong ? '600 ' : ''}${String(value).length > 3 ? 9 : 12}px ${Chart.defaults.font.family}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(String(value), x + CELL / 2, y + CELL / 2 + 0.5);
}

// The product that an element computes in this cycle; null if it computes none.
function activityOf(cycle, number) {
  return (cycle.products ?? []).find((product) => product[0] === number) ?? null;
}

// The first column of the window, and the first shown column of the input row.
function windowOf(product, row, shape, stride) {
  const start = product ? product[4] * stride : 0;
  return { start, from: Math.max(0, Math.min(start, row.length - shape.shown)) };
}

// The filter row, drawn above its window of the input row.
function drawFilterRow(context, x, y, weights, product) {
  weights.forEach((weight, tap) => {
    const used = product && tap >= product[5] && tap < product[5] + product[6];
    word(context, x + tap * CELL, y, weight, { strong: used, ink: used ? colour('card') : colour('ink'),
      fill: used ? colour('filter') : faded(colour('filter'), 0.22) });
  });
}

function drawInputRow(context, x, y, row, product, shape, { start, from }) {
  row.slice(from, from + shape.shown).forEach((value, at) => {
    const index = from + at;
    const used = product && index >= start + product[5] && index < start + product[5] + product[6];
    const inWindow = product && index >= start && index < start + shape.taps;
    word(context, x + at * CELL, y, value, { strong: used, ink: used ? colour('card') : colour('ink'),
      fill: used ? colour('ifmap') : faded(colour('ifmap'), inWindow ? 0.42 : 0.16) });
  });
}

function drawElement(context, player_, cycle, its, x, y, shape) {
  const { recording } = player_;
  const product = activityOf(cycle, its.number);
  const [image, filter, channel] = product ? [product[1], product[2], product[3]]
    : player_.lastPlanes?.get(its.number) ?? [0, 0, 0];
  if (product) (player_.lastPlanes ??= new Map()).set(its.number, [image, filter, channel]);
  context.fillStyle = colour('card');
  context.strokeStyle = product ? colour('ink') : colour('line');
  context.lineWidth = product ? 1.5 : 1;
  context.beginPath();
  context.roundRect(x, y, shape.width, shape.height, 8);
  context.fill();
  context.stroke();
  context.fillStyle = colour('muted');
  context.font = `600 11px ${Chart.defaults.font.family}`;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillText(`PE${its.number + 1}`, x + 10, y + 14);
  const row = recording.input[image][channel][its.input_row];
  const place = windowOf(product, row, shape, recording.stride);
  drawFilterRow(context, x + 10 + (place.start - place.from) * CELL, y + 26,
    recording.filter[filter][channel][its.row], product);
  drawInputRow(context, x + 10, y + 26 + CELL, row, product, shape, place);
  drawPsum(context, player_, product, x + 10, y + 34 + 2 * CELL);
}

function drawPsum(context, player_, product, x, y) {
  if (!product) return;
  const { terms, psum } = productText(player_, product);
  context.fillStyle = colour('ink');
  context.textAlign = 'left';
  context.font = `12px ${Chart.defaults.font.family}`;
  context.fillText(terms, x, y + 8);
  context.fillStyle = colour('psum');
  context.font = `600 15px ${Chart.defaults.font.family}`;
  context.fillText(`= ${psum}`, x, y + 30);
}

// Partial sums that move up, as red arrows with the resulting sum.
function drawHops(context, cycle, places, shape) {
  context.font = `600 12px ${Chart.defaults.font.family}`;
  for (const [from, to, , , , , sum] of cycle.hops ?? []) {
    const [begin, end] = [places.get(from), places.get(to)];
    if (!begin || !end) continue;
    const x = begin.x + shape.width - 16;
    drawArrow(context, x, begin.y + 10, end.x + shape.width - 16, end.y + shape.height - 12);
    context.textAlign = 'right';
    context.fillText(String(sum), end.x + shape.width - 24, end.y + shape.height - 14);
  }
  for (const [number, , , , , sum] of cycle.writes ?? []) {
    const its = places.get(number);
    if (!its) continue;
    drawArrow(context, its.x + shape.width - 16, its.y + 18, its.x + shape.width - 16, its.y - 14);
    context.textAlign = 'right';
    context.fillText(String(sum), its.x + shape.width - 24, its.y - 8);
  }
}

function drawArrow(context, x1, y1, x2, y2) {
  context.strokeStyle = colour('psum');
  context.fillStyle = colour('psum');
  context.lineWidth = 2.5;
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2 + 6);
  context.stroke();
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 5, y2 + 8);
  context.lineTo(x2 + 5, y2 + 8);
  context.fill();
}

// Fits the array into its box, within the limits of readability; a larger array scrolls.
function fittingScale(canvas, width) {
  const room = canvas.parentElement ? canvas.parentElement.clientWidth - 14 : width;
  return Math.max(0.6, Math.min(1.7, room / width));
}

function drawArray(player_, cycle) {
  const shape = elementShape(player_);
  const grid = usedGrid(player_);
  const [width, height] = [grid.columns * (shape.width + GAP) + GAP, grid.rows * (shape.height + GAP) + GAP + 8];
  const { canvas } = player_;
  const scale = fittingScale(canvas, width);
  const density = scale * Math.min(window.devicePixelRatio || 1, 2);
  const [across, down] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== across || canvas.height !== down) {
    Object.assign(canvas, { width: across, height: down });
    canvas.style.width = `${Math.round(width * scale)}px`;
    canvas.style.height = `${Math.round(height * scale)}px`;
  }
  const context = canvas.getContext('2d');
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, width, height);
  const places = new Map();
  for (const its of player_.elements.values()) {
    const [row, column] = its.array;
    const place = { x: GAP + column * (shape.width + GAP), y: GAP + 8 + row * (shape.height + GAP) };
    places.set(its.number, place);
    drawElement(context, player_, cycle, its, place.x, place.y, shape);
  }
  drawHops(context, cycle, places, shape);
}
