// The calls that the page makes. Every failure becomes an Error whose message can be shown.
import {number, say} from './words.js';

const key = document.getElementById('key'); // shown where the server wants one

export class Busy extends Error {
  constructor(seconds) { super(say('busy')); this.seconds = seconds; }
}

/** What the server refused, in the page's language where a visitor can do something about it. */
function refusal(status, sentence) {
  const limit = /text limit \((\d+)\)/.exec(sentence), sentences = /more than (\d+) sentences/.exec(sentence);
  if (limit) return say('long', {n: number(Number(limit[1]))});
  if (sentences) return say('many', {n: number(Number(sentences[1]))});
  if (/API key/.test(sentence)) return key.value ? say('key_wrong') : say('key_wanted');
  if (/format not supported/.test(sentence)) return say('file_kind');
  return status === 413 ? say('too_large') : sentence;
}

/** What a status other than 200 means, with its body, which a proxy has in its own way; `after` is its Retry-After, or
 *  null. HTTP/2 has no words for a status. */
function failure(status, body, after) {
  const busy = [429, 502, 503].includes(status); // 502: a proxy whose server is being started again
  if (busy) return new Busy(Math.min(30, Number(after) || 1));
  return new Error(refusal(status, body?.error || `HTTP ${status}`));
}

async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw failure(response.status, body, response.headers.get('Retry-After'));
}

async function post(address, body, signal) {
  return answer(await fetch(address, {
    method: 'POST', signal, cache: 'no-store',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({...body, ...(key.value && {api_key: key.value})}),
  }));
}

const ask = (body, signal) => post('/ganz/translate', {...body, alignment: true, words: true}, signal);

/** The language of a text, among those that models translate from, if the server is nearly sure; else null. */
export async function languageOf(text, signal) {
  const [best] = await post('/detect', {q: text}, signal);
  return best?.confidence > 95 ? best.language : null;
}

/** A translation of the server's as the page has them. Links and words are absent where the model did not see the
 *  sentence as it is. */
const translation = t => ({translation: t.text, links: t.links ?? [], words: t.words ?? null});

/** Translates pieces of text, each within one line; context as text.js has it for them. Gives {source, results}: results
 *  has for each piece its sentences as in text.js. The pieces go as lines of one text, and since a line ends a sentence
 *  each one is in one of them. */
export async function translate(pieces, context, pair, signal) {
  const reply = await ask({text: pieces.join('\n'), ...context, ...pair}, signal);
  const results = pieces.map(() => []);
  let at = 0, piece = 0;
  for (const s of reply.sentences) {
    while (s.begin >= at + pieces[piece].length + 1) at += pieces[piece++].length + 1;
    results[piece].push({begin: s.begin - at, end: s.end - at, ...translation(s.translations[0])});
  }
  return {source: reply.source, results};
}

/** Translations of one sentence, the best first, that begin with `prefix`. */
export async function alternatives(sentence, prefix, pair, signal) {
  const reply = await ask({sentences: [sentence], ...pair, alternatives: 3, ...(prefix && {prefix})}, signal);
  return reply.sentences[0].translations.map(translation);
}

const cancelled = () => new DOMException('cancelled', 'AbortError');

/** Sends a document; sent(part) is told how much of it has gone. Gives {id, status, ...}. fetch cannot tell that. */
function upload(file, pair, sent, signal) {
  return new Promise((resolve, reject) => {
    const form = new FormData(), request = new XMLHttpRequest();
    for (const [name, value] of Object.entries(pair)) form.append(name, value);
    if (key.value) form.append('api_key', key.value);
    form.append('file', file);
    request.responseType = 'json';
    request.upload.onprogress = e => { if (e.lengthComputable) sent(e.loaded / e.total); };
    request.onload = () => {
      const body = request.response ?? {};
      if (request.status === 200) resolve(body);
      else reject(failure(request.status, body, request.getResponseHeader('Retry-After')));
    };
    request.onerror = () => reject(new TypeError('network'));
    request.onabort = () => reject(cancelled());
    signal.addEventListener('abort', () => request.abort());
    request.open('POST', '/ganz/document');
    request.send(form);
  });
}

export const patience = 3000; // milliseconds before a server that does not answer is asked again

/** Waits, unless it is given up. */
const moment = (milliseconds, signal) => new Promise((resolve, reject) => {
  const giveUp = () => { clearTimeout(timer); reject(cancelled()); };
  const timer = setTimeout(() => { signal.removeEventListener('abort', giveUp); resolve(); }, milliseconds);
  signal.addEventListener('abort', giveUp);
});

/** The same once the server has room: a refusal has taken nothing in, so that it is sent again. */
async function handIn(file, pair, {sent, lost}, signal) {
  for (;;) {
    try {
      return await upload(file, pair, sent, signal);
    } catch (e) {
      if (!(e instanceof Busy)) throw e;
      lost(e);
      await moment(1000 * e.seconds, signal);
    }
  }
}

/** How a document is. The server works on while the network is away, or a proxy has enough: lost(e) tells of it, and it
 *  is asked again. */
async function stateOf(id, lost, signal) {
  for (;;) {
    try {
      return await answer(await fetch(`/ganz/document/${id}`, {signal, cache: 'no-store'}));
    } catch (e) {
      if (!(e instanceof TypeError || e instanceof Busy)) throw e;
      lost(e);
      await moment(e instanceof Busy ? 1000 * e.seconds : patience, signal);
    }
  }
}

/** Translates a document: sent(part) while it is sent, then done(part), or lost(error) while nobody answers, or has room.
 *  Gives {url, name} of the result. */
export async function translateDocument(file, pair, {sent, done, lost}, signal) {
  let state = await handIn(file, pair, {sent, lost}, signal);
  const forget = () => { fetch(`/ganz/document/${state.id}`, {method: 'DELETE'}).catch(() => {}); };
  signal.addEventListener('abort', forget);
  for (let wait = 100; state.status === 'queued' || state.status === 'translating'; wait = Math.min(1000, wait * 1.5)) {
    done(state.count ? state.done / state.count : 0);
    await moment(wait, signal);
    state = await stateOf(state.id, lost, signal);
  }
  signal.removeEventListener('abort', forget);
  if (state.status !== 'done') throw new Error(state.error || state.status);
  return {url: `/ganz/document/${state.id}/result`, name: state.name};
}
