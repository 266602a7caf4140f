// The time line: ranks × time, with zoom and pan. All runs have the same axis. A row draws bins
// when zoomed out, and single spans when zoomed in. hit() returns what is at a position.

import { el, clear, colour, onTheme, shortened } from './dom.js';
import { reasonColour, ink } from './palette.js';
import { time, axisTime, ticks, percent } from './units.js';
import { firstAfter, spanAt, operation, operationText, journey } from './model.js';

const rowHeight = 20;
const slotsHeight = 8;
const sharesHeight = 44;
const axisHeight = 24;

// timeline returns the time line of runs. It calls choose(selection) when a slice is selected.
export function timeline(runs, choose) {
  const view = { from: 0, to: Math.max(1, ...runs.map((r) => r.timeline.length)) };
  const whole = view.to;
  const open = new Set(); // classes that show all their ranks
  const stats = { frames: 0, drawn: 0, seen: 0, ms: 0 };
  let rows = [];
  let chosen = null; // {row, span}
  let row = 0; // index of the row that the keyboard selected
  let queued = false;

  const canvas = el('canvas', { tabIndex: 0, role: 'application', 'aria-label': 'time line of ranks; left and right pan, + and - zoom, 0 shows the whole run, up and down select a row, comma and full stop select the previous and the next slice, Enter opens a class' });
  const spacer = el('div', { class: 'spacer' }, canvas);
  const scroller = el('div', { class: 'scroller' }, spacer);
  const tip = el('div', { class: 'tip', hidden: true });
  const spoken = el('div', { class: 'spoken', 'aria-live': 'polite' });
  const range = el('span', { class: 'range' });
  const button = (text, title, f) => el('button', { type: 'button', title, onclick: f }, text);
  const bar = el('div', { class: 'toolbar' },
    button('+', 'zoom in', () => zoom(0.5)), button('−', 'zoom out', () => zoom(2)), button('◀', 'earlier', () => pan(-0.4)), button('▶', 'later', () => pan(0.4)),
    button('all', 'show the whole run', () => set(0, whole)),
    runs.some((r) => r.timeline.until_ps < r.timeline.length_ps || r.timeline.from_ps > 0)
      ? button('window', 'show the part that has single slices', () => set(runs[0].timeline.from_ps, Math.max(runs[0].timeline.until_ps, runs[0].timeline.from_ps + 1))) : null,
    range);
  const box = el('div', { class: 'timeline' }, bar, el('div', { class: 'legend' }), scroller, tip, spoken);

  function layout() {
    rows = [];
    let y = 0;
    const push = (r, h) => { rows.push({ ...r, y, h }); y += h; };
    runs.forEach((run, n) => {
      const t = run.timeline;
      if (runs.length > 1) push({ type: 'head', run, n }, rowHeight + 4);
      push({ type: 'path', run, n, label: 'critical path' }, rowHeight + 2);
      push({ type: 'shares', run, n, label: `all ${t.ranks} ranks` }, sharesHeight);
      t.classes.forEach((c, k) => {
        const id = n + ':' + k;
        const more = c.ranks.length - 1;
        const lanes = open.has(id) ? c.ranks : [c.rank];
        lanes.forEach((i, j) => {
          const lane = t.lanes[i];
          push({ type: 'lane', run, n, lane, id, toggles: j === 0 && more > 0, open: open.has(id), label: `rank ${lane.rank}`, more: j === 0 ? more : 0 }, rowHeight);
          if (lane.slots && t.slots > 0) push({ type: 'slots', run, n, lane, label: '' }, slotsHeight);
        });
      });
      y += 6;
    });
    spacer.style.height = (y + axisHeight) + 'px';
    spacer.dataset.rows = rows.length;
    return y;
  }

  let width = 0;
  let height = 0;
  let gutter = 190;

  function fit() {
    const ratio = window.devicePixelRatio || 1;
    width = Math.max(50, scroller.clientWidth);
    gutter = width < 560 ? 84 : 190;
    const total = layout() + axisHeight;
    height = Math.min(total, Math.max(220, Math.round(window.innerHeight * 0.62)));
    scroller.style.height = height + 'px';
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
    draw();
  }

  const px = (t) => gutter + (t - view.from) * (width - gutter) / (view.to - view.from);
  const at = (x) => view.from + (x - gutter) * (view.to - view.from) / (width - gutter);

  function request() {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => { queued = false; draw(); });
  }

  function draw() {
    const began = performance.now();
    const g = canvas.getContext('2d');
    const top = scroller.scrollTop;
    stats.drawn = 0;
    stats.seen = 0;
    g.clearRect(0, 0, width, height);
    g.font = '12px system-ui, sans-serif';
    g.textBaseline = 'middle';
    g.save();
    g.beginPath();
    g.rect(0, axisHeight, width, height - axisHeight);
    g.clip();
    for (const r of rows) {
      const y = r.y - top + axisHeight;
      if (y + r.h < axisHeight || y > height) continue;
      drawRow(g, r, y);
    }
    g.restore();
    axis(g);
    stats.frames++;
    stats.ms = performance.now() - began;
    range.textContent = `${time(view.from)} – ${time(view.to)} (${time(view.to - view.from)})`;
  }

  function axis(g) {
    g.fillStyle = colour('paper');
    g.fillRect(0, 0, width, axisHeight);
    g.fillStyle = colour('ink2');
    g.strokeStyle = colour('line');
    g.textAlign = 'center';
    for (const t of ticks(view.from, view.to, Math.max(2, (width - gutter) / 110))) {
      const x = Math.round(px(t)) + 0.5;
      if (x < gutter) continue;
      g.beginPath();
      g.moveTo(x, axisHeight - 5);
      g.lineTo(x, axisHeight);
      g.stroke();
      const text = axisTime(t, view.to);
      const w = g.measureText(text).width / 2 + 2;
      g.fillText(text, Math.min(width - w, Math.max(gutter + w, x)), axisHeight / 2 - 2);
    }
    g.textAlign = 'left';
  }

  function drawRow(g, r, y) {
    const t = r.run.timeline;
    const marked = rows[row] === r && document.activeElement === canvas;
    if (r.type === 'head') {
      g.fillStyle = colour('ink');
      g.font = 'bold 12px system-ui, sans-serif';
      g.fillText(`${String.fromCharCode(65 + r.n)}: ${r.run.name}, ${time(r.run.time_ps)}${change(r)}`, 4, y + r.h / 2);
      g.font = '12px system-ui, sans-serif';
      return;
    }
    if (r.type !== 'slots') {
      g.fillStyle = marked ? colour('accent') : colour('ink');
      const sign = r.toggles ? (r.open ? '▾ ' : '▸ ') : '';
      const more = r.more && !r.open ? (gutter > 100 ? `, ${r.more} more like this` : ` +${r.more}`) : '';
      g.save();
      g.beginPath();
      g.rect(0, y, gutter - 4, r.h);
      g.clip();
      g.fillText(sign + r.label + more, 4, y + Math.min(r.h, rowHeight) / 2);
      g.restore();
    }
    const end = Math.min(width, px(t.length));
    g.save();
    g.beginPath();
    g.rect(gutter, y, width - gutter, r.h);
    g.clip();
    g.fillStyle = colour('well');
    g.fillRect(gutter, y + 1, Math.max(0, end - gutter), r.h - 2);
    switch (r.type) {
      case 'path': spansOrBins(g, r, t.path, t.path_bins, y, r.h); break;
      case 'shares': drawShares(g, t, y, r.h); break;
      case 'lane': spansOrBins(g, r, r.lane.spans, r.lane.bins, y, r.h); break;
      case 'slots': drawSlots(g, t, r.lane.slots, y, r.h); break;
    }
    g.restore();
    if (chosen && chosen.row.lane === r.lane && chosen.row.type === r.type && chosen.row.n === r.n && chosen.span >= 0) {
      const s = spansOf(r);
      if (s) {
        g.strokeStyle = colour('ink');
        g.lineWidth = 2;
        const x = Math.max(gutter, px(s.start[chosen.span]));
        g.strokeRect(x, y + 1, Math.max(3, px(s.end[chosen.span]) - x), r.h - 2);
        g.lineWidth = 1;
      }
    }
  }

  // change returns the difference in time from the first run, as text.
  function change(r) {
    if (r.n === 0) return '';
    const first = runs[0].time_ps;
    const d = r.run.time_ps - first;
    const sign = d > 0 ? '+' : d < 0 ? '−' : '±';
    return ` (${sign}${time(Math.abs(d))}${first > 0 ? `, ${sign}${percent(100 * Math.abs(d) / first)}` : ''})`;
  }

  const spansOf = (r) => (r.type === 'path' ? r.run.timeline.path : r.type === 'lane' ? r.lane.spans : null);

  // usesSpans reports whether a row draws single spans now. The row must have spans for the whole
  // view. There must be fewer than four per pixel, or bins must be wider than 1.5 pixels.
  function usesSpans(r) {
    const t = r.run.timeline;
    const s = spansOf(r);
    if (!s || s.n === 0) return false;
    const from = Math.max(0, view.from);
    const to = Math.min(t.length, view.to);
    const has = r.type === 'path' && s.left === 0 ? [0, t.length] : [t.from_ps, t.until_ps];
    if (to < from || from < has[0] || to > has[1]) return false;
    const first = firstAfter(s, from);
    const last = firstAfter(s, to + s.longest);
    return last - first < 4 * (width - gutter) || t.width_ps > 1.5 * (view.to - view.from) / (width - gutter);
  }

  function spansOrBins(g, r, spans, bins, y, h) {
    if (usesSpans(r)) drawSpans(g, r, spans, y, h);
    else drawBins(g, r.run.timeline, bins, y, h);
  }

  // drawSpans draws waits for other ranks at about half the height. It skips a span that is
  // narrower than a pixel if the span before it covers that pixel.
  function drawSpans(g, r, s, y, h) {
    const t = r.run.timeline;
    const scale = (width - gutter) / (view.to - view.from);
    const colours = t.reasons.map(reasonColour);
    let last = -1;
    let lastEnd = -1;
    for (let i = firstAfter(s, view.from); i < s.n && s.start[i] < view.to; i++) {
      stats.seen++;
      if (s.end[i] <= view.from) continue;
      const a = Math.max(gutter, gutter + (s.start[i] - view.from) * scale);
      const b = Math.min(width, gutter + (s.end[i] - view.from) * scale);
      const pixel = Math.floor(a);
      if (b - a < 1 && pixel === last && b <= lastEnd + 1) continue;
      last = pixel;
      lastEnd = b;
      const waits = r.type === 'lane' && waitsFor(t, s, i);
      const c = colours[s.reason[i]];
      g.fillStyle = c;
      const w = Math.max(b - a, 0.75);
      const top = waits ? y + h * 0.45 : y + 1;
      const tall = waits ? h * 0.55 - 1 : h - 2;
      g.fillRect(a, top, b - a > 3 ? w - 0.5 : w, tall);
      stats.drawn++;
      if (b - a > 34 && !waits) label(g, t, s, i, a, b, y + h / 2, c);
    }
  }

  function label(g, t, s, i, a, b, y, c) {
    const o = operation(t, s.own[i]);
    const text = shortened(g, o ? o.call : t.reasons[s.reason[i]], b - a - 8);
    if (!text) return;
    g.fillStyle = ink(c);
    g.fillText(text, a + 4, y);
  }

  function drawBins(g, t, bins, y, h) {
    const scale = (width - gutter) / (view.to - view.from);
    const colours = t.reasons.map(reasonColour);
    const first = Math.max(0, Math.floor(view.from / t.width_ps));
    const last = Math.min(bins.length - 1, Math.ceil(view.to / t.width_ps));
    for (let i = first; i <= last;) {
      const v = bins[i];
      let j = i + 1;
      while (j <= last && bins[j] === v) j++;
      stats.seen += j - i;
      const reason = (v & 15) - 1;
      if (reason >= 0) {
        const own = (v >> 4) / 15;
        const a = Math.max(gutter, gutter + (i * t.width_ps - view.from) * scale);
        const b = Math.min(width, gutter + (Math.min(j * t.width_ps, t.length) - view.from) * scale);
        const tall = (h - 2) * (0.55 + 0.45 * own);
        g.fillStyle = colours[reason];
        g.fillRect(a, y + h - 1 - tall, Math.max(0.75, b - a), tall);
        stats.drawn++;
      }
      i = j;
    }
  }

  function drawShares(g, t, y, h) {
    const scale = (width - gutter) / (view.to - view.from);
    const colours = t.reasons.map(reasonColour);
    const bins = Math.max(0, ...t.shares.map((s) => s.length));
    const per = Math.max(1, Math.floor((view.to - view.from) / t.width_ps / (width - gutter)));
    const first = Math.max(0, Math.floor(view.from / t.width_ps));
    for (let i = first; i < bins && i * t.width_ps < view.to; i += per) {
      let base = y + h - 1;
      const x = Math.floor(Math.max(gutter, gutter + (i * t.width_ps - view.from) * scale)); // whole pixels avoid gaps between bins
      const w = Math.max(1, Math.floor(gutter + (Math.min((i + per) * t.width_ps, t.length) - view.from) * scale) - x);
      for (let k = 0; k < t.shares.length; k++) {
        const s = t.shares[k];
        if (!s.length) continue;
        let v = 0;
        for (let j = i; j < Math.min(i + per, bins); j++) v += s[j];
        if (v === 0) continue;
        const tall = v / per / 255 * (h - 2);
        g.fillStyle = colours[k];
        g.fillRect(x, base - tall, w, tall);
        base -= tall;
        stats.drawn++;
      }
    }
  }

  function drawSlots(g, t, slots, y, h) {
    const scale = (width - gutter) / (view.to - view.from);
    const first = Math.max(0, Math.floor(view.from / t.width_ps));
    const last = Math.min(slots.length - 1, Math.ceil(view.to / t.width_ps));
    g.fillStyle = colour('ink2');
    for (let i = first; i <= last;) {
      let j = i + 1;
      while (j <= last && slots[j] === slots[i]) j++;
      if (slots[i] > 0) {
        const a = Math.max(gutter, gutter + (i * t.width_ps - view.from) * scale);
        const b = Math.min(width, gutter + (j * t.width_ps - view.from) * scale);
        const tall = Math.max(1, (h - 2) * slots[i] / t.slots);
        g.fillRect(a, y + h - 1 - tall, Math.max(0.75, b - a), tall);
        stats.drawn++;
      }
      i = j;
    }
  }

  const waitsFor = (t, s, i) => {
    const a = s.own[i];
    const b = s.of[i];
    return a !== b && (t.operations.rank[a] !== t.operations.rank[b] || t.operations.pe[a] !== t.operations.pe[b]);
  };

  // hit returns what is at a position of the canvas: the row, the time, and the slice or bin.
  function hit(x, y) {
    const inside = y - axisHeight + scroller.scrollTop;
    if (y < axisHeight) return null;
    const r = rows.find((k) => inside >= k.y && inside < k.y + k.h);
    if (!r) return null;
    const t = r.run.timeline;
    const now = at(x);
    const out = { row: r, run: r.n, type: r.type, rank: r.lane ? r.lane.rank : null, time: now, gutter: x < gutter, span: -1 };
    if (x < gutter || now < 0 || now >= t.length) return out;
    const bin = Math.floor(now / t.width_ps);
    if (usesSpans(r)) {
      out.span = spanAt(spansOf(r), now);
      if (out.span < 0) return out;
      Object.assign(out, describe(r, out.span));
    } else if (r.type === 'slots') {
      out.slots = r.lane.slots[bin];
    } else if (r.type === 'shares') {
      out.shares = t.shares.map((s, k) => ({ name: t.reasons[k], part: s.length ? s[bin] / 255 : 0 })).filter((s) => s.part > 0).sort((a, b) => b.part - a.part);
    } else {
      const v = (r.type === 'path' ? t.path_bins : r.lane.bins)[bin];
      out.reason = v & 15 ? t.reasons[(v & 15) - 1] : '';
      out.own = (v >> 4) / 15;
    }
    return out;
  }

  function describe(r, i) {
    const t = r.run.timeline;
    const s = spansOf(r);
    return {
      start: s.start[i], end: s.end[i], reason: t.reasons[s.reason[i]], resource: t.resources[s.resource[i]], own: operation(t, s.own[i]), of: operation(t, s.of[i]),
      behind: operation(t, s.behind[i]), waits: r.type === 'lane' && waitsFor(t, s, i),
      journey: journey(s, i).map((k) => ({ start: s.start[k], end: s.end[k], reason: t.reasons[s.reason[k]], resource: t.resources[s.resource[k]] })).filter((k) => k.resource),
    };
  }

  // lines returns the lines of the tooltip for a hit, or null.
  function lines(h) {
    if (!h || h.gutter) return h && h.row.toggles ? [h.row.open ? 'click: show one rank of this class' : `click: show all ${h.row.more + 1} ranks of this class`] : null;
    if (h.span >= 0) {
      const all = [`${operationText(h.own)}`, `${time(h.start)} – ${time(h.end)} (${time(h.end - h.start, true)})`, `${h.reason}${h.resource ? ': ' + h.resource : ''}`];
      if (h.waits) all.push(`waits for ${operationText(h.of)}`);
      if (h.behind) all.push(`queued behind ${operationText(h.behind)}`);
      if (h.journey.length > 1) all.push('route of the message:', ...h.journey.slice(0, 8).map((j) => `  ${time(j.end - j.start)} ${j.reason}, ${j.resource}`), ...(h.journey.length > 8 ? [`  … ${h.journey.length - 8} more`] : []));
      return all;
    }
    if (h.shares) return [time(h.time), ...h.shares.slice(0, 6).map((s) => `${s.name}: ${percent(100 * s.part)} of all ranks`)];
    if (h.slots !== undefined) return [`rank ${h.rank} at ${time(h.time)}`, `${h.slots} slots in use in the fullest ring that it sends into`];
    if (h.reason) return [`${h.row.label} at ${time(h.time)}`, `mostly ${h.reason}`, h.type === 'lane' ? `${percent(100 * h.own)} own work, the rest is waiting for other ranks` : '', 'zoom in to see single slices'].filter(Boolean);
    return null;
  }

  function showTip(h, x, y) {
    const all = lines(h);
    tip.hidden = !all;
    if (!all) return;
    clear(tip, all.map((l, i) => el('div', { class: i === 0 ? 'first' : '' }, l)));
    const w = tip.offsetWidth;
    tip.style.left = Math.max(0, Math.min(x + 14, width - w - 4)) + 'px';
    tip.style.top = (scroller.offsetTop + y + 18) + 'px';
  }

  function set(from, to) {
    const least = 100; // ps
    let span = Math.max(least, Math.min(whole * 1.02, to - from));
    from = Math.max(-whole * 0.02, Math.min(from, whole * 1.02 - span));
    view.from = from;
    view.to = from + span;
    tip.hidden = true;
    request();
  }

  function zoom(f, around = (view.from + view.to) / 2) {
    set(around - (around - view.from) * f, around + (view.to - around) * f);
  }

  function pan(f) {
    const d = (view.to - view.from) * f;
    set(view.from + d, view.to + d);
  }

  // select selects a slice and announces it to screen readers.
  function select(h) {
    chosen = h ? { row: h.row, span: h.span } : null;
    if (h) {
      row = rows.indexOf(h.row);
      spoken.textContent = (lines(h) || []).join(', ');
      choose({ ...h, run: runs[h.run], text: lines(h) });
    }
    request();
  }

  function toggle(r) {
    if (!r.toggles) return;
    if (open.has(r.id)) open.delete(r.id);
    else open.add(r.id);
    fit();
  }

  let drag = null;
  const place = (e) => {
    const b = canvas.getBoundingClientRect();
    return [e.clientX - b.left, e.clientY - b.top];
  };
  canvas.addEventListener('pointerdown', (e) => {
    const [x, y] = place(e);
    drag = { x, y, view: { ...view }, moved: false };
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener('pointermove', (e) => {
    const [x, y] = place(e);
    if (drag) {
      if (Math.abs(x - drag.x) > 3) drag.moved = true;
      if (drag.moved) {
        const d = (drag.x - x) * (drag.view.to - drag.view.from) / (width - gutter);
        set(drag.view.from + d, drag.view.to + d);
      }
      return;
    }
    const h = hit(x, y);
    canvas.style.cursor = h && h.gutter && h.row.toggles ? 'pointer' : 'crosshair';
    showTip(h, x, y);
  });
  canvas.addEventListener('pointerup', (e) => {
    const [x, y] = place(e);
    const moved = drag && drag.moved;
    drag = null;
    if (moved) return;
    const h = hit(x, y);
    if (!h) return;
    if (h.gutter) toggle(h.row);
    else select(h);
  });
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
  canvas.addEventListener('dblclick', (e) => { const [x] = place(e); zoom(0.25, at(x)); });
  canvas.addEventListener('wheel', (e) => {
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      pan(e.deltaX / (width - gutter));
    } else if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) {
      e.preventDefault();
      zoom(Math.exp(Math.max(-100, Math.min(100, e.deltaY)) * 0.005), at(place(e)[0]));
    }
  }, { passive: false });
  canvas.addEventListener('keydown', (e) => {
    const keys = {
      ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: () => set(0, whole),
      ArrowUp: () => move(-1), ArrowDown: () => move(1), ',': () => step(-1), '.': () => step(1),
      Enter: () => { const r = rows[row]; if (r && r.toggles) toggle(r); },
      Escape: () => select(null),
    };
    const f = keys[e.key];
    if (!f || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    f();
  });
  canvas.addEventListener('focus', request);
  canvas.addEventListener('blur', request);

  function move(d) {
    let n = row + d;
    while (rows[n] && (rows[n].type === 'head' || rows[n].type === 'slots')) n += d;
    if (!rows[n]) return;
    row = n;
    const r = rows[n];
    if (r.y < scroller.scrollTop) scroller.scrollTop = r.y;
    if (r.y + r.h + axisHeight > scroller.scrollTop + height) scroller.scrollTop = r.y + r.h + axisHeight - height;
    spoken.textContent = r.label + (r.more ? `, ${r.more} more like this` : '');
    request();
  }

  // step selects and shows the slice before or after the selected one.
  function step(d) {
    const r = rows[row];
    const s = r && spansOf(r);
    if (!s || s.n === 0) return;
    let i = chosen && chosen.row.lane === r.lane && chosen.row.type === r.type ? chosen.span + d : firstAfter(s, view.from);
    i = Math.max(0, Math.min(s.n - 1, i));
    show(r, i);
  }

  // show scrolls to a slice of a row and selects it.
  function show(r, i) {
    const s = spansOf(r);
    const length = Math.max(1, s.end[i] - s.start[i]);
    if (s.start[i] < view.from || s.end[i] > view.to || length * 400 < view.to - view.from) {
      const span = Math.min(view.to - view.from, Math.max(length * 40, 1000));
      set(s.start[i] + length / 2 - span / 2, s.start[i] + length / 2 + span / 2);
    }
    if (r.y < scroller.scrollTop || r.y + r.h + axisHeight > scroller.scrollTop + height) scroller.scrollTop = Math.max(0, r.y - 40);
    select({ row: r, run: r.n, type: r.type, rank: r.lane ? r.lane.rank : null, span: i, time: (s.start[i] + s.end[i]) / 2, ...describe(r, i) });
  }

  // go shows a rank at a time, for example at a wait of its message.
  function go(run, rank, from, to) {
    const t = run.timeline;
    const i = t.lanes.findIndex((l) => l.rank === rank);
    if (i >= 0) {
      const k = t.classes.findIndex((c) => c.ranks.includes(i));
      if (t.classes[k].rank !== i) {
        open.add(runs.indexOf(run) + ':' + k);
        fit();
      }
      const r = rows.find((q) => q.type === 'lane' && q.run === run && q.lane === t.lanes[i]);
      if (r) {
        row = rows.indexOf(r);
        scroller.scrollTop = Math.max(0, r.y - 60);
      }
    }
    const span = Math.max(2 * (to - from), whole / 5000);
    set((from + to) / 2 - span / 2 * 1.5, (from + to) / 2 + span / 2 * 1.5);
  }

  // findPath shows the longest slice of the critical path that passes the test. It returns false if
  // there is none.
  function findPath(test) {
    const r = rows.find((q) => q.type === 'path');
    const s = r.run.timeline.path;
    let best = -1;
    for (let i = 0; i < s.n; i++) {
      if (test(describe(r, i)) && (best < 0 || s.end[i] - s.start[i] > s.end[best] - s.start[best])) best = i;
    }
    if (best >= 0) show(r, best);
    return best >= 0;
  }

  scroller.addEventListener('scroll', request);
  onTheme(() => requestAnimationFrame(fit));
  new ResizeObserver(() => requestAnimationFrame(fit)).observe(box);
  requestAnimationFrame(fit);

  const used = new Set();
  for (const r of runs) r.timeline.shares.forEach((s, k) => { if (s.length) used.add(r.timeline.reasons[k]); });
  const legend = () => clear(box.querySelector('.legend'), [...used].map((name) => {
    const mark = el('span', { class: 'mark' });
    mark.style.background = reasonColour(name);
    return el('span', { class: 'key' }, mark, name);
  }), el('span', { class: 'key' }, 'full height: own work; lower: waits for other ranks; grey strip: slots in use in the fullest ring'));
  legend();
  onTheme(legend);

  return { box, view, stats, set, zoom, hit, go, findPath, rows: () => rows, px, draw, canvas, toggle, gutter: () => gutter, axisHeight };
}
