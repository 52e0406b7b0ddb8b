// The tooltip of a timeline.

// The span or mark at a position on the canvas, null for none. Of nested spans the innermost.
function hitOf(layout, scale, x, y) {
  const time = scale.time(x);
  const slack = 2 * (scale.time(1) - scale.time(0));
  if (x < scale.gutter) return null;
  for (const lane of layout.lanes) {
    const mark = lane.marks.find((its) => Math.abs(scale.x(its.at) - x) <= 4
      && y >= lane.top + lane.height && y <= lane.top + lane.height + MARK_STRIP);
    if (mark) return { lane, mark };
    const box = lane.boxes.filter((its) => y >= its.top && y <= its.top + its.height
      && time >= its.span.start - slack && time <= its.span.start + its.span.length + slack)
      .sort((one, other) => one.span.length - other.span.length)[0];
    if (box) return { lane, span: box.span };
  }
  return null;
}

function spanLines(span, hidden) {
  const lines = [`${duration(span.length / 1e6)}, from ${(span.start / 1e3).toFixed(3)} ms`];
  if (isNumber(span.bytes)) lines.push(byteCount(span.bytes));
  if (span.detail) lines.push(String(span.detail));
  if (isNumber(span.wait)) lines.push(`${duration(span.wait / 1e6)} of it waiting for the slowest rank`);
  if (hidden > 0) lines.push(`${duration(hidden / 1e6)} of it hidden by backward`);
  return lines;
}

// Title and lines of the tooltip.
function tipText(hit, timeline) {
  if (hit.mark) {
    return { title: `Gradient ready: ${hit.mark.name}`,
      lines: [`rank ${hit.lane.rank}, at ${(hit.mark.at / 1e3).toFixed(3)} ms`] };
  }
  const hidden = hit.span.kind === 'collective'
    ? within(hit.span, backwardOf(timeline, hit.lane.rank)).reduce((sum, [begin, end]) => sum + end - begin, 0) : 0;
  return { title: String(hit.span.name), lines: [`rank ${hit.lane.rank}, ${hit.lane.stream}`,
    ...spanLines(hit.span, hidden)] };
}

// Shows the tooltip beside the pointer, on the side with more room. Hides it without an event or a span.
function showTip({ tip, layout, scale, timeline, canvas }, event) {
  const hit = event ? hitOf(layout, scale, event.offsetX, event.offsetY) : null;
  tip.hidden = hit === null;
  if (hit === null) return;
  const { title, lines } = tipText(hit, timeline);
  tip.replaceChildren(element('strong', {}, title), ...lines.map((line) => element('div', {}, line)));
  const [x, width] = [event.offsetX, canvas.clientWidth];
  const right = x < width / 2;
  tip.style.left = right ? `${x + 14}px` : 'auto';
  tip.style.right = right ? 'auto' : `${width - x + 14}px`;
  tip.style.top = `${event.offsetY + 14}px`;
}

// The iteration as a table, for screen readers and for exact numbers.
function timelineTable(timeline) {
  const most = 400;
  const rows = (timeline.lanes ?? []).flatMap((lane) => clean(lane.spans)
    .filter((span) => span.kind === 'part' || span.kind === 'collective')
    .map((span) => [`rank ${lane.rank}`, lane.stream, String(span.name), (span.start / 1e3).toFixed(3),
      (span.length / 1e3).toFixed(3), isNumber(span.bytes) ? String(span.bytes) : '–',
      isNumber(span.wait) ? (span.wait / 1e3).toFixed(3) : '–', span.detail ?? '–']));
  const shortened = rows.length > most ? `, the first ${most}` : '';
  return tableBlock({ title: `Iteration ${timeline.iteration ?? ''}: parts and collectives${shortened}`,
    rows: rows.slice(0, most),
    columns: ['rank', 'stream', 'event', 'start ms', 'length ms', 'bytes', 'wait ms', 'algorithm'] });
}
