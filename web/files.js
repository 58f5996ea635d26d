// Documents: chosen or dropped anywhere on the page, translated one after the other, each with its progress and result.
import {translateDocument} from './api.js';
import {make, say} from './words.js';

const input = document.getElementById('file');
const jobs = document.getElementById('jobs');
const waiting = [];
let busy = false;
let pair = () => ({});

function addJob(file) {
  const bar = make('progress', {max: 1, value: 0, 'aria-label': file.name});
  const state = make('span', {class: 'state', role: 'status'});
  const button = make('button', {type: 'button', class: 'icon', 'aria-label': say('file_cancel', {name: file.name})}, '×');
  const item = make('li', {class: 'job'}, make('span', {class: 'file'}, file.name), bar, state, button);
  const job = {file, bar, state, button, item, stop: new AbortController(), pair: pair()};
  button.addEventListener('click', () => { job.stop.abort(); item.remove(); input.focus(); });
  jobs.append(item);
  waiting.push(job);
}

/** Sending is the first tenth of the bar. */
function progress(job, begin, share, part, key) {
  job.bar.value = begin + share * part;
  job.state.textContent = say(key, {n: Math.round(part * 100)});
}

function finish(job, text, kind) {
  job.item.classList.add(kind);
  job.bar.remove();
  job.state.textContent = text;
  job.button.setAttribute('aria-label', say('file_remove', {name: job.file.name}));
}

const why = e => e instanceof TypeError ? say('offline') : e.message;

async function run(job) {
  const sent = part => progress(job, 0, .1, part, 'file_sending');
  const done = part => progress(job, .1, .9, part, 'file_working');
  const lost = e => { job.state.textContent = why(e); };
  sent(0);
  try {
    const {url, name} = await translateDocument(job.file, job.pair, {sent, done, lost}, job.stop.signal);
    finish(job, say('file_done'), 'done');
    job.button.before(make('a', {href: url, download: name, class: 'save'}, say('file_save', {name})));
  } catch (e) {
    if (e.name === 'AbortError') return;
    finish(job, `${say('file_failed')}: ${why(e)}`, 'failed');
  }
}

async function next() {
  if (busy) return;
  busy = true;
  while (waiting.length) {
    const job = waiting.shift();
    if (!job.stop.signal.aborted) await run(job);
  }
  busy = false;
}

function take(files) {
  for (const file of files) addJob(file);
  next();
}

const holdsFiles = e => Array.from(e.dataTransfer?.types ?? []).includes('Files');

/** Connects the page; languages() gives {source, target}. */
export function listen(languages) {
  pair = languages;
  input.addEventListener('change', () => { take(input.files); input.value = ''; });
  let inside = 0; // dragenter and dragleave come for every element under the pointer
  const mark = () => document.body.classList.toggle('dragging', inside > 0);
  addEventListener('dragenter', e => { if (holdsFiles(e)) { inside++; mark(); } });
  addEventListener('dragleave', e => { if (holdsFiles(e)) { inside = Math.max(0, inside - 1); mark(); } });
  addEventListener('dragover', e => { if (holdsFiles(e)) e.preventDefault(); });
  addEventListener('drop', e => {
    inside = 0;
    mark();
    if (holdsFiles(e)) { e.preventDefault(); take(e.dataTransfer.files); }
  });
}
