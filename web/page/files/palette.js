// Colours of reasons, curves and heat maps. They differ in lightness as well as in hue, so that
// colour-blind readers can tell them apart. Wide slices also have a label.

import { colour } from './dom.js';

const reasonColours = {
  'unknown': ['#b0b0b0', '#808080'],
  'launch': ['#c9c9c9', '#6e6e6e'],
  'issue': ['#8a8a2b', '#b9b94a'],
  'serialisation': ['#0072b2', '#3d9fdc'],
  'link latency': ['#6cc0ee', '#9bd8ff'],
  'router': ['#009e73', '#2fc79b'],
  'queueing': ['#d55e00', '#ff8433'],
  'credit stall': ['#cc79a7', '#f0a0cc'],
  'memory port': ['#e3cf1f', '#f0e442'],
  'arithmetic': ['#e69f00', '#ffbf3f'],
  'protocol': ['#882255', '#c2558c'],
  'poll or wake-up': ['#332288', '#8a7be0'],
  'random delay': ['#777777', '#aaaaaa'],
  'imbalance': ['#d8d8d8', '#505050'],
};

const curveColours = [
  ['#0072b2', '#3d9fdc'], ['#d55e00', '#ff8433'], ['#009e73', '#2fc79b'], ['#cc79a7', '#f0a0cc'], ['#8a6d00', '#e6c229'],
  ['#332288', '#9d8ff0'], ['#56b4e9', '#9bd8ff'], ['#882255', '#c2558c'], ['#444444', '#dddddd'],
];

// dark reports whether the page is dark.
export function dark() {
  return colour('dark') === '1';
}

export function reasonColour(name) {
  const pair = reasonColours[name] || reasonColours.unknown;
  return pair[dark() ? 1 : 0];
}

export function curveColour(i) {
  return curveColours[i % curveColours.length][dark() ? 1 : 0];
}

// ink returns black or white, whichever is readable on a colour.
export function ink(hex) {
  const n = parseInt(hex.slice(1), 16);
  const light = 0.299 * (n >> 16) + 0.587 * ((n >> 8) & 255) + 0.114 * (n & 255);
  return light > 140 ? '#000000' : '#ffffff';
}

// heat returns the colour of a value from 0 to 1. The value 0 has the background colour. The scale
// ends in dark red in the light theme, and in yellow in the dark theme.
export function heat(f) {
  if (!(f > 0)) return colour('well');
  const stops = dark()
    ? [[40, 52, 84], [88, 80, 141], [188, 80, 144], [255, 124, 67], [255, 225, 120]]
    : [[255, 243, 205], [254, 204, 92], [253, 141, 60], [227, 60, 40], [120, 0, 38]];
  const x = Math.min(0.9999, f) * (stops.length - 1);
  const i = Math.floor(x);
  const mix = (a, b) => Math.round(a + (b - a) * (x - i));
  return `rgb(${[0, 1, 2].map((k) => mix(stops[i][k], stops[i + 1][k])).join(',')})`;
}
