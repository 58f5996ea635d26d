// The page: takes what is typed, sends the sentences that have changed, and shows the answers.
import * as api from './api.js';
import * as files from './files.js';
import * as panel from './panel.js';
import {contextOf, pending, plainText, settle, splitLines, unwrapped} from './text.js';
import * as view from './view.js';
import {number, say} from './words.js';

const pairs = new Set(document.body.dataset.pairs.split(' ')); // "en-de"
const forms = new Set(document.body.dataset.forms.split(' ')); // of them, with formal and informal address
const pause = 150;  // milliseconds after the last key
const keyPause = 700; // milliseconds after the last sign of a key
const telling = 30, sample = 600; // characters that tell a language, and so many are looked at
const soon = 1000, most = 4000; // characters of the first request and of others: a long text comes in parts
const manyLines = 256; // of a request: short ones are many sentences in few characters, and the server counts those
const $ = id => document.getElementById(id);
const field = $('text'), source = $('source'), target = $('target'), output = $('output'), problem = $('problem');
let lines = [];
let timer = 0, speaking = 0;
let turn = 0;        // of the newest request; an answer to an older one is dropped
let running = null;  // AbortController of the newest request
let detected = null; // the language the server found, with source "auto"
let choices = new Map(); // of sentences, what was chosen for them

const pair = () => ({source: source.value, target: target.value, formality: $('formality').value});

/* ---- translating while typing ---- */

function changed() {
  panel.close(false);
  lines = splitLines(lines, field.value);
  update();
  clearTimeout(timer);
  timer = setTimeout(send, pause);
}

function update() {
  view.show(lines);
  let n = 0;
  for (const character of field.value) n += character ? 1 : 0;
  $('count').textContent = n ? say('characters', {n: number(n)}) : '';
  $('clear').hidden = !field.value;
  $('example').hidden = Boolean(field.value);
  if (field.value.trim().length < telling) $('other-source').hidden = true;
  $('copy').disabled = !field.value.trim();
  if (!field.value.trim()) $('time').textContent = '';
}

/** Lines of the next request, of so many characters; none: all are translated. */
function nextLines(room) {
  const ask = [];
  let length = 0;
  for (const line of lines) {
    const part = pending(line);
    if (part === null) continue;
    if (ask.length && (length + part.length > room || ask.length === manyLines)) break;
    ask.push(line);
    length += part.length;
  }
  return ask;
}

async function send() {
  clearTimeout(timer);
  running?.abort();
  running = new AbortController();
  const mine = ++turn, began = performance.now();
  try {
    for (let ask = nextLines(soon), first = true; ask.length; ask = nextLines(most), first = false) {
      const language = first ? languageFor(ask) : detected || source.value; // one text, one language: its beginning's
      const reply = await api.translate(ask.map(pending), contextOf(ask), {...pair(), source: language}, running.signal);
      if (mine !== turn || !take(ask, reply)) return;
      $('time').textContent = say('milliseconds', {n: number(Math.round(performance.now() - began))});
      update();
    }
    complain('');
    speak();
    await offerLanguage(running.signal);
  } catch (e) {
    if (mine === turn && e.name !== 'AbortError') failed(e);
  }
}

/** Puts an answer in its place; false: with the languages that were found all begins anew. */
function take(ask, reply) {
  const other = targetsOf(reply.source).find(code => code !== reply.source);
  const same = source.value === 'auto' && reply.source === target.value && other;
  if (same) target.value = other;
  if (same || (detected && reply.source !== detected)) {
    fillTargets();
    detect(null);
    startAnew();
    return false;
  }
  ask.forEach((line, i) => {
    settle(line, reply.results[i]);
    line.sentences = line.sentences.map(s => chosenBefore(line, s));
  });
  detect(reply.source);
  return true;
}

/** The language to ask with: one that was detected stays for small changes, which say too little. */
function languageFor(ask) {
  const part = ask.reduce((sum, line) => sum + pending(line).length, 0);
  return detected && part < field.value.length / 2 ? detected : source.value;
}

function failed(e) {
  const offline = e instanceof TypeError;
  if (e instanceof api.Busy) timer = setTimeout(send, 1000 * e.seconds);
  if (offline) timer = setTimeout(send, api.patience);
  complain(offline ? say('offline') : e.message);
}

