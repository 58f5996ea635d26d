// The panel of a word of the translation: how the sentence could go on from there, and how it could be said otherwise.
import {alternatives} from './api.js';
import {probability} from './text.js';
import {make, number, say} from './words.js';

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

/** The first word behind `kept` characters. */
const wordAfter = (text, kept) => text.slice(kept).match(/\S+/)?.[0];

/** Those that go on with another word than the sentence does; all where none does. */
function otherWords(candidates, kept, text) {
  const others = candidates.filter(c => wordAfter(c.translation, kept) !== wordAfter(text, kept));
  return others.length ? others : candidates;
}

function fill(list, candidates, kept, choose) {
  list.removeAttribute('aria-busy');
  if (!candidates.length) list.replaceChildren(make('li', {class: 'none'}, say('panel_none')));
  else list.replaceChildren(...candidates.map(c => choice(c, kept, choose)));
}

/** Without those that are shown already, each once. */
function fresh(candidates, shown) {
  return candidates.filter(c => !shown.has(c.translation) && shown.add(c.translation));
}

/** Fills the lists: how it goes on with other words behind `before`, and other translations of the whole. */
async function ask(lists, {text, request, before, now}, choose) {
  const {signal} = asking, shown = new Set([now]);
  try {
    const [further, whole] = await Promise.all([
      before ? alternatives(text, before.trimEnd(), request, signal) : [], alternatives(text, '', request, signal)]);
    const others = before ? fresh(otherWords(further.filter(c => c.translation !== now), before.length, now), shown) : [];
    if (before) fill(lists.further, others, before.length, choose);
    fill(lists.whole, fresh([...whole, ...further], shown), 0, choose);
  } catch (e) {
    tell(e, lists);
  }
}

/** Fills the list with translations that begin with `prefix`. */
async function goOn(lists, {text, request, prefix}, choose) {
  try {
    fill(lists.further, await alternatives(text, prefix, request, asking.signal), prefix.length, choose);
    lists.further.querySelector('button')?.focus();
  } catch (e) {
    tell(e, lists);
  }
}

function tell(e, lists) {
  if (e.name === 'AbortError') return;
  const what = e instanceof TypeError ? say('offline') : e.message;
  for (const list of Object.values(lists)) {
    if (!list.hasAttribute('aria-busy')) continue;
    list.removeAttribute('aria-busy');
    list.replaceChildren(make('li', {class: 'none'}, what));
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
  return make('div', {class: 'own'}, make('label', {for: 'own'}, before ? say('panel_own') : say('panel_begin')), input, button);
}

/** Begin of the word in white space that holds an offset: what must begin a translation is made of whole words. */
function wholeWord(text, offset) { return text.slice(0, offset).search(/\S*$/); }

/** Opens the panel for a word of a sentence. request: {source, target}; text: the sentence; choose(candidate) takes it. */
export function open(word, {sentence, begin, end}, text, request, choose) {
  close(false);
  asking = new AbortController();
  opened = {word};
  word.classList.add('open');
  const now = sentence.translation, before = now.slice(0, wholeWord(now, begin));
  const from = say('panel_from', {word: word.textContent}), whole = say('panel_whole');
  const lists = {further: waiting(from), whole: waiting(whole)};
  const take = candidate => { close(); choose(candidate); };
  const own = ownWord(before, prefix => {
    lists.further.setAttribute('aria-busy', 'true');
    goOn(lists, {text, request, prefix}, take);
  });
  if (!before) { lists.further.removeAttribute('aria-busy'); lists.further.replaceChildren(); }
  panel.replaceChildren(head(), ...sureness(word, probability(sentence.words, begin, end)),
    ...(before ? [make('h3', {}, from)] : []), lists.further, own, make('h3', {}, whole), lists.whole, ...back(sentence, take));
  place(word);
  panel.focus({preventScroll: true});
  ask(lists, {text, request, before, now}, take);
}

function head() {
  const button = make('button', {type: 'button', class: 'icon', 'aria-label': say('panel_close'), title: say('panel_close')}, '×');
  button.addEventListener('click', () => close());
  return make('div', {class: 'head'}, make('h2', {id: 'panel-title'}, say('panel_title')), button);
}

function sureness(word, probable) {
  if (probable === null) return [];
  const percent = number(Math.round(100 * probable));
  return [make('p', {class: 'none'}, say('panel_sure', {word: word.textContent, percent}))];
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
