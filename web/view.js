// Shows the lines: the translation as words that can be walked through, and behind the text field a mirror of it, whose
// words light up with those of the translation that come from them.
import {confidence, linked, pieces, words} from './text.js';
import {make, say} from './words.js';

const output = document.getElementById('output');
const mirror = document.getElementById('mirror');
const field = document.getElementById('text');
const places = new WeakMap(); // of a word of either side: {side, sentence, begin, end}
const nodes = new WeakMap();  // of a sentence: [its words in the mirror, its words in the output]
let lit = [];
let current = null; // the word of the output that the keyboard is at

function wordSpans(text, side, sentence) {
  const out = [], spans = [];
  let at = 0;
  for (const [begin, end] of words(text)) {
    const sure = side ? confidence(sentence.words, begin, end) : '';
    const span = make('span', {class: `w ${sure}`.trim()}, text.slice(begin, end));
    places.set(span, {side, sentence, begin, end});
    if (begin > at) out.push(text.slice(at, begin));
    out.push(span);
    spans.push(span);
    at = end;
  }
  out.push(text.slice(at));
  const sides = nodes.get(sentence) ?? [[], []];
  sides[side] = spans;
  nodes.set(sentence, sides);
  return out;
}

function sentenceNode(sentence) {
  const node = make('span', {class: 's'}, ...wordSpans(sentence.translation, 1, sentence));
  if (sentence.chosen) node.classList.add('chosen');
  return node;
}

function outputLine(line) {
  const node = make('div', {class: line.sentences ? 'l' : 'l waiting'});
  node.append(...pieces(line).map(p => typeof p === 'string' ? p : sentenceNode(p)));
  if (!node.hasChildNodes()) node.append(make('br'));
  return node;
}

function mirrorLine(line) {
  const node = make('div', {class: 'l'});
  if (!line.sentences?.length) node.append(line.text || '\u200b');
  else node.append(...pieces(line).flatMap(p => typeof p === 'string' ? p : wordSpans(line.text.slice(p.begin, p.end), 0, p)));
  return node;
}

/** Shows the lines; only those that have changed are made anew. */
export function show(lines) {
  for (const line of lines) {
    if (line.shown === line.sentences && line.nodes) continue;
    line.shown = line.sentences;
    line.nodes = [mirrorLine(line), outputLine(line)];
  }
  light(null);
  const empty = lines.every(line => !line.text.trim());
  putChildren(mirror, lines.map(line => line.nodes[0]));
  putChildren(output, empty ? [] : lines.map(line => line.nodes[1]));
  if (!current?.isConnected) current = null;
}

/** Makes `nodes` the children; those at both ends that are so already stay untouched, and so does their layout. */
function putChildren(parent, nodes) {
  const old = Array.from(parent.childNodes);
  let start = 0, end = 0;
  while (start < old.length && start < nodes.length && old[start] === nodes[start]) start++;
  const most = Math.min(old.length, nodes.length) - start;
  while (end < most && old[old.length - 1 - end] === nodes[nodes.length - 1 - end]) end++;
  const behind = end ? nodes[nodes.length - end] : null;
  for (const node of old.slice(start, old.length - end)) node.remove();
  for (const node of nodes.slice(start, nodes.length - end)) parent.insertBefore(node, behind);
}

/** Lights up a word of either side and those it is linked with; null: none. */
export function light(word) {
  for (const span of lit) span.classList.remove('lit', 'here');
  lit = [];
  const place = word && places.get(word);
  if (!place) return;
  const other = 1 - place.side;
  const ranges = linked(place.sentence.links ?? [], place.side, place.begin, place.end);
  const partners = (nodes.get(place.sentence)?.[other] ?? []).filter(span => {
    const {begin, end} = places.get(span);
    return ranges.some(([from, to]) => from < end && to > begin);
  });
  lit = [word, ...partners];
  for (const span of lit) span.classList.add('lit');
  word.classList.add('here');
}

/** What a word of the output stands for: {sentence, begin, end}, or null. */
export const placeOf = word => places.get(word) ?? null;

/** The word of the mirror under a point or at a place in the text field. */
function mirrorWordAt(x, y) {
  return document.elementsFromPoint(x, y).find(e => e.classList.contains('w') && mirror.contains(e)) ?? null;
}

/** The word of the mirror at an offset of the text. */
export function mirrorWordAtOffset(lines, offset) {
  for (const line of lines) {
    if (offset <= line.text.length) {
      const sentence = line.sentences?.find(s => s.begin <= offset && offset <= s.end);
      return sentence ? nodes.get(sentence)?.[0].find(span => {
        const {begin, end} = places.get(span);
        return sentence.begin + begin <= offset && offset <= sentence.begin + end;
      }) ?? null : null;
    }
    offset -= line.text.length + 1;
  }
  return null;
}

/** Moves the keyboard's word by `step` words, or to the first or last for -Infinity and Infinity. */
function walk(step) {
  const all = Array.from(output.querySelectorAll('.w'));
  if (!all.length) return;
  const at = all.indexOf(current);
  const next = at < 0 ? (step > 0 && step < Infinity ? 0 : step < 0 ? 0 : all.length - 1) : at + step;
  current = all[Math.max(0, Math.min(all.length - 1, next))];
  light(current);
  current.scrollIntoView({block: 'nearest'});
  document.getElementById('status').textContent = current.textContent;
}

const steps = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: 5, ArrowUp: -5, Home: -Infinity, End: Infinity};

/** Connects pointer and keyboard; open(word) is called for a word of the output that was chosen. */
export function listen(open) {
  output.addEventListener('pointerover', e => light(e.target.closest('.w')));
  output.addEventListener('pointerleave', () => light(document.activeElement === output ? current : null));
  field.addEventListener('pointermove', e => light(mirrorWordAt(e.clientX, e.clientY)));
  field.addEventListener('pointerleave', () => light(null));
  output.addEventListener('click', e => {
    const word = e.target.closest('.w');
    if (word && !String(getSelection())) { current = word; light(word); open(word); }
  });
  output.addEventListener('keydown', e => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (e.key in steps) { e.preventDefault(); walk(steps[e.key]); }
    else if ((e.key === 'Enter' || e.key === ' ') && current) { e.preventDefault(); open(current); }
  });
  output.addEventListener('focus', () => { if (output.matches(':focus-visible')) current ? light(current) : walk(-Infinity); });
  output.addEventListener('blur', () => light(null));
  output.setAttribute('aria-description', say('word_hint'));
}
