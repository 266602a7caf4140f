// The page of a document. The verdicts and the summary come first, then the critical path, then the
// time line, links and source lines.

import { el, clear, section, empty, breakable, onTheme, forgetThemed, themeChanged } from './dom.js';
import { time, percent, count, bytes } from './units.js';
import { table, documentTable, facts } from './tables.js';
import { reasonColour, ink } from './palette.js';
import { timeline } from './timeline.js';
import { heatmap } from './heatmap.js';
import { source } from './source.js';
import { chart } from './chart.js';
import { difference } from './model.js';

// drawn is what the page shows now. Tests and the browser console use it.
export const drawn = { document: null, timeline: null, heatmaps: [], sources: [], charts: [] };

// page shows a document in an element.
export function page(doc, into) {
  forgetThemed();
  Object.assign(drawn, { document: doc, timeline: null, heatmaps: [], sources: [], charts: [] });
  document.title = `${doc.title} – kernbench`;
  const runs = doc.runs || [];
  const tables = doc.tables || [];
  const first = (doc.charts || []).length > 0 ? 1 : 0; // number of tables before the curves
  const tableSection = (t, i) => section('table-' + i, t.title, '', (t.rows || []).length ? documentTable({ ...t, title: '' }) : empty('No rows.'));
  const parts = [
    header(doc, runs),
    (doc.verdicts || doc.facts) ? section('summary', 'Summary', '', verdicts(doc.verdicts || []), facts(doc.facts)) : null,
    tables.slice(0, first).map(tableSection),
    runs.length > 0 && !first ? runSummary(runs) : null,
    runs.length > 1 ? comparison(runs) : null,
    (doc.charts || []).length > 0 ? section('curves', 'Curves', '', el('div', { class: 'charts' }, doc.charts.map((c) => { const v = chart(c); drawn.charts.push(v); return v.box; }))) : null,
    runs.length > 0 && first ? runSummary(runs) : null,
    runs.map((r, i) => (r.reasons ? pathSection(r, i, runs.length) : null)),
  ];
  const timed = runs.filter((r) => r.timeline);
  const shows = [];
  if (timed.length > 0) {
    const details = el('div', { class: 'details', 'aria-live': 'polite' });
    const t = timeline(timed, (s) => slice(details, s, shows));
    drawn.timeline = t;
    parts.push(section('timeline', 'Time line', aboutTimeline(timed), t.box, details));
  } else if (runs.length > 0) {
    parts.push(section('timeline', 'Time line', '', empty(runs.some((r) => r.fault) ? 'The run ended with a fault, so it has no critical path and no time line.' : 'These results have no time line. kernbench run --report FILE.html writes a page with a time line.')));
  }
  runs.forEach((r, i) => {
    if (r.links && r.timeline) parts.push(linkSection(r, i, runs, shows));
    if (r.drawing) parts.push(drawingSection(r, i, runs.length));
    if ((r.lines || []).length > 0) {
      const s = source(r);
      shows[i] = s.show;
      drawn.sources.push(s);
      parts.push(section('source' + suffix(i, runs.length), 'Source lines' + of(r, runs), 'The time of each source line: on the critical path, and the sum over all ranks. Click a line to see its text.', s.box));
    }
  });
  parts.push(tables.slice(first).map((t, i) => tableSection(t, i + first)));
  const notes = [...(doc.notes || []), ...runs.flatMap((r) => (r.notes || []).map((n) => (runs.length > 1 ? r.name + ': ' : '') + n))];
  if (notes.length > 0) parts.push(section('notes', 'Notes', '', el('ul', {}, notes.map((n) => el('li', {}, n)))));
  parts.push(madeBy(doc));
  clear(into, parts);
}

const of = (r, runs) => (runs.length > 1 ? ` of ${letter(runs.indexOf(r))}: ${r.name}` : '');
const letter = (i) => String.fromCharCode(65 + i);
const suffix = (i, n) => (n > 1 ? '-' + letter(i).toLowerCase() : '');

