// The entry point of the viewer: the list of results, the form of a new run, and the page of the
// selected results.

import { el, clear } from './dom.js';
import { read } from './model.js';
import { page, failure, drawn } from './page.js';
import { time, count } from './units.js';

window.kernbench = drawn;
const into = document.getElementById('page');
const panel = document.getElementById('panel');
const chosen = new Set();
let entries = [];
let form = null;
let running = null;

// The token is in the address after #. Browsers do not send this part to servers. The script
// removes the token from the address at once.
if (location.hash.length > 1) {
  sessionStorage.setItem('kernbench-token', location.hash.slice(1));
  history.replaceState(null, '', location.pathname);
}

// ask sends a request and returns the answer. It throws an error with the server's messages. Each
// message names the field of the form that it is about.
async function ask(path, options = {}) {
  const answer = await fetch(path, { ...options, headers: { 'X-Kernbench-Token': sessionStorage.getItem('kernbench-token') || '', ...(options.body ? { 'Content-Type': 'application/json' } : {}) } });
  const data = await answer.json();
  if (!answer.ok) {
    const errors = data.errors || [{ message: `the server answered with status ${answer.status}` }];
    throw Object.assign(new Error(errors.map((e) => e.message).join('\n')), { errors });
  }
  return data;
}

const list = el('ul', { class: 'entries' });
const said = el('p', { class: 'said', role: 'status' });

async function refresh() {
  const answer = await ask('/api/list');
  entries = answer.entries;
  for (const id of [...chosen]) if (!entries.some((e) => e.id === id)) chosen.delete(id);
  paint();
}

function paint() {
  if (entries.length === 0) {
    clear(list, el('li', { class: 'empty' }, 'There are no results yet. Start a run below, or give kernbench view reports (.html), results (.json), databases (.db) or folders.'));
    return;
  }
  clear(list, entries.map((e) => el('li', {}, el('label', {}, el('input', {
    type: 'checkbox', value: e.id, checked: chosen.has(e.id), onchange: (ev) => {
      if (ev.target.checked) chosen.add(e.id);
      else chosen.delete(e.id);
      show();
    },
  }), ' ', e.name), el('span', { class: 'kind' }, ` ${e.kind}${e.note ? ', ' + e.note : ''}`))));
}

async function show() {
  if (chosen.size === 0) {
    delete document.body.dataset.shown;
    clear(into, entries.length > 0 ? el('p', { class: 'empty' }, 'Select results above. If you select several, each is compared with the first.') : null);
    return;
  }
  const ids = [...chosen];
  try {
    const doc = read(await ask('/api/document?' + ids.map((id) => 'id=' + encodeURIComponent(id)).join('&')));
    if (ids.join() !== [...chosen].join()) return; // the selection has changed
    page(doc, into);
    document.body.dataset.shown = ids.join(' ');
  } catch (e) {
    failure(into, 'The selected results cannot be shown', e.message);
    document.body.dataset.shown = 'failed';
  }
}

// field returns a row of the form, with a place for its error message.
function field(name, label, input) {
  input.name = name;
  input.id = 'field-' + name;
  return el('div', { class: 'field' }, el('label', { for: input.id }, label), input, el('span', { class: 'wrong', 'data-field': name, role: 'alert' }));
}

const choice = (names, empty) => el('select', {}, el('option', { value: '' }, empty), names.map((n) => el('option', { value: n }, n)));

let setRows = 0;

// settingRow returns the row of a setting KEY=VALUE. It suggests the keys of the schema.
function settingRow(keys) {
  const n = setRows++;
  const key = el('input', { type: 'text', list: 'setting-keys', placeholder: 'key, such as defaults.n_slots', 'aria-label': 'key of a setting', class: 'key' });
  const value = el('input', { type: 'text', placeholder: 'value', 'aria-label': 'value of the setting', class: 'value' });
  const doc = el('span', { class: 'doc' });
  key.addEventListener('input', () => {
    const k = keys.find((s) => s.key === key.value);
    doc.textContent = k ? `${k.doc || ''}${k.default ? ` (default ${k.default})` : ''}` : '';
    if (k && k.default) value.placeholder = k.default;
  });
  const row = el('div', { class: 'setting', 'data-row': n }, key, ' = ', value, el('button', { type: 'button', title: 'remove this setting', onclick: () => row.remove() }, '×'), doc, el('span', { class: 'wrong', role: 'alert' }));
  return row;
}

