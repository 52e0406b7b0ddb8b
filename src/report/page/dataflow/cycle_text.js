// Describes a cycle as a sentence.

function productText(player_, product) {
  const [number, image, filter, channel, column, tap, count, psum] = product;
  const its = player_.elements.get(number);
  const { recording } = player_;
  const terms = Array.from({ length: count }, (_, at) => {
    const weight = recording.filter[filter][channel][its.row][tap + at];
    const value = recording.input[image][channel][its.input_row][column * recording.stride + tap + at];
    return `${value}·${weight < 0 ? `(${weight})` : weight}`;
  });
  return { terms: terms.join(' + '), psum };
}

function cycleSentence(player_, cycle) {
  const parts = [];
  const products = cycle.products ?? [];
  if (products.length > 0) parts.push(products.length === 1 ? '1 element multiplies' : `${products.length} elements multiply`);
  const read = [[cycle.filter_words, 'filter'], [cycle.ifmap_words, 'input']].filter(([words]) => words > 0)
    .map(([words, kind]) => `${plural(words, `${kind} word`)}`);
  if (read.length > 0) parts.push(`the buffer sends ${listing(read)}, each once for all elements that use it`);
  const hops = (cycle.hops ?? []).map((hop) => `PE${hop[0] + 1} → PE${hop[1] + 1}: ${hop[6]}`);
  if (hops.length > 0) {
    parts.push(hops.length <= 4 ? `psums move up (${hops.join('; ')})` : `${hops.length} psums move up`);
  }
  const writes = (cycle.writes ?? []).map((write) => `row ${write[3] + 1}, column ${write[4] + 1}: ${write[5]}`);
  if (writes.length > 0) {
    parts.push(writes.length <= 4 ? `sums are written (${writes.join('; ')})` : `${writes.length} sums are written`);
  }
  const text = parts.join(', ');
  return text ? `${text[0].toUpperCase()}${text.slice(1)}.` : 'No activity.';
}
