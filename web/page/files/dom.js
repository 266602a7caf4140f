// Elements are made of text and properties only: no text of a document is ever read as HTML.

// el makes an element. Of props, "class" and names with a dash are attributes, "on…" are listeners, and
// the others are properties.
export function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (k === 'class') e.className = v;
    else if (k.includes('-') || k === 'for' || k === 'role' || k === 'list') e.setAttribute(k, v);
    else e[k] = v;
  }
  add(e, children);
  return e;
}

export function add(e, children) {
  for (const c of children.flat(3)) {
    if (c === null || c === undefined || c === false) continue;
    e.append(typeof c === 'object' ? c : document.createTextNode(String(c)));
  }
  return e;
}

export function clear(e, ...children) {
  e.replaceChildren();
  return add(e, children);
}

// breakable is a text in which lines may break behind / and _, and before : and ->.
export function breakable(text) {
  return String(text).split(/(?<=[/_])|(?=:|->)/).flatMap((part, i) => (i ? [el('wbr'), part] : [part]));
}

// section is a part of the page with a heading, which links to itself.
export function section(id, title, about, ...children) {
  return el('section', { id, 'aria-labelledby': id + '-title' },
    el('h2', { id: id + '-title' }, breakable(title)),
    about ? el('p', { class: 'about' }, about) : null,
    children);
}

// empty says that there is nothing to show, and why.
export function empty(text) {
  return el('p', { class: 'empty' }, text);
}

// sized makes a canvas of a height that is as wide as its place, and calls draw when that changes.
export function sized(height, label, draw) {
  const canvas = el('canvas', { tabIndex: 0, role: 'img', 'aria-label': label });
  const fit = () => {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, canvas.parentElement ? canvas.parentElement.clientWidth : canvas.clientWidth);
    const h = typeof height === 'function' ? height(width) : height;
    canvas.style.width = width + 'px';
    canvas.style.height = h + 'px';
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(h * ratio);
    const g = canvas.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(g, width, h);
  };
  canvas.redraw = fit;
  const watch = new ResizeObserver(() => requestAnimationFrame(fit));
  requestAnimationFrame(() => {
    if (canvas.parentElement) watch.observe(canvas.parentElement);
    fit();
  });
  onTheme(fit);
  return canvas;
}

let themed = [];
let watched = false;

// onTheme calls a function when the colours change: dark or light, screen or paper.
export function onTheme(f) {
  if (!watched) {
    watched = true;
    const all = () => themed.forEach((g) => g());
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', all);
    window.matchMedia('print').addEventListener('change', all);
    window.addEventListener('beforeprint', all);
    window.addEventListener('afterprint', all);
  }
  themed.push(f);
}

// forgetThemed is called when a page gives way to another: what it drew is gone.
export function forgetThemed() {
  themed = [];
}

// themeChanged is called by what changes the colours itself.
export function themeChanged() {
  themed.forEach((f) => f());
}

// shortened is a text that a canvas has room for: with … where a part is missing, or nothing.
export function shortened(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  for (let n = text.length - 1; n > 1; n--) {
    if (g.measureText(text.slice(0, n) + '…').width <= width) return text.slice(0, n) + '…';
  }
  return '';
}

// colour is a colour of the page.
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}
