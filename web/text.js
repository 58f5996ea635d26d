// What the page knows about the text: lines, each with its sentences as the server found them. Pure functions, no page.
//
// A line is {text, sentences}; a sentence {begin, end, translation, links, words, first}: begin and end in the text
// of its line, links [source begin, source end, target begin, target end] in the sentence and its translation, words
// [begin, end, log-probability] in the translation (or null), first what stood there before another translation was
// chosen.
// sentences is null while the server has not answered for the line; `from` is then the line as it was before.

/** Length of what two strings have in common at their beginning. */
function commonStart(a, b) {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && a[n] === b[n]) n++;
  return n;
}

/** Length of what two strings have in common at their end, of at most `most`. */
function commonEnd(a, b, most) {
  let n = 0;
  while (n < most && a[a.length - 1 - n] === b[b.length - 1 - n]) n++;
  return n;
}

/** Where the first word of a sentence ends: how it begins decides whether the one before has ended. */
function firstWordEnd(text, sentence) {
  const space = text.slice(sentence.begin, sentence.end).search(/\s/);
  return space < 0 ? sentence.end : sentence.begin + space;
}

/** Where the last word of a sentence begins, for the same reason. */
function lastWordBegin(text, sentence) {
  const words = text.slice(sentence.begin, sentence.end).trimEnd();
  return sentence.begin + words.search(/\S+$/);
}

/** What of an edited line has to be translated anew: {head, begin, end, tail}. head and tail are sentences that stay
 *  (tail already moved to their new places), begin and end the part of `text` between them. */
export function changedPart(old, text) {
  if (!old?.sentences) return {head: [], begin: 0, end: text.length, tail: []};
  const same = commonStart(old.text, text);
  const sameEnd = commonEnd(old.text, text, Math.min(old.text.length, text.length) - same);
  const list = old.sentences;
  let head = 0;
  while (head + 1 < list.length && firstWordEnd(old.text, list[head + 1]) < same) head++;
  let tail = list.length;
  while (tail - 1 > head && lastWordBegin(old.text, list[tail - 2]) > old.text.length - sameEnd) tail--;
  const moved = text.length - old.text.length;
  return {
    head: list.slice(0, head),
    begin: head ? list[head - 1].end : 0,
    end: tail < list.length ? list[tail].begin + moved : text.length,
    tail: list.slice(tail).map(s => ({...s, begin: s.begin + moved, end: s.end + moved})),
  };
}

/** The lines of `text`. Lines that are as before are the same objects; a changed one has the sentences that stay in
 *  head and tail, and in `part` what must be sent. */
export function splitLines(before, text) {
  const texts = text.split('\n');
  let start = 0;
  while (start < texts.length && start < before.length && before[start].text === texts[start]) start++;
  let end = 0;
  const most = Math.min(texts.length, before.length) - start;
  while (end < most && before[before.length - 1 - end].text === texts[texts.length - 1 - end]) end++;
  const known = new Map(before.map(line => [line.text, line]));
  return withContext(texts.map((one, i) => {
    if (i < start) return before[i];
    if (i >= texts.length - end) return before[before.length - (texts.length - i)];
    return changedLine(i < before.length - end ? before[i] : null, known.get(one), one);
  }));
}

function changedLine(old, same, text) {
  if (same?.sentences) return {text, before: same.before, opening: same.opening, sentences: same.sentences.map(s => ({...s}))}; // each place has its own
  if (!text.trim()) return {text, sentences: []};
  const base = old?.sentences ? old : old?.from ?? null;
  return {text, sentences: null, part: changedPart(base, text), from: base};
}

/** What must be sent for a line. */
export function pending(line) {
  return line.sentences ? null : line.text.slice(line.part.begin, line.part.end);
}

/** A line without the signs of quotes and lists that it begins with, which are no part of its sentences. */
const said = ({text}) => text.trim().replace(/^(> ?)*\s*([-*+•–·] )?/, '');

/** True if a line is as short as the close of a letter, or the name below it. */
const isShort = text => text.length <= 80 && text.trim().split(/\s+/).length <= 4;

/** For each line the short one before it, blank ones left out, if that may open a letter, or the line itself be the name
 *  below one, which stays as it is; else ''. */
function beforeAll(lines) {
  let last = '';
  return lines.map(said).map(text => {
    if (!text) return '';
    const before = isShort(text) || last.endsWith(',') ? last : '';
    last = isShort(text) ? text : '';
    return before;
  });
}

/** True for what may stand above the opening of a letter, as letter.c finds it: a date, an address, a subject, none of
 *  them a sentence. */
const isHead = text => text.length <= 80 &&
  (/^[A-Z][^:]{0,18}:( |$)/.test(text) || !/[.!?]$/.test(text) || !/(^| )\p{Ll}/u.test(text));

const headLines = 16; // of a letter above its opening, at most

