// Functions that build elements from text and properties. The browser never parses text of a
// document as HTML.

// el returns a new element. In props, names that begin with "on" become listeners. The names class,
// for, role, list and names with a dash become attributes. All other names become properties.
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

// breakable returns a text in which lines may break after / and _, and before : and ->.
export function breakable(text) {
  return String(text).split(/(?<=[/_])|(?=:|->)/).flatMap((part, i) => (i ? [el('wbr'), part] : [part]));
}

// section returns a part of the page: a heading, an optional introduction, and the content.
export function section(id, title, about, ...children) {
  return el('section', { id, 'aria-labelledby': id + '-title' },
    el('h2', { id: id + '-title' }, breakable(title)),
    about ? el('p', { class: 'about' }, about) : null,
    children);
}

// empty returns a paragraph that states why there is nothing to show.
export function empty(text) {
  return el('p', { class: 'empty' }, text);
}

// sized returns a canvas that is as wide as its parent. The height is a number, or a function of
// the width. draw is called when the size or the theme changes.
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

// onTheme registers a function. It is called when the colours change: dark or light, screen or
// print.
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

// forgetThemed removes the registered functions. A new page calls it, because the elements of the
// previous page no longer exist.
export function forgetThemed() {
  themed = [];
}

// themeChanged calls the registered functions. The theme button calls it.
export function themeChanged() {
  themed.forEach((f) => f());
}

// shortened returns a text cut to a width in pixels, with … at the end if a part is missing. It
// returns "" if two characters do not fit.
export function shortened(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  for (let n = text.length - 1; n > 1; n--) {
    if (g.measureText(text.slice(0, n) + '…').width <= width) return text.slice(0, n) + '…';
  }
  return '';
}

// colour returns the colour of the theme that has this name.
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}