function header(doc, runs) {
  const states = [...(doc.verdicts || []), ...runs.flatMap((r) => r.verdicts || [])];
  const bad = runs.some((r) => !r.ok) || states.some((v) => v.state === 'FAILED');
  const asked = states.filter((v) => v.state !== 'not applicable' && v.question !== 'race' && v.question !== 'schedules');
  const some = asked.some((v) => v.state === 'checked');
  const checked = some && asked.every((v) => v.state === 'checked');
  const word = bad ? 'FAILED' : checked ? 'no errors found' : some ? 'partly checked' : 'not checked';
  const dark = el('button', { type: 'button', class: 'theme', title: 'switch between dark and light', 'aria-label': 'switch between dark and light', onclick: () => {
    const root = document.documentElement;
    const now = getComputedStyle(root).getPropertyValue('--dark').trim() === '1';
    root.dataset.theme = now ? 'light' : 'dark';
    themeChanged();
  } }, '◐');
  return el('header', {}, el('h1', {}, breakable(doc.title)), el('span', { class: 'badge ' + (bad ? 'bad' : checked ? 'good' : 'open') }, word), dark);
}

function verdicts(list) {
  if (list.length === 0) return null;
  return el('ul', { class: 'verdicts' }, list.map((v) => el('li', { class: v.state === 'FAILED' ? 'bad' : v.state === 'checked' ? 'good' : 'open' },
    el('b', {}, v.question), ' ', v.state, v.detail ? el('span', { class: 'detail' }, ` (${v.detail})`) : null)));
}

function runSummary(runs) {
  return section('verdicts', drawn.document.charts ? 'The explained run' : 'Verdicts and summary', '', el('div', { class: 'columns' }, runs.map((r, i) => el('article', {},
    runs.length > 1 ? el('h3', {}, `${letter(i)}: ${r.name}`) : null,
    verdicts(r.verdicts || []),
    r.fault ? el('pre', { class: 'fault', tabIndex: 0 }, r.fault) : null,
    (r.failures || []).length ? el('ul', { class: 'failures' }, r.failures.map((f) => el('li', {}, el('pre', {}, f)))) : null,
    facts(r.facts)))));
}

function comparison(runs) {
  const a = runs[0];
  const rest = runs.slice(1);
  return section('difference', 'Difference', `Each run is compared with ${letter(0)}: ${a.name}. The changes by reason add up to the change in time.`,
    rest.map((b, k) => {
      const whole = (r) => r.time_ps + (r.launch_ps || 0);
      const d = whole(b) - whole(a);
      const head = el('p', { class: 'change' }, `${letter(k + 1)}: ${b.name} takes ${time(whole(b))}${b.launch_ps ? ' including its launch' : ''}, `,
        d === 0 ? 'the same time' : el('b', {}, `${time(Math.abs(d))} ${d > 0 ? 'more' : 'less'}${whole(a) ? ` (${d > 0 ? '+' : '−'}${percent(100 * Math.abs(d) / whole(a))})` : ''}`), '.');
      const one = (title, before, after) => {
        const rows = difference(before, after).filter((r) => r.before || r.after);
        if (rows.length === 0) return null;
        const top = Math.max(1, ...rows.map((r) => Math.abs(r.change)));
        return table([
          { name: title, get: (r) => r.name },
          { name: 'A', unit: 'ps', get: (r) => r.before },
          { name: letter(k + 1), unit: 'ps', get: (r) => r.after },
          { name: 'change', unit: 'ps', get: (r) => r.change, cell: (r) => (r.change > 0 ? '+' : '') + time(r.change), bar: (r) => Math.abs(r.change) / top },
        ], rows, { rows: 12 });
      };
      const lines = (r) => (r.lines || []).filter((l) => l.path_ps).map((l) => ({ name: `${l.line} ${l.call}`.trim(), time_ps: l.path_ps }));
      return [head, el('div', { class: 'columns' }, one('reason', a.reasons, b.reasons), one('kind of resource', a.classes, b.classes)), one('source line', lines(a), lines(b))];
    }));
}

