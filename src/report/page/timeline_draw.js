// Draws a timeline on its canvas.

const PART_COLOURS = { data: 'data', forward: 'forward', backward: 'compute', synchronise: 'synchronise',
  optimizer: 'optimizer' };
const TEXT_ON = { compute: 'on-dark', optimizer: 'on-dark', synchronise: 'ink' };

// Converts between microseconds and canvas pixels, for a view of {start, end} right of a gutter with labels.
function timeScale(view, width, gutter) {
  const perMicrosecond = (width - gutter) / (view.end - view.start);
  return { x: (time) => gutter + (time - view.start) * perMicrosecond,
    time: (x) => view.start + (x - gutter) / perMicrosecond, gutter, width };
}

function drawAxis(context, scale, view, height) {
  const step = tickStep(view.end - view.start, Math.max(3, Math.floor((scale.width - scale.gutter) / 110)));
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (let tick = Math.ceil(view.start / step) * step; tick <= view.end; tick += step) {
    const x = Math.round(scale.x(tick)) + 0.5;
    context.fillStyle = colour('grid');
    context.fillRect(x, AXIS_HEIGHT - 6, 1, height);
    context.fillStyle = colour('muted');
    const digits = Math.max(0, Math.min(4, 3 - Math.floor(Math.log10(step) + 1e-9)));
    if (x < scale.width - 16) context.fillText(`${(tick / 1e3).toFixed(digits)} ms`, x, 10);
  }
}

// A box between two times, at least 0.75 pixels wide, clipped to the view.
function fillSpan(context, scale, [begin, end], top, height, style) {
  const left = Math.max(scale.gutter, scale.x(begin));
  const right = Math.min(scale.width, scale.x(end));
  if (right < scale.gutter || left > scale.width || right < left) return null;
  const width = Math.max(0.75, right - left - (right - left > 3 ? 1 : 0));
  context.fillStyle = style;
  context.fillRect(left, top, width, height);
  return { left, width };
}

// The part of a span inside the view, where its name is drawn.
function visibleArea(scale, begin, end) {
  const left = Math.max(scale.gutter, scale.x(begin));
  return { left, width: Math.min(scale.width, scale.x(end)) - left };
}

function shortName(name) {
  return String(name).replace(/^autograd::engine::evaluate_function: /, '').replace(/^(aten|torch::autograd)::/, '');
}

// Draws a name if it fits completely.
function drawName(context, name, area, top, height, style) {
  if (!area || area.width < 24 || height < 13) return;
  const text = shortName(name);
  if (context.measureText(text).width > area.width - 8) return;
  context.fillStyle = style;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillText(text, area.left + 5, top + height / 2 + 0.5);
}

function drawTrainingBox(context, scale, { span, top, height, within: outer }) {
  const ends = [span.start, span.start + span.length];
  const tint = PART_COLOURS[span.kind === 'part' ? span.name : outer] ?? 'other';
  if (scale.hidden.has(tint)) return;
  if (span.kind === 'part') {
    const area = fillSpan(context, scale, ends, top, height, colour(tint));
    drawName(context, span.name, area, top, height, colour(TEXT_ON[tint] ?? 'on-light'));
    return;
  }
  fillSpan(context, scale, ends, top, height, faded(colour(tint), 0.55));
}

// Green while backward hides it, orange otherwise; paler while waiting for the slowest rank.
function drawCommunicationBox(context, scale, { span, top, height }, backward) {
  const end = span.start + span.length;
  const waited = span.start + Math.min(isNumber(span.wait) ? span.wait : 0, span.length);
  const strength = span.kind === 'message' ? 0.55 : 1;
  const fill = (piece, name) => scale.hidden.has(name)
    || fillSpan(context, scale, piece, top, height, faded(colour(name), strength));
  for (const [begin, until, hiddenName, exposedName] of [[span.start, waited, 'hidden-wait', 'wait'],
    [waited, end, 'hidden', 'exposed']]) {
    const hidden = within({ start: begin, length: until - begin }, backward);
    hidden.forEach((piece) => fill(piece, hiddenName));
    outside([begin, until], hidden).forEach((piece) => fill(piece, exposedName));
  }
  if (span.kind !== 'collective') return;
  drawName(context, isNumber(span.bytes) ? byteCount(span.bytes) : span.name, visibleArea(scale, span.start, end), top,
    height, waited > span.start ? colour('on-pale') : colour('on-dark'));
}

// A triangle where a gradient was ready. A bucket starts with its last gradient.
function drawMarks(context, scale, lane) {
  if (scale.hidden.has('gradient')) return;
  context.fillStyle = colour('gradient');
  for (const mark of lane.marks) {
    const x = scale.x(mark.at);
    if (x < scale.gutter || x > scale.width) continue;
    const top = lane.top + lane.height + 1;
    context.beginPath();
    context.moveTo(x - 3, top);
    context.lineTo(x + 3, top);
    context.lineTo(x, top + 6);
    context.fill();
  }
}

// A bar where the rank ended.
function drawEnd(context, scale, lane) {
  const x = scale.x(lane.end);
  if (!isNumber(lane.end) || scale.hidden.has('ink') || x < scale.gutter || x > scale.width) return;
  context.fillStyle = colour('ink');
  context.fillRect(x - 1.5, lane.top - 4, 3, lane.height + 8);
}

function drawLabels(context, lane, gutter) {
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  const narrow = gutter < 90;
  const middle = lane.top + (lane.stream === 'training' ? ROW_HEIGHTS.part : ROW_HEIGHTS.communication) / 2;
  if (lane.first) {
    context.fillStyle = colour('ink');
    context.fillText(`rank ${lane.rank}`, 0, middle);
  }
  context.fillStyle = colour('muted');
  if (!narrow) context.fillText(lane.stream === 'training' ? 'training' : 'comm.', 54, middle);
  else if (!lane.first) context.fillText('comm.', 0, middle);
}

// Draws all lanes of a board, without the colours that its legend hides. REQUIRES: `context` is scaled to CSS pixels.
function paintTimeline(context, { layout, timeline, view, legend }, width) {
  const hidden = legend.entries.filter(({ label }) => legend.hidden.has(label));
  const scale = { ...timeScale(view, width, width < 600 ? 50 : 112), hidden: new Set(hidden.map((key) => key.colour)) };
  context.clearRect(0, 0, width, layout.height);
  context.font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
  drawAxis(context, scale, view, layout.height);
  for (const lane of layout.lanes) {
    const backward = lane.stream === 'training' ? null : backwardOf(timeline, lane.rank);
    for (const box of lane.boxes) {
      if (lane.stream === 'training') drawTrainingBox(context, scale, box);
      else drawCommunicationBox(context, scale, box, backward);
    }
    drawMarks(context, scale, lane);
    drawEnd(context, scale, lane);
    drawLabels(context, lane, scale.gutter);
  }
  return scale;
}