function complain(text) {
  if (problem.textContent !== text) problem.textContent = text;
}

/** Tells screen readers the translation, once it has rested. */
function speak() {
  clearTimeout(speaking);
  speaking = setTimeout(() => { $('status').textContent = say('translated', {text: plainText(lines).slice(0, 1000)}); }, 1000);
}

/** What was refused for want of a key is asked for again. */
function keyChanged() {
  clearTimeout(timer);
  timer = setTimeout(send, keyPause);
}

function startAnew() {
  lines = [];
  choices = new Map();
  changed();
  send();
}

/** Text in another language than the chosen one comes back as it is: a button offers the other one. */
async function offerLanguage(signal) {
  const text = field.value.replace(/\S+:\/\/\S+/g, '').trim().slice(0, sample), button = $('other-source');
  const code = source.value !== 'auto' && text.length >= telling ? await api.languageOf(text, signal) : null;
  const option = code && code !== source.value ? optionOf(source, code) : null;
  button.hidden = !option;
  if (option) button.textContent = say('looks', {language: option.textContent});
  if (option) button.value = code;
}

function takeOther() {
  source.value = $('other-source').value;
  languagesChanged();
  field.focus();
}

/* ---- a word of the translation ---- */

function openWord(word) {
  const place = view.placeOf(word);
  const line = lines.find(l => l.sentences?.includes(place.sentence));
  if (!line) return;
  const text = textOf(line, place.sentence);
  const languages = {...pair(), source: detected ?? source.value};
  panel.open(word, place, text, {...languages, opening: [line.opening ?? '']}, candidate => choose(line, place.sentence, candidate));
}

const textOf = (line, sentence) => line.text.slice(sentence.begin, sentence.end);

/** The sentence as it was chosen before, if it was. */
function chosenBefore(line, sentence) {
  const choice = choices.get(textOf(line, sentence));
  return choice && !sentence.first ? {...choice, begin: sentence.begin, end: sentence.end} : sentence;
}

const chosenPart = ({translation, links, words}) => ({translation, links, words});

function choose(line, sentence, candidate) {
  const first = sentence.first ?? chosenPart(sentence);
  const choice = chosenPart(candidate);
  if (first.translation === choice.translation) choices.delete(textOf(line, sentence));
  else choices.set(textOf(line, sentence), Object.assign(choice, {first, chosen: true}));
  line.sentences = line.sentences.map(s => s === sentence ? {...choice, begin: s.begin, end: s.end} : s);
  update();
  speak();
}

/* ---- languages ---- */

const targetsOf = from => Array.from(target.options, o => o.value).filter(to =>
  from === 'auto' ? true : pairs.has(`${from}-${to}`));

function fillTargets() {
  const codes = targetsOf(source.value);
  for (const option of target.options) option.disabled = option.hidden = !codes.includes(option.value);
  if (target.selectedOptions[0]?.disabled ?? true) target.value = codes[0] ?? '';
  $('swap').disabled = !canSwap();
  showForms();
  field.lang = source.value === 'auto' ? '' : source.value;
  output.lang = target.value;
}

/** The choice of a form of address, where a model knows it. A wish that the model cannot follow changes nothing. */
function showForms() {
  const from = detected ?? source.value, to = target.value;
  $('form-choice').hidden = !(from === 'auto' ? [...forms].some(p => p.endsWith(`-${to}`)) : forms.has(`${from}-${to}`));
}

const canSwap = () => pairs.has(`${target.value}-${detected ?? source.value}`);

/** The option for a language, with "auto" as one of them. */
const optionOf = (select, code) => Array.from(select.options).find(o => o.value === code);

function detect(code) {
  detected = source.value === 'auto' ? code : null;
  showForms();
  const auto = optionOf(source, 'auto');
  if (!auto) return;
  auto.dataset.name ??= auto.textContent;
  auto.textContent = detected ? say('detected', {language: optionOf(source, detected).textContent}) : auto.dataset.name;
  $('swap').disabled = !canSwap();
}

function swap() {
  if (!canSwap()) return;
  const text = plainText(lines), from = detected ?? source.value;
  source.value = target.value;
  fillTargets();
  target.value = from;
  if (text.trim()) field.value = text;
  languagesChanged();
  field.focus();
}

