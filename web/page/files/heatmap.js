// The heat map of links × time. It shows how many messages waited at a link, or how busy the link
// was. A click on a cell lists the messages that waited there.

import { el, clear, sized, colour, onTheme, shortened } from './dom.js';
import { heat } from './palette.js';
import { time, axisTime, ticks, count, percent, bytes, digits } from './units.js';
import { operation, operationText } from './model.js';
import { table } from './tables.js';

const linkHeight = 14;
const topHeight = 22;
const shownLinks = 40;

// shortName returns the name of a link. The second end omits the prefix that both ends share.
function shortName(name) {
  const [from, to] = name.split('->');
  if (!to) return name;
  const a = from.split('.');
  const b = to.split('.');
  let n = 0;
  while (n < a.length - 1 && n < b.length - 1 && a[n] === b[n]) n++;
  return from + '->' + b.slice(n).join('.');
}

// heatmap returns the heat map of a run. actions.message(operation, from, to) shows a wait in the
// time line. actions.line(text) shows a source line. actions.id is different for each heat map.
export function heatmap(run, actions) {
  const k = run.links;
  const t = run.timeline;
  const waits = k.waits;
  const anyWaits = k.links.some((l) => l.waiting);
  let metric = anyWaits ? 'waiting' : 'busy';
  let shown = Math.min(shownLinks, k.links.length);
  let chosen = null;
  let geometry = null;

  const list = el('div', { class: 'waits' });
  const tip = el('div', { class: 'tip', hidden: true });
  const cells = (l) => (metric === 'waiting' ? l.waiting || [] : l.busy);
  const widthOf = () => (metric === 'waiting' ? k.stretch_ps : k.width_ps);
  const busiest = (k.busiest || 1) / 255;
  const value = (l, i) => (metric === 'waiting' ? ((l.waiting || [])[i] || 0) / k.stretch_ps : (l.busy[i] || 0) * busiest);
  const most = () => Math.max(1e-9, ...k.links.slice(0, shown).map((l) => cells(l).reduce((m, v) => Math.max(m, v), 0) * (metric === 'busy' ? busiest : 1 / k.stretch_ps)));
  const names = k.links.map((l) => shortName(l.name));

  const canvas = sized(() => topHeight + shown * linkHeight + 2, 'heat map of links over time; arrow keys select a cell, Enter lists its messages', draw);

  function draw(g, width, height) {
    g.font = '11px system-ui, sans-serif';
    const gutter = Math.min(260, Math.round(0.46 * width), 10 + Math.max(...names.slice(0, shown).map((s) => g.measureText(s).width)));
    const n = Math.max(1, Math.ceil(t.length / widthOf()));
    geometry = { gutter, width, n, cell: (width - gutter) / (t.length / widthOf()) };
    g.clearRect(0, 0, width, height);
    g.textBaseline = 'middle';
    const top = most();
    g.fillStyle = colour('ink2');
    g.textAlign = 'center';
    for (const at of ticks(0, t.length, Math.max(2, (width - gutter) / 110))) {
      const x = gutter + at / t.length * (width - gutter);
      const w = g.measureText(axisTime(at, t.length)).width / 2 + 2;
      g.fillText(axisTime(at, t.length), Math.min(width - w, x + (at === 0 ? w : 0)), topHeight / 2);
    }
    g.textAlign = 'left';
    k.links.slice(0, shown).forEach((l, i) => {
      const y = topHeight + i * linkHeight;
      g.fillStyle = chosen && chosen.link === i ? colour('accent') : colour('ink');
      g.fillText(shortened(g, names[i], gutter - 6), 2, y + linkHeight / 2);
      g.fillStyle = colour('well');
      g.fillRect(gutter, y, width - gutter, linkHeight - 1);
      for (let c = 0; c < cells(l).length; c++) {
        const v = value(l, c);
        if (v <= 0) continue;
        g.fillStyle = heat(v / top);
        const x = gutter + c * geometry.cell;
        g.fillRect(x, y, Math.max(1, Math.min(width, x + geometry.cell) - x), linkHeight - 1);
      }
    });
    if (chosen) {
      g.strokeStyle = colour('ink');
      g.lineWidth = 2;
      g.strokeRect(gutter + chosen.cell * geometry.cell, topHeight + chosen.link * linkHeight, Math.max(3, geometry.cell), linkHeight - 1);
    }
  }

  function hit(x, y) {
    if (!geometry || y < topHeight) return null;
    const link = Math.floor((y - topHeight) / linkHeight);
    if (link < 0 || link >= shown) return null;
    const cell = x < geometry.gutter ? -1 : Math.floor((x - geometry.gutter) / geometry.cell);
    return { link, cell: Math.min(cell, geometry.n - 1), name: k.links[link].name, value: cell < 0 ? null : value(k.links[link], cell) };
  }

  const words = (h) => {
    const l = k.links[h.link];
    const from = h.cell * widthOf();
    const all = [l.name];
    if (h.cell >= 0) {
      all.push(`${time(from)} – ${time(Math.min(t.length, from + widthOf()))}`);
      all.push(metric === 'waiting' ? `${h.value.toFixed(2)} messages waiting on average` : `busy for ${percent(100 * h.value)} of this time`);
    }
    all.push(`${count(l.messages)} messages, ${bytes(l.bytes)}; busy for ${percent(100 * l.used)} of the run; total wait ${time(l.queued_ps + l.stalled_ps)}`);
    return all;
  };

  const place = (e) => { const b = canvas.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
  canvas.addEventListener('pointermove', (e) => {
    const [x, y] = place(e);
    const h = hit(x, y);
    tip.hidden = !h;
    if (!h) return;
    clear(tip, words(h).map((w, i) => el('div', { class: i === 0 ? 'first' : '' }, w)));
    tip.style.left = Math.max(0, Math.min(x + 12, geometry.width - tip.offsetWidth - 4)) + 'px';
    tip.style.top = (canvas.offsetTop + y + 16) + 'px';
  });
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
  canvas.addEventListener('click', (e) => { const h = hit(...place(e)); if (h) choose(h); });
  canvas.addEventListener('keydown', (e) => {
    const c = chosen || { link: 0, cell: 0 };
    const to = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key];
    if (to) {
      e.preventDefault();
      chosen = { link: Math.max(0, Math.min(shown - 1, c.link + to[0])), cell: Math.max(0, Math.min(geometry.n - 1, c.cell + to[1])) };
      canvas.redraw();
    } else if (e.key === 'Enter' && chosen) {
      e.preventDefault();
      choose(chosen);
    }
  });

  // at returns the waits at a link during one cell, the longest first. Cell -1 is the whole run.
  function at(link, cell) {
    const from = cell < 0 ? -1 : cell * widthOf();
    const to = cell < 0 ? Infinity : from + widthOf();
    const all = [];
    for (let i = 0; i < waits.length.length; i++) {
      if (waits.link[i] === link && waits.start[i] < to && waits.start[i] + waits.length[i] > from) all.push(i);
    }
    return all.sort((a, b) => waits.length[b] - waits.length[a]);
  }

  function choose(h) {
    chosen = { link: h.link, cell: Math.max(0, h.cell) };
    canvas.redraw();
    const found = at(h.link, h.cell);
    const l = k.links[h.link];
    const from = Math.max(0, h.cell) * widthOf();
    const when = h.cell < 0 ? 'in the whole run' : `between ${time(from)} and ${time(from + widthOf())}`;
    if (found.length === 0) {
      clear(list, el('h3', {}, l.name), el('p', { class: 'empty' }, k.wait_count > waits.length.length
        ? `This page has the ${count(waits.length.length)} longest of ${count(k.wait_count)} waits. None of them was at this link ${when}.`
        : `No message waited at this link ${when}.`));
      return;
    }
    const lines = new Map();
    for (const i of found) {
      const o = operation(t, waits.of[i]);
      const key = (o.line ? o.line + ' ' : '') + o.call;
      const v = lines.get(key) || { key, o, n: 0, ps: 0 };
      v.n++;
      v.ps += waits.length[i];
      lines.set(key, v);
    }
    const lineButton = (o, text) => (o.line ? el('button', { type: 'button', class: 'line', title: 'show this source line', onclick: () => actions.line(o.line) }, text) : text);
    clear(list, el('h3', {}, `${l.name}: ${count(found.length)} messages waited ${when}`),
      el('p', {}, 'Source lines that sent them: ', [...lines.values()].sort((a, b) => b.ps - a.ps).slice(0, 6).map((v, i) => [i ? '; ' : '', lineButton(v.o, v.key), ` (${count(v.n)}, ${time(v.ps)})`])),
      table([
        { name: 'start', unit: 'ps', get: (i) => waits.start[i] },
        { name: 'wait', unit: 'ps', get: (i) => waits.length[i], bar: (i) => waits.length[i] / waits.length[found[0]] },
        { name: 'operation', get: (i) => operationText(operation(t, waits.of[i])), cell: (i) => { const o = operation(t, waits.of[i]); return [`rank ${o.rank} ${o.call} `, lineButton(o, o.line)]; } },
        { name: 'waits for', get: (i) => (waits.full[i] ? 'buffer space at the end of the link' : 'the link') },
        { name: 'queued behind', get: (i) => operationText(operation(t, waits.behind[i])), cell: (i) => { const o = operation(t, waits.behind[i]); return !o ? '–' : waits.behind[i] === waits.of[i] ? 'an earlier message of the same operation' : [`rank ${o.rank} ${o.call} `, lineButton(o, o.line)]; } },
      ], found, {
        rows: 12,
        choose: (i) => actions.message(operation(t, waits.of[i]), waits.start[i], waits.start[i] + waits.length[i]),
      }));
    list.scrollIntoView({ block: 'nearest' });
  }

  const metrics = ['waiting', 'busy'].map((m) => el('label', {}, el('input', {
    type: 'radio', name: 'metric-' + actions.id, value: m, checked: m === metric, disabled: m === 'waiting' && !anyWaits,
    onchange: () => { metric = m; chosen = null; clear(list); sayScale(); canvas.redraw(); },
  }), m === 'waiting' ? ' waiting messages' : ' busy'));
  const more = el('button', { type: 'button', hidden: shown === k.links.length, onclick: () => { shown = k.links.length; more.hidden = true; sayScale(); canvas.redraw(); } }, `show ${k.links.length} links`);
  const ramp = el('i', { class: 'ramp' });
  const paint = () => { ramp.style.background = `linear-gradient(90deg, ${[0.01, 0.25, 0.5, 0.75, 1].map(heat).join(', ')})`; };
  paint();
  onTheme(paint);
  const scaleEnd = el('span');
  const scale = el('span', { class: 'scale' }, 'none ', ramp, ' ', scaleEnd);
  const sayScale = () => { scaleEnd.textContent = metric === 'waiting' ? `${digits(most())} messages on average` : `${digits(100 * most())} % of the time`; };
  sayScale();
  const box = el('div', { class: 'heatmap' }, el('div', { class: 'toolbar' }, metrics, scale, more,
    el('span', {}, `${count(k.all)} links carried messages${k.links.length < k.all ? `; this page has ${k.links.length} of them, those with the fullest queues` : ''}`)), canvas, tip, list);
  return { box, hit, choose, at, canvas, geometry: () => geometry, topHeight, linkHeight, metric: () => metric };
}