async function newRun() {
  const f = await ask('/api/form');
  const sets = el('div', { class: 'settings' });
  const bar = el('progress', { hidden: true });
  const state = el('span', { class: 'state', role: 'status' });
  const go = el('button', { type: 'submit', class: 'go' }, 'run');
  const cancel = el('button', { type: 'button', class: 'cancel', hidden: true, onclick: () => running && ask('/api/cancel?id=' + encodeURIComponent(running), { method: 'POST' }).catch((e) => { state.textContent = e.message; }) }, 'cancel');
  const general = el('p', { class: 'wrong', 'data-field': '', role: 'alert' });
  form = el('form', { class: 'newrun', noValidate: true },
    field('algorithm', 'algorithm', choice(f.algorithms, 'as configured')),
    field('topology', 'machine', choice(f.presets, 'the built-in machine')),
    field('ranks', 'ranks', el('input', { type: 'text', inputMode: 'numeric', placeholder: `1 to ${count(f.max_ranks)}; default: all` })),
    field('n_elem', 'elements per rank', el('input', { type: 'text', inputMode: 'numeric', placeholder: 'as configured' })),
    field('dtype', 'type', choice(f.types, 'default of the bench')),
    field('op', 'reduction', choice(f.ops, 'sum')),
    el('div', { class: 'field' }, el('label', { for: 'field-verify' }, 'verify the data'), el('input', { type: 'checkbox', id: 'field-verify', name: 'verify' })),
    el('datalist', { id: 'setting-keys' }, f.settings.map((s) => el('option', { value: s.key }, s.doc || ''))),
    sets, el('button', { type: 'button', class: 'add', onclick: () => sets.append(settingRow(f.settings)) }, 'add a setting'),
    general, el('div', { class: 'toolbar' }, go, cancel, bar, state));
  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    for (const w of form.querySelectorAll('.wrong')) w.textContent = '';
    const rows = [...sets.querySelectorAll('.setting')];
    const get = (name) => form.elements[name].value;
    const body = {
      algorithm: get('algorithm'), topology: get('topology'), ranks: get('ranks'), n_elem: get('n_elem'), dtype: get('dtype'), op: get('op'), verify_data: form.elements.verify.checked,
      sets: rows.map((r) => r.querySelector('.key').value + '=' + r.querySelector('.value').value),
    };
    go.disabled = true;
    state.textContent = '';
    try {
      const started = await ask('/api/run', { method: 'POST', body: JSON.stringify(body) });
      running = started.id;
      cancel.hidden = false;
      bar.hidden = false;
      bar.removeAttribute('value');
      await follow(started.id, bar, state);
    } catch (err) {
      for (const p of err.errors || [{ message: err.message }]) {
        const set = /^sets\.(\d+)$/.exec(p.field || '');
        const place = set && rows[Number(set[1])] ? rows[Number(set[1])].querySelector('.wrong') : form.querySelector(`.wrong[data-field="${p.field || ''}"]`) || general;
        place.textContent = p.message;
      }
    } finally {
      running = null;
      go.disabled = false;
      cancel.hidden = true;
      bar.hidden = true;
    }
  });
  return form;
}

// follow shows the progress of a run until it ends. A run that succeeds is added to the page.
async function follow(id, bar, state) {
  for (;;) {
    const j = await ask('/api/job?id=' + encodeURIComponent(id));
    form.dataset.state = j.state;
    if (j.state === 'running') {
      if (j.total > 0) {
        bar.max = j.total;
        bar.value = j.done;
      }
      state.textContent = `${j.name}: ${j.phase || 'starting'}${j.total ? `, ${count(j.done)} of ${count(j.total)}` : ''}${j.simulated_ps ? `, simulated time ${time(j.simulated_ps)}` : ''}`;
      await new Promise((done) => setTimeout(done, 150));
      continue;
    }
    state.textContent = j.state === 'done' ? `${j.name} is done` : j.state === 'cancelled' ? `${j.name} was cancelled` : `${j.name}: ${j.error}`;
    if (j.state === 'done') {
      chosen.add(id);
      await refresh();
      await show();
    }
    return;
  }
}

try {
  await refresh();
  const more = el('details', {}, el('summary', {}, 'New run'), await newRun());
  more.open = entries.length === 0;
  clear(panel, el('details', { open: true }, el('summary', {}, 'Results'), list, el('button', { type: 'button', class: 'refresh', onclick: () => refresh().catch((e) => { said.textContent = e.message; }) }, 'refresh'), said), more);
  if (entries.length > 0) chosen.add(entries[0].id);
  paint();
  await show();
  document.body.dataset.ready = 'yes';
} catch (e) {
  failure(into, 'The viewer cannot start', e.message);
  document.body.dataset.ready = 'failed';
}