/** What may open a letter; the server knows better, but not which line it is. */
const mayOpen = text => text.length <= 80 && /^(dear|hi|hey|(hello|good morning) m(r|rs|s)|to whom it may)\b.*,$/i.test(text);

/** The place of the line that opens a letter, below its date, addresses and subject; -1: none does. */
function openingLine(lines) {
  for (let i = 0, seen = 0; i < lines.length && seen < headLines; i++) {
    const text = said(lines[i]);
    if (mayOpen(text)) return i;
    if (text && !isHead(text)) return -1;
    if (text) seen++;
  }
  return -1;
}

/** For each line below the one that opens a letter this one, which says how the reader is addressed; else ''. */
function openings(lines) {
  const first = openingLine(lines), opening = first < 0 ? '' : said(lines[first]);
  return lines.map((line, i) => i > first && line.text.trim() ? opening : '');
}

/** Lines whose line before, or opening, is another one now are sent again. */
function withContext(lines) {
  const all = beforeAll(lines), opened = openings(lines);
  return lines.map((line, i) => {
    const before = all[i], opening = opened[i], text = line.text;
    if ((line.before ?? '') === before && (line.opening ?? '') === opening) return line;
    if (!line.sentences) return {...line, before, opening};
    return {text, before, opening, sentences: null, part: {head: [], begin: 0, end: text.length, tail: []}, from: line};
  });
}

/** What stands before each of the lines that are sent, and how their letter opens; '' where it does not matter. */
export const contextOf = sent => ({
  before: sent.map(line => line.part?.begin ? '' : line.before ?? ''),
  opening: sent.map(line => line.opening ?? ''),
});

/** Puts the server's sentences for the part of a line in their place. */
export function settle(line, sentences) {
  const {head, begin, tail} = line.part;
  const fresh = sentences.map(s => ({...s, begin: s.begin + begin, end: s.end + begin}));
  line.sentences = [...head, ...fresh, ...tail];
  delete line.part;
  delete line.from;
}

/** The pieces of a line in order, for showing it: strings are copied, the others are sentences. While the server works
 *  on a line these are the pieces that it had before. */
export function pieces(line) {
  const base = line.sentences ? line : line.from;
  if (!base) return [];
  const out = [];
  let at = 0;
  for (const sentence of base.sentences) {
    if (sentence.begin > at) out.push(base.text.slice(at, sentence.begin));
    out.push(sentence);
    at = sentence.end;
  }
  if (at < base.text.length) out.push(base.text.slice(at));
  return out;
}

/** The translation as plain text. */
export function plainText(lines) {
  return lines.map(line => pieces(line).map(p => p.translation ?? p).join('')).join('\n');
}

/** Words of a text as [begin, end]: letters and digits, with apostrophes and hyphens between them. */
export function words(text) {
  return Array.from(text.matchAll(/[\p{L}\p{N}\p{M}]+(?:['’\-‑][\p{L}\p{N}\p{M}]+)*/gu), m => [m.index, m.index + m[0].length]);
}

/** The ranges on the other side that a range [begin, end] is linked with. side 0: of the source, 1: of the target. */
export function linked(links, side, begin, end) {
  const from = side * 2, to = 2 - from;
  return links.filter(l => l[from] < end && l[from + 1] > begin).map(l => [l[to], l[to + 1]]);
}

/** How probable the model thinks a range of a translation is, given all before it; null where nothing is known. */
export function probability(tokens, begin, end) {
  const inside = (tokens ?? []).filter(t => t[0] < end && t[1] > begin);
  return inside.length ? Math.exp(inside.reduce((sum, t) => sum + t[2], 0)) : null;
}

/** The same as 'high', 'mid', 'low', or '' where nothing is known. */
export function confidence(tokens, begin, end) {
  const p = probability(tokens, begin, end);
  return p === null ? '' : p >= 0.5 ? 'high' : p >= 0.2 ? 'mid' : 'low';
}

/** Whether lines were wrapped, as format_text.c finds it. */
function areWrapped(lines) {
  const width = line => [...line.trimEnd()].length, widest = Math.max(...lines.map(width)), last = lines.length - 1;
  const indent = line => line.search(/\S/), ends = line => /[.!?:;]\s*$/.test(line);
  return last > 0 && widest >= 40 && widest <= 160 && !lines.some(line => /^\s*(>|[-*+•–·] |```|~~~)/.test(line)) &&
    lines.every((line, i) => i < 2 || indent(line) === indent(lines[1])) &&
    lines.every((line, i) => i === last || width(line) + 1 + width(lines[i + 1].trim().split(/\s/)[0]) > widest) &&
    2 * lines.slice(0, last).filter(ends).length <= last &&
    (last > 3 || lines.slice(1).some(line => /^\s*\p{Ll}/u.test(line)));
}

/** Text with wrapped paragraphs joined. */
export function unwrapped(text) {
  const joined = part => areWrapped(part.split('\n')) ? part.replace(/\s*\n\s*/g, ' ') : part;
  return text.split(/(\n\s*\n|\n$)/).map(joined).join('');
}
