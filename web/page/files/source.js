// The source lines of kernels, with the time of each line.

import { el, clear, breakable } from './dom.js';
import { time } from './units.js';
import { table } from './tables.js';

// source returns the part of the page that shows source lines. Its show(line) scrolls to a line.
export function source(run, pathTime) {
  const view = el('div', { class: 'source' });
  const lines = run.lines || [];
  let chosen = null;
  const top = Math.max(1, ...lines.map((l) => l.path_ps));
  const name = (l) => (l.line ? l.line + ' ' : '') + l.call;
  const hasRanks = lines.some((l) => l.work_ps || l.waits_ps);
  const columns = [
    { name: 'line', get: name, cell: (l) => (l.line ? el('button', { type: 'button', class: 'line', onclick: () => show(l.line) }, breakable(name(l))) : name(l)) },
    { name: 'on the critical path', unit: 'ps', get: (l) => l.path_ps, bar: (l) => l.path_ps / top },
  ];
  if (hasRanks) {
    columns.push({ name: 'work of all ranks', unit: 'ps', get: (l) => l.work_ps }, { name: 'waits of all ranks', unit: 'ps', get: (l) => l.waits_ps });
  }
  const head = table(columns, lines, { rows: 15, rowClass: (l) => (l.line && l.line === chosen ? 'chosen' : ''), choose: (l) => l.line && show(l.line) });
  const split = (line) => {
    const i = line.lastIndexOf(':');
    return [line.slice(0, i), Number(line.slice(i + 1))];
  };

  // show scrolls to a line. It returns false if the document does not have the text of the file.
  function show(line) {
    chosen = line;
    const [file, number] = split(line);
    const parts = (run.sources || []).filter((s) => s.file === file);
    if (parts.length === 0) {
      clear(view, el('h3', {}, line), el('p', { class: 'empty' }, 'The text of this file is missing: kernbench did not find the file when it wrote the report.'));
      view.scrollIntoView({ block: 'nearest' });
      return false;
    }
    const at = new Map();
    for (const l of lines) {
      if (!l.line) continue;
      const [f, n] = split(l.line);
      if (f !== file) continue;
      const v = at.get(n) || { path: 0, work: 0, waits: 0 };
      v.path += l.path_ps;
      v.work += l.work_ps || 0;
      v.waits += l.waits_ps || 0;
      at.set(n, v);
    }
    let target = null;
    const most = Math.max(1, ...[...at.values()].map((v) => v.path));
    const rows = parts.map((part, k) => [
      k > 0 ? el('div', { class: 'gap' }, '⋮') : null,
      part.text.map((text, i) => {
        const n = part.first + i;
        const v = at.get(n);
        const cell = el('span', { class: 'cost' }, v ? time(v.path) : '');
        if (v) {
          cell.style.setProperty('--part', (100 * v.path / most).toFixed(2) + '%');
          cell.title = `critical path ${time(v.path)}; work of all ranks ${time(v.work)}; waits ${time(v.waits)}`;
        }
        const row = el('div', { class: 'code' + (n === number ? ' chosen' : '') + (v ? ' used' : ''), 'data-line': file + ':' + n },
          el('span', { class: 'number' }, n), cell, el('code', {}, text.replace(/\t/g, '    ')));
        if (n === number) target = row;
        return row;
      })]);
    clear(view, el('h3', {}, line), el('div', { class: 'text', tabIndex: 0 }, rows));
    if (target) {
      const box = view.querySelector('.text');
      box.scrollTop = target.offsetTop - box.offsetTop - box.clientHeight / 3;
    }
    view.scrollIntoView({ block: 'nearest' });
    return true;
  }

  const box = el('div', { class: 'sources' }, head, view);
  const first = lines.find((l) => l.line && (run.sources || []).some((s) => s.file === split(l.line)[0]));
  if (first) {
    show(first.line);
  }
  return { box, show, chosen: () => chosen };
}
