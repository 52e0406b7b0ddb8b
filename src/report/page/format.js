// Numbers as text: three significant digits and a unit, as src/base/table/quantities.h writes them.

function isNumber(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

function threeDigits(value) {
  const size = Math.abs(value);
  if (size >= 99.95 || size === 0) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  return value.toFixed(Math.min(15, 2 - Math.floor(Math.log10(size * 1.0005))));
}

function duration(seconds) {
  const size = Math.abs(seconds);
  if (size >= 120) return `${threeDigits(seconds / 60)} min`;
  if (size >= 0.9995) return `${threeDigits(seconds)} s`;
  return size >= 0.9995e-3 || size === 0 ? `${threeDigits(seconds * 1e3)} ms` : `${threeDigits(seconds * 1e6)} µs`;
}

function byteCount(bytes) {
  if (bytes >= 1e9) return `${threeDigits(bytes / 1e9)} GB`;
  if (bytes >= 1e6) return `${threeDigits(bytes / 1e6)} MB`;
  return bytes >= 1e3 ? `${threeDigits(bytes / 1e3)} kB` : `${threeDigits(bytes)} B`;
}

function percent(fraction) {
  return `${(100 * fraction).toFixed(Math.abs(fraction) < 0.0995 && fraction !== 0 ? 1 : 0)} %`;
}

// The unit of an axis up to `largest` seconds.
function timeUnit(largest) {
  return largest >= 2 ? { name: 's', perSecond: 1 } : { name: 'ms', perSecond: 1e3 };
}

function byteUnit(largest) {
  return largest >= 2e6 ? { name: 'MB', bytes: 1e6 } : { name: 'kB', bytes: 1e3 };
}

function plural(count, word) {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

// Puts a non-breaking space between a number and its unit.
function unbroken(text) {
  return String(text).replace(/(\d) (?=(%|[mµ]?s|[kMG]?B|×)(?![\p{L}\d]))/gu, '$1\u00a0');
}

// "a", "a and b", "a, b and c".
function listing(names) {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;
}

// Comma-separated values according to RFC 4180.
function csv(rows) {
  const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => row.map((value) => cell(String(value ?? ''))).join(',')).join('\r\n') + '\r\n';
}

// Text on one line that Markdown shows unchanged.
function markdownText(text) {
  return String(text).replace(/[\r\n]/g, ' ').replace(/[\\|<*`[&_~]/g, '\\$&');
}

// REQUIRES: `sorted` ascending, not empty; `fraction` from 0 to 1.
function quantile(sorted, fraction) {
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))];
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
