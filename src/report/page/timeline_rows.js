// The layout of a timeline: a lane for each rank and stream, with a row for each depth.

const ROW_HEIGHTS = { part: 22, operation: 10, communication: 15 };
const MARK_STRIP = 9;
const AXIS_HEIGHT = 26;
const MOST_ROWS = 6;

// Puts each span into the first free row: nested spans lie below the enclosing one, concurrent ones below each other.
// Spans beyond the last row overlap in it.
function packRows(spans, most) {
  const ends = [];
  return [...spans].sort((one, other) => one.start - other.start || other.length - one.length).map((span) => {
    let row = ends.findIndex((end) => end <= span.start + 0.05);
    if (row < 0) row = Math.min(ends.length, most - 1);
    ends[row] = Math.max(ends[row] ?? -Infinity, span.start + span.length);
    return { span, row };
  });
}

function clean(spans) {
  return (spans ?? []).filter((span) => isNumber(span.start) && isNumber(span.length) && span.length >= 0);
}

// [{span, top, height}] of a training lane: parts, and below them `levels` rows of operations.
function trainingBoxes(lane, top, levels) {
  const spans = clean(lane.spans);
  const parts = spans.filter((span) => span.kind === 'part');
  const boxes = parts.map((span) => ({ span, top, height: ROW_HEIGHTS.part }));
  const operations = packRows(spans.filter((span) => span.kind !== 'part'), MOST_ROWS)
    .filter(({ row }) => row < levels);
  const below = top + ROW_HEIGHTS.part + 1;
  const inner = operations.map(({ span, row }) => ({ span, top: below + row * ROW_HEIGHTS.operation,
    height: ROW_HEIGHTS.operation - 1, within: parts.find((part) => holds(part, span))?.name }));
  const rows = operations.reduce((most, { row }) => Math.max(most, row + 1), 0);
  return { boxes: [...boxes, ...inner], height: ROW_HEIGHTS.part + 1 + rows * ROW_HEIGHTS.operation };
}

function holds(outer, inner) {
  return outer.start <= inner.start && inner.start <= outer.start + outer.length;
}

function communicationBoxes(lane, top) {
  const packed = packRows(clean(lane.spans), MOST_ROWS);
  const rows = packed.reduce((most, { row }) => Math.max(most, row + 1), 0);
  return { boxes: packed.map(({ span, row }) => ({ span, top: top + row * ROW_HEIGHTS.communication,
    height: ROW_HEIGHTS.communication - 1 })), height: rows * ROW_HEIGHTS.communication };
}

// Everything to draw, from top to bottom, rank by rank. `levels` is the number of rows of operations.
function layOut(timeline, levels) {
  const lanes = [];
  let top = AXIS_HEIGHT;
  for (const rank of [...new Set((timeline.lanes ?? []).map((lane) => lane.rank))]) {
    const its = timeline.lanes.filter((lane) => lane.rank === rank);
    top += 8;
    for (const lane of its) {
      const training = lane.stream === 'training';
      const { boxes, height } = training ? trainingBoxes(lane, top, levels) : communicationBoxes(lane, top);
      const marks = training ? (lane.marks ?? []).filter((mark) => isNumber(mark.at)) : [];
      const strip = marks.length > 0 ? MARK_STRIP : 2;
      lanes.push({ rank, stream: lane.stream, boxes, marks, top, height, first: lane === its[0], end: lane.end });
      top += height + strip;
    }
    top += 6;
  }
  return { lanes, height: top + 4 };
}

// The intervals of a rank's backward. Communication inside them is hidden.
function backwardOf(timeline, rank) {
  const lane = (timeline.lanes ?? []).find((its) => its.rank === rank && its.stream === 'training');
  return clean(lane?.spans).filter((span) => span.kind === 'part' && span.name === 'backward')
    .map((span) => [span.start, span.start + span.length]);
}

// The pieces of a span inside any of the intervals.
function within(span, intervals) {
  return intervals.map(([begin, end]) => [Math.max(begin, span.start), Math.min(end, span.start + span.length)])
    .filter(([begin, end]) => end > begin);
}

// The rest of [begin, end] without the pieces. REQUIRES: pieces inside it, in order, disjoint.
function outside([begin, end], pieces) {
  const edges = [begin, ...pieces.flat(), end];
  const left = [];
  for (let index = 0; index < edges.length; index += 2) left.push([edges[index], edges[index + 1]]);
  return left.filter(([from, to]) => to > from);
}

// The times of the first and the last event. Time 0 is rank 0's start; other ranks may start earlier.
function extentOf(timeline) {
  const spans = (timeline.lanes ?? []).flatMap((lane) => clean(lane.spans));
  return { start: spans.reduce((least, span) => Math.min(least, span.start), 0),
    end: spans.reduce((most, span) => Math.max(most, span.start + span.length), timeline.microseconds ?? 0) };
}

// A sentence: how much of the time in collectives backward hid; in messages, for methods without collectives.
function overlapInWords(timeline) {
  const lanes = (timeline.lanes ?? []).filter((lane) => lane.stream === 'communication');
  const has = (kind) => lanes.some((lane) => clean(lane.spans).some((span) => span.kind === kind));
  const kind = has('collective') ? 'collective' : 'message';
  let [all, hidden] = [0, 0];
  for (const lane of lanes) {
    const backward = backwardOf(timeline, lane.rank);
    for (const span of clean(lane.spans).filter((its) => its.kind === kind)) {
      all += span.length;
      hidden += within(span, backward).reduce((sum, [begin, end]) => sum + end - begin, 0);
    }
  }
  if (all === 0) return 'No communication was recorded in this iteration.';
  return hidden > 0 ? `Backward hides ${percent(hidden / all)} of the time in ${kind}s (all ranks together).`
    : `No ${kind} overlapped with backward: all communication is exposed.`;
}
