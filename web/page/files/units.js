// Numbers with their units. A time is a number of picoseconds. It is shown in ns up to 10 µs, then
// in µs up to 10 ms, then in ms up to 10 s, then in s.

const US = 1e6;
const MS = 1e9;
const S = 1e12;

// time formats a time with about four significant digits, or with all digits if exact is true.
export function time(ps, exact = false) {
  if (ps === null || ps === undefined || Number.isNaN(ps)) return '';
  const m = Math.abs(ps);
  const [unit, scale] = m < 10 * US ? ['ns', 1e3] : m < 10 * MS ? ['µs', US] : m < 10 * S ? ['ms', MS] : ['s', S];
  return (exact ? plain(ps / scale) : digits(ps / scale)) + ' ' + unit;
}

// axisTime formats a time on an axis that ends at most. All labels of the axis have the same unit.
export function axisTime(ps, most) {
  const [name, scale] = most < 10 * US ? ['ns', 1e3] : most < 10 * MS ? ['µs', US] : most < 10 * S ? ['ms', MS] : ['s', S];
  return digits(ps / scale) + ' ' + name;
}

// plain formats a number with all its digits.
function plain(n) {
  return n.toFixed(12).replace(/\.?0+$/, '');
}

// digits formats a number with about four significant digits.
export function digits(n) {
  if (n === 0) return '0';
  const m = Math.abs(n);
  if (m >= 1e15 || m < 1e-4) return n.toExponential(2);
  const places = Math.max(0, 3 - Math.floor(Math.log10(m)));
  const text = n.toFixed(Math.min(places, 8));
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

// bytes formats a size in bytes.
export function bytes(n) {
  if (n === null || n === undefined) return '';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let i = 0;
  while (Math.abs(n) >= 1024 && i < units.length - 1) {
    n /= 1024;
    i++;
  }
  return digits(n) + ' ' + units[i];
}

// quantity formats a number of a document according to its unit. It returns a text unchanged.
export function quantity(v, unit) {
  if (v === null || v === undefined) return '–';
  if (typeof v !== 'number') return String(v);
  switch (unit) {
    case 'ps': return time(v);
    case 'ns': return time(v * 1000);
    case 'bytes': return bytes(v);
    case 'gbs': return digits(v) + ' GB/s';
    case 'percent': return percent(v);
    case 'count': return count(v);
  }
  return digits(v);
}

export function percent(v) {
  return v.toFixed(1) + ' %';
}

// count formats a whole number with thin spaces between thousands.
export function count(n) {
  return Number.isInteger(n) ? String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f') : digits(n);
}

// ticks returns about n round values between two numbers, for the labels of an axis.
export function ticks(from, to, n) {
  const span = to - from;
  if (!(span > 0) || n < 1) return [from];
  const raw = span / n;
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw) || 10 * power;
  const all = [];
  for (let i = Math.ceil(from / step); i * step <= to + step * 1e-9; i++) all.push(i * step);
  return all;
}