function pathSection(r, i, n) {
  const total = r.reasons.reduce((s, x) => s + x.time_ps, 0);
  const stack = el('div', { class: 'stack', role: 'img', 'aria-label': r.reasons.map((x) => `${x.name} ${percent(x.percent)}`).join(', ') });
  const paint = () => clear(stack, r.reasons.filter((x) => x.percent > 0.3).map((x) => {
    const part = el('span', { title: `${x.name}: ${time(x.time_ps)}, ${percent(x.percent)}` }, x.percent > 4 ? x.name : '');
    part.style.width = x.percent + '%';
    part.style.background = reasonColour(x.name);
    part.style.color = ink(reasonColour(x.name));
    return part;
  }));
  paint();
  onTheme(paint);
  const find = (test) => { if (drawn.timeline && drawn.timeline.findPath(test)) document.getElementById('timeline').scrollIntoView({ block: 'start' }); };
  const reasons = table([
    { name: 'reason', get: (x) => x.name, cell: (x) => (r.timeline && i === 0 ? el('button', { type: 'button', class: 'line', title: 'show the longest slice with this reason', onclick: () => find((s) => s.reason === x.name) }, x.name) : x.name) },
    { name: 'time', unit: 'ps', get: (x) => x.time_ps, bar: (x) => x.percent / 100, colour: (x) => reasonColour(x.name) },
    { name: 'share', unit: 'percent', get: (x) => x.percent },
  ], r.reasons);
  const classes = table([
    { name: 'kind of resource', get: (x) => x.name },
    { name: 'time', unit: 'ps', get: (x) => x.time_ps, bar: (x) => x.percent / 100 },
    { name: 'ranks', unit: 'count', get: (x) => x.ranks || null },
  ], r.classes || [], { rows: 10 });
  return section('path' + suffix(i, n), 'Critical path' + (n > 1 ? ` of ${letter(i)}: ${r.name}` : ''),
    `The critical path is the chain of operations and waits that determines the simulated time of ${time(r.time_ps)}${r.launch_ps ? ` and the launch of ${time(r.launch_ps)}` : ''}. It is traced back from the end and has a length of ${time(total, true)}. Each part has one reason.`,
    stack, el('div', { class: 'columns' }, reasons, classes, gap(r)),
    (r.changes || []).length ? [el('h3', {}, 'Simulated changes'), changes(r)] : null,
    (r.story || []).length ? el('details', {}, el('summary', {}, 'Longest waits on the path'), el('ol', {}, r.story.slice(0, 20).map((w) => el('li', {}, w.text + (w.count > 1 ? ` (${count(w.count)} such waits, ${time(w.total_ps)})` : ''))))) : null);
}

function gap(r) {
  if (!r.gap) return null;
  const g = r.gap;
  const rows = [{ name: `bound (${g.bound_binding})`, ps: g.bound_ps }, ...(g.terms || []).map((t) => ({ name: '+ ' + t.reason, ps: t.time_ps }))];
  return el('div', {}, table([
    { name: 'from the bound to the time', get: (x) => x.name },
    { name: 'time', unit: 'ps', get: (x) => x.ps, bar: (x) => x.ps / Math.max(1, r.time_ps + (r.launch_ps || 0)) },
  ], rows), el('p', { class: 'about' }, `No algorithm can be faster than the bound on this machine. The bound is ${percent(g.percent_of_bound)} of the time.`));
}

function changes(r) {
  return table([
    { name: 'change', get: (c) => c.name + (c.anomaly ? ' *' : '') },
    { name: 'time', unit: 'ps', get: (c) => (c.error ? null : c.simulated_time_ps + (c.launch_overhead_ps || 0)), cell: (c) => (c.error ? c.error : time(c.simulated_time_ps + (c.launch_overhead_ps || 0))) },
    { name: 'saved', unit: 'ps', get: (c) => (c.error ? null : c.saved_ps), bar: (c) => (c.error ? 0 : c.saved_percent / 100) },
    { name: 'share', unit: 'percent', get: (c) => (c.error ? null : c.saved_percent) },
    { name: 'largest reason after the change', get: (c) => c.next || '' },
    { name: 'flags', get: (c) => c.flags || '' },
  ], r.changes, { rows: 12 });
}

function aboutTimeline(runs) {
  const t = runs[0].timeline;
  const part = t.until_ps - t.from_ps < t.length_ps ? ` Single slices are shown from ${time(t.from_ps)} to ${time(t.until_ps)}${t.whole ? '' : ', for one rank of each class'}. The rest is shown in bins of ${time(t.width_ps)}.` : t.whole ? '' : ' Single slices are shown for one rank of each class. Other ranks are shown in bins.';
  return 'The time line shows what each rank spent its time on. Drag to pan. Zoom with + and −, a double click, or Ctrl and the wheel. Click a slice to see its source line.' + part;
}

