// Charts of curves. The x axis is logarithmic. The y axis is logarithmic, too, unless the document
// asks for a linear one.

import { el, clear, breakable, sized, colour, onTheme } from './dom.js';
import { curveColour } from './palette.js';
import { quantity, ticks } from './units.js';

const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

// chart returns the chart c of a document. Of its fields, box is the element.
export function chart(c) {
  const off = new Set();
  const tip = el('div', { class: 'tip', hidden: true });
  let near = null;
  let map = null;

  const series = c.series || [];
  const points = (s) => s.x.map((x, i) => ({ x, y: s.y[i] })).filter((p) => p.y !== null && p.y !== undefined && p.x > 0 && (c.linear || p.y > 0));
  const visible = () => series.filter((s) => !off.has(s.name));

  const canvas = sized((w) => Math.round(Math.max(220, Math.min(420, w * 0.5))), c.title + '; the tables of this page list the values', draw);

  function draw(g, width, height) {
    g.clearRect(0, 0, width, height);
    const all = visible().flatMap(points);
    if (all.length === 0) {
      g.fillStyle = colour('ink2');
      g.font = '13px system-ui, sans-serif';
      g.fillText('No values to draw.', 12, 24);
      map = null;
      return;
    }
    const box = { left: 78, right: width - 14, top: 12, bottom: height - 42 };
    const lx = Math.log2;
    const ly = c.linear ? (v) => v : Math.log10;
    const xs = all.map((p) => lx(p.x));
    const ys = all.map((p) => ly(p.y));
    let [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    let [y0, y1] = [Math.min(...ys), Math.max(...ys)];
    if (x0 === x1) { x0 -= 1; x1 += 1; }
    if (c.linear) { y0 = Math.min(0, y0); y1 = Math.max(0, y1); }
    if (y0 === y1) { y0 -= 0.5; y1 += 0.5; }
    const pad = 0.05 * (y1 - y0);
    y0 -= pad;
    y1 += pad;
    const X = (v) => box.left + (lx(v) - x0) / (x1 - x0) * (box.right - box.left);
    const Y = (v) => box.bottom - (ly(v) - y0) / (y1 - y0) * (box.bottom - box.top);
    map = { X, Y, box };
    g.font = '11px system-ui, sans-serif';
    g.strokeStyle = colour('line');
    g.fillStyle = colour('ink2');
    g.textBaseline = 'middle';
    g.textAlign = 'right';
    for (const v of yTicks(y0, y1, box.bottom - box.top)) {
      const y = Math.round(Y(v)) + 0.5;
      g.beginPath();
      g.moveTo(box.left, y);
      g.lineTo(box.right, y);
      g.stroke();
      g.fillText(quantity(v, c.y.unit), box.left - 6, y);
    }
    g.textAlign = 'center';
    const steps = Math.max(1, Math.ceil((x1 - x0) / Math.max(2, (box.right - box.left) / 70)));
    for (let e = Math.ceil(x0); e <= x1 + 1e-9; e += steps) {
      const x = Math.round(X(2 ** e)) + 0.5;
      g.beginPath();
      g.moveTo(x, box.top);
      g.lineTo(x, box.bottom);
      g.stroke();
      g.fillText(quantity(2 ** e, c.x.unit), Math.max(box.left, Math.min(box.right - 12, x)), box.bottom + 13);
    }
    g.fillText(c.x.name, (box.left + box.right) / 2, height - 10);
    visible().forEach((s) => {
      const i = series.indexOf(s);
      const list = points(s);
      g.strokeStyle = s.bound ? colour('ink2') : curveColour(i);
      g.fillStyle = g.strokeStyle;
      g.lineWidth = near && near.s === s ? 3 : 1.75;
      g.setLineDash(s.bound ? [4, 4] : dashes[Math.floor(i / 9) % dashes.length]);
      g.beginPath();
      list.forEach((p, k) => (k ? g.lineTo(X(p.x), Y(p.y)) : g.moveTo(X(p.x), Y(p.y))));
      g.stroke();
      g.setLineDash([]);
      if (!s.bound && list.length < 60) list.forEach((p) => mark(g, i, X(p.x), Y(p.y)));
    });
    if (near) {
      g.strokeStyle = colour('ink');
      g.lineWidth = 2;
      g.beginPath();
      g.arc(X(near.p.x), Y(near.p.y), 6, 0, 7);
      g.stroke();
    }
  }

  function yTicks(y0, y1, room) {
    if (c.linear) return ticks(y0, y1, 6);
    const all = [];
    const factors = 3 * (y1 - y0) <= room / 16 ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil((y1 - y0) / 7));
    for (let e = Math.floor(y0); e <= Math.ceil(y1); e += every) {
      for (const f of factors) {
        const v = f * 10 ** e;
        if (Math.log10(v) >= y0 && Math.log10(v) <= y1) all.push(v);
      }
    }
    return all;
  }

  // mark draws a point of curve i. The shape depends on the curve.
  function mark(g, i, x, y) {
    const r = 3;
    g.beginPath();
    switch (i % 4) {
      case 0: g.arc(x, y, r, 0, 7); break;
      case 1: g.rect(x - r, y - r, 2 * r, 2 * r); break;
      case 2: g.moveTo(x, y - r - 1); g.lineTo(x + r + 1, y + r); g.lineTo(x - r - 1, y + r); break;
      case 3: g.moveTo(x, y - r - 1); g.lineTo(x + r + 1, y); g.lineTo(x, y + r + 1); g.lineTo(x - r - 1, y); break;
    }
    g.fill();
  }

  // hit returns the value nearest to a position and its curve, or null if none is within 24 pixels.
  function hit(x, y) {
    if (!map) return null;
    let best = null;
    for (const s of visible()) {
      for (const p of points(s)) {
        const d = Math.hypot(map.X(p.x) - x, map.Y(p.y) - y);
        if (d < 24 && (!best || d < best.d)) best = { d, s, p };
      }
    }
    return best;
  }

  canvas.addEventListener('pointermove', (e) => {
    const b = canvas.getBoundingClientRect();
    const [x, y] = [e.clientX - b.left, e.clientY - b.top];
    const h = hit(x, y);
    if ((h && h.p.x) !== (near && near.p.x) || (h && h.s) !== (near && near.s)) {
      near = h;
      canvas.redraw();
    }
    tip.hidden = !h;
    if (!h) return;
    const others = visible().filter((s) => s !== h.s).map((s) => ({ s, y: s.y[s.x.indexOf(h.p.x)] })).filter((o) => o.y !== null && o.y !== undefined).sort((a, b2) => a.y - b2.y).slice(0, 8);
    clear(tip, el('div', { class: 'first' }, `${h.s.name}: ${quantity(h.p.y, c.y.unit)}`), el('div', {}, `at ${quantity(h.p.x, c.x.unit)}`), others.map((o) => el('div', {}, `${o.s.name}: ${quantity(o.y, c.y.unit)}`)));
    tip.style.left = Math.max(0, Math.min(x + 12, canvas.clientWidth - tip.offsetWidth - 4)) + 'px';
    tip.style.top = (canvas.offsetTop + y + 14) + 'px';
  });
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; near = null; canvas.redraw(); });

  const keys = series.map((s, i) => {
    const mark2 = el('span', { class: s.bound ? 'mark dashed' : 'mark' });
    const paint = () => { mark2.style[s.bound ? 'borderTopColor' : 'background'] = s.bound ? colour('ink2') : curveColour(i); };
    paint();
    onTheme(paint);
    const b = el('button', {
      type: 'button', class: 'key', 'aria-pressed': 'true', title: 'show or hide this curve',
      onclick: () => {
        if (off.has(s.name)) off.delete(s.name);
        else off.add(s.name);
        b.setAttribute('aria-pressed', String(!off.has(s.name)));
        canvas.redraw();
      },
    }, mark2, s.name + (s.bound ? ' (limit)' : ''));
    return b;
  });
  const box = el('figure', { class: 'chart' }, el('figcaption', {}, breakable(c.title), el('span', { class: 'unit' }, ` ${c.y.name}`)), canvas, tip, el('div', { class: 'legend' }, keys));
  return { box, hit, map: () => map };
}
