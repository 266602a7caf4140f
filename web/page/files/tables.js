// Tables with units. A click on the head of a column sorts the rows.

import { el, clear, breakable, onTheme } from './dom.js';
import { quantity } from './units.js';

const shownRows = 60;

// table returns a table. A column has a name, a unit, and get(row), which returns its value. Three
// fields are optional: cell(row) returns the content to show, bar(row) the length of a bar from 0
// to 1, and colour(row) the colour of the bar.
export function table(columns, rows, options = {}) {
  const body = el('tbody');
  let sorted = rows.slice();
  let by = null;
  let all = rows.length <= (options.rows || shownRows);
  const more = el('button', { type: 'button', class: 'more', onclick: () => { all = true; fill(); } });
  const heads = columns.map((c) => {
    const button = el('button', { type: 'button', onclick: () => sort(c) }, c.name);
    return el('th', { scope: 'col', class: c.unit && c.unit !== 'text' ? 'number' : '', 'aria-sort': 'none' }, button);
  });
  function sort(c) {
    const down = by && by.c === c ? !by.down : c.unit && c.unit !== 'text';
    by = { c, down };
    const key = (r) => c.get(r);
    sorted = rows.slice().sort((a, b) => {
      const x = key(a);
      const y = key(b);
      if (x === y) return 0;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return (x < y ? -1 : 1) * (down ? -1 : 1);
    });
    columns.forEach((k, i) => heads[i].setAttribute('aria-sort', k === c ? (down ? 'descending' : 'ascending') : 'none'));
    fill();
  }
  function fill() {
    const shown = all ? sorted : sorted.slice(0, options.rows || shownRows);
    clear(body, shown.map((r) => {
      const tr = el('tr', { class: options.rowClass ? options.rowClass(r) : '' }, columns.map((c) => {
        const value = c.get(r);
        const content = c.cell ? c.cell(r) : typeof value === 'string' ? breakable(value) : quantity(value, c.unit);
        const td = el('td', { class: c.unit && c.unit !== 'text' ? 'number' : typeof value === 'string' && value.length > 20 ? 'long' : '' }, content);
        if (c.bar) {
          const f = Math.max(0, Math.min(1, c.bar(r) || 0));
          td.className += ' bar';
          td.style.setProperty('--part', (100 * f).toFixed(2) + '%');
          if (c.colour) td.style.setProperty('--bar', c.colour(r));
        }
        return td;
      }));
      if (options.choose) {
        tr.tabIndex = 0;
        tr.classList.add('choose');
        tr.addEventListener('click', (e) => { if (!e.target.closest('button, a, input')) options.choose(r, tr); });
        tr.addEventListener('keydown', (e) => { if (e.key === 'Enter') { e.preventDefault(); options.choose(r, tr); } });
      }
      return tr;
    }));
    more.hidden = all;
    const left = sorted.length - (options.rows || shownRows);
    more.textContent = `${left} more ${left === 1 ? 'row' : 'rows'}`;
  }
  fill();
  if (columns.some((c) => c.colour)) onTheme(fill);
  return el('div', { class: 'table' }, el('table', {}, options.caption ? el('caption', {}, options.caption) : null,
    el('thead', {}, el('tr', {}, heads)), body), more);
}

// documentTable returns a table of a document. It omits columns in which no row has a value.
export function documentTable(t) {
  const rows = t.rows || [];
  const columns = t.columns.map((c, i) => ({ name: c.name, unit: c.unit, get: (r) => r[i] }))
    .filter((c) => rows.length === 0 || rows.some((r) => !['', '–', null, undefined].includes(c.get(r))));
  return table(columns, rows, { caption: t.title });
}

// facts returns the lines of a summary. A line has a name and a text.
export function facts(list) {
  return el('dl', { class: 'summary' }, (list || []).map((f) => el('div', {}, el('dt', {}, f.name), el('dd', {}, f.text))));
}