// slice describes the selected slice in words and shows its source line.
function slice(details, s, shows) {
  if (!s || s.span < 0) {
    clear(details, s && s.text ? el('p', {}, s.text.join(' · ')) : null);
    return;
  }
  const at = drawn.document.runs.indexOf(s.run);
  const line = (o) => (o && o.line ? el('button', { type: 'button', class: 'line', onclick: () => shows[at] && shows[at](o.line) }, o.line) : '');
  const name = (o) => (o ? [`rank ${o.rank} ${o.call} `, line(o)] : '');
  clear(details, el('h3', {}, name(s.own)), el('dl', { class: 'facts' },
    el('dt', {}, 'time'), el('dd', {}, `${time(s.start, true)} to ${time(s.end, true)}: ${time(s.end - s.start, true)}`),
    el('dt', {}, 'reason'), el('dd', {}, s.reason + (s.resource ? ': ' + s.resource : '')),
    s.waits ? [el('dt', {}, 'waits for'), el('dd', {}, name(s.of))] : null,
    s.behind ? [el('dt', {}, 'queued behind'), el('dd', {}, name(s.behind))] : null,
    s.journey.length > 1 ? [el('dt', {}, 'route'), el('dd', {}, el('ol', { class: 'journey' }, s.journey.map((j) => el('li', {}, `${time(j.start)}: ${time(j.end - j.start)} ${j.reason}, ${j.resource}`))))] : null));
  if (s.own && s.own.line && shows[at]) shows[at](s.own.line, true);
}

function linkSection(r, i, runs, shows) {
  const h = heatmap(r, {
    id: i,
    line: (text) => shows[i] && shows[i](text),
    message: (o, from, to) => {
      if (drawn.timeline) drawn.timeline.go(r, o.rank, from, to);
      if (o.line && shows[i]) shows[i](o.line);
    },
  });
  drawn.heatmaps.push(h);
  const levels = table([
    { name: 'level', get: (l) => l.level },
    { name: 'links', unit: 'count', get: (l) => l.links },
    { name: 'bytes', unit: 'bytes', get: (l) => l.bytes },
    { name: 'use of the busiest link', unit: 'percent', get: (l) => 100 * l.used, bar: (l) => l.used },
    { name: 'total wait', unit: 'ps', get: (l) => l.queued_ps },
  ], r.links.levels || []);
  const engines = (r.links.engines || []).length ? table([
    { name: 'engine', get: (e) => e.engine },
    { name: 'mean over PEs', unit: 'ps', get: (e) => e.mean_ps },
    { name: 'busiest PE', unit: 'ps', get: (e) => e.busiest_ps },
    { name: 'name of that PE', get: (e) => e.pe },
  ], r.links.engines) : null;
  return section('links' + suffix(i, runs.length), 'Links' + of(r, runs), 'Links × time. The links with the fullest queues are first. Click a cell to list the messages that waited there. Click a message to show it in the time line. Click its line to show the source.',
    r.links.links.length ? h.box : empty('No link carried messages.'), el('div', { class: 'columns' }, levels, engines));
}

function drawingSection(r, i, n) {
  const bytesOfText = new TextEncoder().encode(r.drawing);
  let raw = '';
  for (const b of bytesOfText) raw += String.fromCharCode(b);
  const img = el('img', { alt: 'drawing of the machine; the colour of a line shows how busy its links were', src: 'data:image/svg+xml;base64,' + btoa(raw) });
  return section('machine' + suffix(i, n), 'Machine' + (n > 1 ? ` of ${letter(i)}` : ''), r.links ? 'Each network is drawn once. The colour of a line shows the part of the time in which its busiest link was busy.' : 'Each network is drawn once.', el('div', { class: 'drawing', tabIndex: 0 }, img));
}

function madeBy(doc) {
  const m = doc.made_by || {};
  return el('footer', {}, el('p', {}, 'Written by kernbench ', m.version || '', m.command ? [' with the command ', el('code', {}, m.command)] : '', '. Times are simulated. 1 GB is 10⁹ bytes, 1 GiB is 2³⁰ bytes.'),
    (m.machine_fingerprints || []).length ? el('p', {}, 'Machine fingerprint: ', m.machine_fingerprints.map((f) => el('code', {}, f, ' '))) : null);
}

// failure shows an error message instead of a page.
export function failure(into, title, message) {
  clear(into, el('header', {}, el('h1', {}, title)), el('p', { class: 'error', role: 'alert' }, message));
}
