// The panel of a word of the translation: how the sentence could go on from there, and how it could be said otherwise.
import {alternatives} from './api.js';
import {make, say} from './words.js';

const panel = document.getElementById('panel');
const output = document.getElementById('output');
let asking = null; // AbortController of what the open panel waits for
let opened = null; // {word, choose}

/** Closes the panel and gives the focus back. */
export function close(focus = true) {
  asking?.abort();
  asking = null;
  if (panel.hidden) return;
  panel.hidden = true;
  opened?.word.classList.remove('open');
  opened = null;
  if (focus) output.focus();
}

function place(word) {
  const box = word.getBoundingClientRect(), pane = panel.parentElement.getBoundingClientRect();
  panel.hidden = false;
  const width = panel.offsetWidth;
  const left = Math.max(12, Math.min(box.left - pane.left - 16, pane.width - width - 12));
  panel.style.left = `${left}px`;
  panel.style.top = `${box.bottom - pane.top + 8}px`;
}

function choice(candidate, kept, choose) {
  const button = make('button', {type: 'button', class: 'way'});
  button.append(make('span', {class: 'kept'}, candidate.translation.slice(0, kept)),
    make('span', {}, candidate.translation.slice(kept)));
  button.addEventListener('click', () => choose(candidate));
  return make('li', {}, button);
}

/** Those that go on with another word than before come first. */
function sort(candidates, kept, shown) {
  const next = text => text.slice(kept).match(/\S+/)?.[0];
  const same = c => shown.some(text => next(text) === next(c.translation));
  return [...candidates.filter(c => !same(c)), ...candidates.filter(same)];
}

function fill(list, candidates, kept, choose) {
  list.removeAttribute('aria-busy');
  if (!candidates.length) list.replaceChildren(make('li', {class: 'none'}, say('panel_none')));
  else list.replaceChildren(...candidates.map(c => choice(c, kept, choose)));
}

async function ask(list, {text, request, prefix = '', kept, shown = []}, choose) {
  try {
    const found = await alternatives(text, prefix, request, asking.signal);
    fill(list, sort(found.filter(c => !shown.includes(c.translation)), kept, shown), kept, choose);
  } catch (e) {
    if (e.name !== 'AbortError') list.replaceChildren(make('li', {class: 'none'}, e.message));
  }
}

function waiting(label) {
  return make('ul', {'aria-label': label, 'aria-busy': 'true'}, make('li', {class: 'none'}, say('wait')));
}

function ownWord(before, go) {
  const input = make('input', {type: 'text', id: 'own', autocomplete: 'off', spellcheck: 'true'});
  const button = make('button', {type: 'button', class: 'quiet'}, say('panel_go'));
  const start = () => { if (input.value.trim()) go(before + input.value.trim()); };
  button.addEventListener('click', start);
  input.addEventListener('keydown', e => { if (e.key === 'Enter') { e.preventDefault(); start(); } });
  return make('div', {class: 'own'}, make('label', {for: 'own'}, say('panel_own')), input, button);
}

/** Begin of the word in white space that holds an offset: what must begin a translation is made of whole words. */
function wholeWord(text, offset) { return text.slice(0, offset).search(/\S*$/); }

/** Opens the panel for a word of a sentence. request: {source, target}; text: the sentence; choose(candidate) takes it. */
export function open(word, {sentence, begin}, text, request, choose) {
  close(false);
  asking = new AbortController();
  const take = candidate => { close(); choose(candidate); };
  opened = {word};
  word.classList.add('open');
  const at = wholeWord(sentence.translation, begin), before = sentence.translation.slice(0, at);
  const from = say('panel_from', {word: word.textContent}), whole = say('panel_whole');
  const further = waiting(from), other = waiting(whole);
  const go = async prefix => {
    further.setAttribute('aria-busy', 'true');
    await ask(further, {text, request, prefix, kept: prefix.length}, take);
    further.querySelector('button')?.focus();
  };
  panel.replaceChildren(head(), ...(at ? [make('h3', {}, from), further] : []), ownWord(before, go),
    ...(at ? [] : [further]), make('h3', {}, whole), other, ...back(sentence, take));
  if (!at) { further.removeAttribute('aria-busy'); further.replaceChildren(); }
  place(word);
  panel.focus({preventScroll: true});
  const shown = [sentence.translation];
  if (at) ask(further, {text, request, prefix: before.trimEnd(), kept: before.length, shown}, take);
  ask(other, {text, request, kept: 0, shown}, take);
}

function head() {
  const button = make('button', {type: 'button', class: 'icon', 'aria-label': say('panel_close'), title: say('panel_close')}, '×');
  button.addEventListener('click', () => close());
  return make('div', {class: 'head'}, make('h2', {id: 'panel-title'}, say('panel_title')), button);
}

function back(sentence, take) {
  if (!sentence.first) return [];
  const button = make('button', {type: 'button', class: 'quiet'}, say('panel_first'));
  button.addEventListener('click', () => take(sentence.first));
  return [button];
}

panel.addEventListener('keydown', e => {
  if (e.key === 'Escape') { e.stopPropagation(); close(); return; }
  if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
  const all = Array.from(panel.querySelectorAll('button.way'));
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? 0 : at + (e.key === 'ArrowDown' ? 1 : -1)];
  if (next) { e.preventDefault(); next.focus(); }
});
document.addEventListener('pointerdown', e => {
  if (!panel.hidden && !panel.contains(e.target) && !e.target.closest?.('#output .w')) close(false);
});
