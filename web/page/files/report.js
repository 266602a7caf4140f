// The entry point of a report. The document is in the report's own file.

import { unpackText, read } from './model.js';
import { page, failure, drawn } from './page.js';

const into = document.getElementById('page');
window.kernbench = drawn;
try {
  const text = await unpackText(document.getElementById('document').textContent);
  page(read(JSON.parse(text)), into);
  document.body.dataset.ready = 'yes';
} catch (e) {
  failure(into, 'The report cannot be shown', String(e && e.message || e));
  document.body.dataset.ready = 'failed';
}
