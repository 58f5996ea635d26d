// The calls that the page makes. Every failure becomes an Error whose message can be shown.

export class Busy extends Error {
  constructor(seconds) { super('busy'); this.seconds = seconds; }
}

async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (response.status === 429 || response.status === 503) {
    throw new Busy(Math.min(30, Number(response.headers.get('Retry-After')) || 1));
  }
  if (!response.ok) throw new Error(body.error || response.statusText);
  return body;
}

async function post(body, signal) {
  return answer(await fetch('/ganz/translate', {
    method: 'POST', signal, cache: 'no-store',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({...body, alignment: true, scores: true}),
  }));
}

/** A translation of the server's as the page has them. Links and scores are absent where the model did not see the
 *  sentence as it is. */
const translation = t => ({translation: t.text, score: t.score ?? null, links: t.links ?? [], words: t.words ?? null});

/** Translates pieces of text, each within one line. Gives {source, results}: results has for each piece its sentences as
 *  in text.js. The pieces go as lines of one text, and since a line ends a sentence each one is in one of them. */
export async function translate(pieces, {source, target}, signal) {
  const reply = await post({text: pieces.join('\n'), source, target}, signal);
  const results = pieces.map(() => []);
  let at = 0, piece = 0;
  for (const s of reply.sentences) {
    while (s.begin >= at + pieces[piece].length + 1) at += pieces[piece++].length + 1;
    results[piece].push({begin: s.begin - at, end: s.end - at, ...translation(s.translations[0])});
  }
  return {source: reply.source, results};
}

/** Translations of one sentence, the best first, that begin with `prefix`. */
export async function alternatives(sentence, prefix, {source, target}, signal) {
  const reply = await post({sentences: [sentence], source, target, alternatives: 3, ...(prefix && {prefix})}, signal);
  return reply.sentences[0].translations.map(translation);
}

/** [{code, name, targets}] */
export async function languages() {
  return answer(await fetch('/languages'));
}

/** {charLimit, supportedFilesFormat, ...} */
export async function settings() {
  return answer(await fetch('/frontend/settings'));
}

/** Sends a document. progress(part) is told how much of it is sent, then null. Gives the address of the result. */
export function translateFile(file, {source, target}, progress, signal) {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    form.append('source', source);
    form.append('target', target);
    form.append('file', file);
    const request = new XMLHttpRequest();
    request.responseType = 'json';
    request.upload.onprogress = e => progress(e.lengthComputable && e.loaded < e.total ? e.loaded / e.total : null);
    request.upload.onload = () => progress(null);
    request.onload = () => {
      const body = request.response ?? {};
      if (request.status === 200 && body.translatedFileUrl) resolve(new URL(body.translatedFileUrl, location.href).pathname);
      else reject(new Error(body.error || request.statusText));
    };
    request.onerror = () => reject(new TypeError('network'));
    request.onabort = () => reject(new DOMException('cancelled', 'AbortError'));
    signal.addEventListener('abort', () => request.abort());
    request.open('POST', '/translate_file');
    request.send(form);
  });
}