function languagesChanged() {
  detect(null);
  fillTargets();
  remember();
  startAnew();
}

/* ---- the rest ---- */

function store(key, value) {
  try { localStorage.setItem(key, value); } catch { /* storage is off */ }
}

const remember = () => store('ganz-pair', `${source.value} ${target.value}`);

function recall() {
  let before = '';
  try { before = localStorage.getItem('ganz-pair') ?? ''; } catch { /* storage is off */ }
  const [from, to] = before.split(' ');
  if (optionOf(source, from)) source.value = from;
  fillTargets();
  if (to && !(optionOf(target, to)?.disabled ?? true)) target.value = to;
  fillTargets();
}

async function copy() {
  const text = plainText(lines);
  if (!text.trim()) return;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not a secure place, such as another machine without TLS: the old way
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  $('copy').textContent = $('status').textContent = say('copied');
  setTimeout(() => { $('copy').textContent = say('copy'); }, 1500);
}

function toggleTheme() {
  const root = document.documentElement;
  const dark = (root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  root.dataset.theme = dark ? 'light' : 'dark';
  store('ganz-theme', root.dataset.theme);
}

function toggleSure() {
  const on = output.classList.toggle('sure');
  $('sure').setAttribute('aria-pressed', on);
  $('legend').hidden = !on;
}

/** Joins what a mail or a PDF wrapped. */
function paste(event) {
  const text = event.clipboardData.getData('text/plain').replace(/\r\n?/g, '\n'), whole = unwrapped(text);
  if (whole !== text && document.execCommand('insertText', false, whole)) event.preventDefault(); // can be undone
}

function clear() {
  field.value = '';
  changed();
  field.focus();
}

function example() {
  field.value = say(source.value === 'de' ? 'example_de' : 'example_en');
  startAnew();
  field.focus();
}

/** The interface in the other language: the text goes along in the browser, not in the address. */
function otherLanguage() {
  try { sessionStorage.setItem('ganz-text', field.value); } catch { /* it will be empty */ }
}

function textFromBefore() {
  try {
    const text = sessionStorage.getItem('ganz-text');
    sessionStorage.removeItem('ganz-text');
    if (text && !field.value) field.value = text;
  } catch { /* nothing was kept */ }
}

const mac = /Mac|iP(hone|ad)/.test(navigator.platform); // where Alt with a letter types another letter

function shortcut(e) {
  if (e.key === 'Escape') panel.close();
  if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && e.target === field) { e.preventDefault(); send(); }
  if (!e.altKey || e.ctrlKey !== mac || e.metaKey || e.shiftKey) return;
  if (e.code === 'KeyS') { e.preventDefault(); swap(); }
  if (e.code === 'KeyC') { e.preventDefault(); copy(); }
}

function caretMoved() {
  if (document.activeElement !== field) return;
  view.light(view.mirrorWordAtOffset(lines, field.selectionStart));
}

function connect() {
  field.addEventListener('input', changed);
  field.addEventListener('paste', paste);
  source.addEventListener('change', () => { fillTargets(); languagesChanged(); });
  target.addEventListener('change', languagesChanged);
  $('formality').addEventListener('change', startAnew);
  $('form').addEventListener('submit', e => { e.preventDefault(); send(); });
  $('key').addEventListener('input', keyChanged);
  $('swap').addEventListener('click', swap);
  $('copy').addEventListener('click', copy);
  $('clear').addEventListener('click', clear);
  $('example').addEventListener('click', example);
  $('other-source').addEventListener('click', takeOther);
  $('theme').addEventListener('click', toggleTheme);
  $('sure').addEventListener('click', toggleSure);
  $('other-language').addEventListener('click', otherLanguage);
  document.addEventListener('keydown', shortcut);
  document.addEventListener('selectionchange', caretMoved);
  view.listen(openWord);
  files.listen(() => ({...pair(), source: detected ?? source.value}));
}

function outputAsTextbox() {
  for (const [name, value] of [['role', 'textbox'], ['aria-readonly', 'true'], ['aria-multiline', 'true'],
    ['aria-labelledby', 'output-label'], ['tabindex', '0']]) output.setAttribute(name, value);
}

function start() {
  outputAsTextbox();
  connect();
  textFromBefore();
  recall();
  update();
  if (field.value.trim()) startAnew();
  field.focus();
}

start();
