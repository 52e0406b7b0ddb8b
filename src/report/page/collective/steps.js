// Figures: the arrays of all ranks after a step, and the messages of the step.

function isComplete(page, counts, chunk) {
  return counts[chunk.first] === page.workers;
}

function covers(message, chunk) {
  return message.first <= chunk.first && chunk.first < message.first + message.elements.length;
}

function chunkOf(values, chunk, first = 0) {
  return values.slice(chunk.first - first, chunk.first - first + chunk.count);
}

// How a chunk got its content in this step: "4 + 16", its own value and the received one, or the rank it was copied from.
function originOf(before, message, chunk) {
  const received = chunkOf(message.elements, chunk, message.first);
  if (!message.added) return `from rank ${message.from}`;
  const own = chunkOf(before, chunk);
  return own.map((value, at) => `${value} + ${received[at]}`).join(', ');
}

// The darker a cell, the more ranks are in its sum.
function chunkCell(page, state, rank, chunk, origin, isSent) {
  const counts = state.summed_ranks[rank];
  const classes = [origin && 'received', isSent && 'sent', isComplete(page, counts, chunk) && 'complete'];
  return element('td', { class: classes.filter((name) => name).join(' '),
    style: `--part: ${Math.round(34 * counts[chunk.first] / page.workers)}%` }, [
    element('b', {}, chunkOf(state.arrays[rank], chunk).join(' ')), origin ? element('small', {}, origin) : null]);
}

function namesOf(page, message) {
  const names = page.chunks.filter((chunk) => covers(message, chunk)).map((chunk) => chunk.name);
  return names.length > 1 ? `${names[0]}–${names.at(-1)}` : names[0];
}

function rankRow(page, state, before, rank) {
  const sent = state.messages.filter((message) => message.from === rank);
  const received = state.messages.filter((message) => message.to === rank);
  const cells = page.chunks.map((chunk) => {
    const message = received.find((its) => covers(its, chunk));
    return chunkCell(page, state, rank, chunk, message ? originOf(before[rank], message, chunk) : null,
      sent.some((its) => covers(its, chunk)));
  });
  return element('tr', {}, [element('th', { scope: 'row' }, String(rank)), ...cells,
    element('td', { class: 'route' }, sent.map((its) => `${namesOf(page, its)} → ${its.to}`).join(', '))]);
}

function figureOf(page, state, before, title) {
  const head = ['rank', ...page.chunks.map((chunk) => chunk.name), 'sends to'];
  const body = page.start.arrays.map((_, rank) => rankRow(page, state, before, rank));
  const table = element('table', { class: 'arrays' }, [
    element('thead', {}, element('tr', {}, head.map((name) => element('th', { scope: 'col' }, name)))),
    element('tbody', {}, body)]);
  return element('figure', { class: 'state' }, [element('h3', {}, title), scrollBox(title, table)]);
}

function startFigure(page) {
  return figureOf(page, { ...page.start, messages: [] }, page.start.arrays, 'Start');
}

function stepFigure(page, at) {
  const before = at === 0 ? page.start : page.steps[at - 1];
  const { phase, messages } = page.steps[at];
  const what = messages.some((message) => message.added) ? 'add the chunk to their own' : 'copy the chunk';
  return figureOf(page, page.steps[at], before.arrays,
    `Step ${at + 1} of ${page.steps.length}, ${phase}: receivers ${what}`);
}
