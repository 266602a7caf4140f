// Reads a document for the page: decodes its columns, and turns differences of times into times.

export const FORMAT = 'kernbench view';
export const VERSION = 1;

// unpackText returns the text of a document. A report holds it as base64 of gzip.
export async function unpackText(text) {
  if (typeof DecompressionStream === 'undefined') {
    throw new Error('this browser cannot unpack the report: it lacks DecompressionStream, which browsers have since 2023');
  }
  const packed = bytesOf(text.trim());
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

// bytesOf returns the bytes that a base64 text encodes.
export function bytesOf(text) {
  const raw = atob(text || '');
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

// read checks the format and the version of a document, and unpacks its runs.
export function read(doc) {
  if (!doc || doc.format !== FORMAT) {
    throw new Error(`this is not a kernbench document: its format is ${JSON.stringify(doc && doc.format)}, not "${FORMAT}"`);
  }
  if (doc.version !== VERSION) {
    throw new Error(`the document has version ${doc.version}, but this page supports version ${VERSION}: use the version of kernbench that wrote it`);
  }
  for (const r of doc.runs || []) unpackRun(r);
  return doc;
}

function unpackRun(r) {
  if (r.unpacked) return;
  r.unpacked = true;
  const t = r.timeline;
  if (t) {
    t.length = t.length_ps;
    t.path = unpackSpans(t.path);
    t.path_bins = bytesOf(t.path_bins);
    t.shares = t.shares.map(bytesOf);
    for (const l of t.lanes) {
      l.bins = bytesOf(l.bins);
      l.slots = l.slots ? bytesOf(l.slots) : null;
      l.spans = l.spans ? unpackSpans(l.spans) : null;
    }
  }
  const k = r.links;
  if (k) {
    for (const l of k.links) l.busy = bytesOf(l.busy);
    k.waits.start = sums(k.waits.start || []);
    for (const c of ['length', 'link', 'full', 'of', 'behind']) k.waits[c] = k.waits[c] || [];
  }
}

// sums returns the running sums of a list of differences.
function sums(list) {
  const out = new Float64Array(list.length);
  let at = 0;
  for (let i = 0; i < list.length; i++) out[i] = at += list[i];
  return out;
}

function unpackSpans(s) {
  const n = (s.start || []).length;
  const out = { n, start: sums(s.start || []), end: new Float64Array(n), left: s.left_out || 0 };
  for (const c of ['own', 'of', 'resource', 'behind']) out[c] = Int32Array.from(s[c] || []);
  out.reason = Uint8Array.from(s.reason || []);
  let longest = 0;
  for (let i = 0; i < n; i++) {
    out.end[i] = out.start[i] + s.length[i];
    longest = Math.max(longest, s.length[i]);
  }
  out.longest = longest;
  return out;
}

// firstAfter returns the index of the first span that may end at t or later. Spans are sorted by
// their start.
export function firstAfter(spans, t) {
  let lo = 0;
  let hi = spans.n;
  const bound = t - spans.longest;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (spans.start[mid] < bound) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

// spanAt returns the index of the shortest span that contains t, or -1 if there is none.
export function spanAt(spans, t) {
  let best = -1;
  for (let i = firstAfter(spans, t); i < spans.n && spans.start[i] <= t; i++) {
    if (spans.end[i] > t && (best < 0 || spans.end[i] - spans.start[i] < spans.end[best] - spans.start[best])) best = i;
  }
  return best;
}

// operation returns the rank, PE, call and source line of operation i, or null if i is 0.
export function operation(t, i) {
  const o = t.operations;
  if (!i) return null;
  return { rank: o.rank[i], pe: o.pe[i], call: t.calls[o.call[i]], line: t.lines[o.line[i]] };
}

export function operationText(o) {
  return o ? `rank ${o.rank} ${o.call}${o.line ? ' at ' + o.line : ''}` : '';
}

// journey returns the indices of the spans of one message. They are adjacent to span i and have the
// same two operations. Their resources are the route of the message.
export function journey(spans, i) {
  const same = (k) => k >= 0 && k < spans.n && spans.own[k] === spans.own[i] && spans.of[k] === spans.of[i];
  const joined = (a, b) => spans.end[a] === spans.start[b];
  let from = i;
  let to = i;
  while (same(from - 1) && joined(from - 1, from)) from--;
  while (same(to + 1) && joined(to, to + 1)) to++;
  const all = [];
  for (let k = from; k <= to; k++) all.push(k);
  return all;
}

// difference joins the times of two runs by name and adds the change. The largest change is first.
export function difference(before, after) {
  const at = new Map();
  for (const s of before || []) at.set(s.name, { name: s.name, before: s.time_ps, after: 0 });
  for (const s of after || []) {
    const d = at.get(s.name) || { name: s.name, before: 0, after: 0 };
    d.after = s.time_ps;
    at.set(s.name, d);
  }
  return [...at.values()].map((d) => ({ ...d, change: d.after - d.before }))
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || (a.name < b.name ? -1 : 1));
}
