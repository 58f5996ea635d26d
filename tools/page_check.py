#!/usr/bin/env python3
"""page_check.py GANZ [FOLDER]: the page of `ganz serve` in Debian's Chromium, with playwright and axe from PyPI.

Starts GANZ serve with the models that come with it and uses the page as people do: typing, words, documents, keyboard,
phone, dark, without JavaScript. Writes screenshots to FOLDER. Ends with 77 where browser or packages are missing:
apt-get install chromium; pip install playwright axe-playwright-python
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

CHROMIUM = '/usr/bin/chromium'
try:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright
except ImportError as missing:
    print(f'page_check: skipped: {missing}')
    sys.exit(77)
if not os.path.exists(CHROMIUM):
    print(f'page_check: skipped: there is no {CHROMIUM}')
    sys.exit(77)

TRAIN = 'The train leaves at half past seven.'
LATE = 'Please come a little earlier.'


class Failed(Exception):
    pass


def expect(holds, what):
    if not holds:
        raise Failed(what)


def same(is_, should, what):
    expect(is_ == should, f'{what}: {is_!r}, not {should!r}')


class Check:
    """A server, a browser, and what the pages have said on their consoles."""

    def __init__(self, ganz, browser, url, shots):
        self.ganz, self.browser, self.url, self.shots = ganz, browser, url, shots
        self.said, self.contexts = [], []

    def page(self, width=1280, height=800, scheme='light', locale='en-US', script='', **options):
        context = self.browser.new_context(viewport={'width': width, 'height': height}, color_scheme=scheme,
                                           locale=locale, reduced_motion='reduce', **options)
        self.contexts.append(context)
        page = context.new_page()
        page.add_init_script(script)
        page.set_default_timeout(20000)
        page.on('console', lambda m: self.said.append(f'{m.type}: {m.text}'))
        page.on('pageerror', lambda e: self.said.append(f'error: {e}'))
        page.sent = []
        page.on('request', lambda r: page.sent.append(json.loads(r.post_data)) if r.url.endswith('/ganz/translate') else None)
        page.goto(self.url)
        if options.get('java_script_enabled', True):
            page.wait_for_function('() => document.activeElement === document.getElementById("text")')
        return page

    def close(self):
        for context in self.contexts:
            context.close()
        self.contexts = []

    def cli(self, text, *options):
        """What the program itself says: the page must say the same."""
        out = subprocess.run([self.ganz, 'translate', '-q', '--text', text, *options], capture_output=True, text=True, check=True)
        return out.stdout.rstrip('\n')

    def shot(self, page, name):
        if self.shots:
            page.screenshot(path=os.path.join(self.shots, f'{name}.png'))


def settled(page):
    """Waits until nothing is waiting; the translation as it is read."""
    page.wait_for_function('''() => document.querySelectorAll('.waiting').length === 0
        && (document.querySelector('#output .s') || !document.getElementById('text').value.trim())''')
    return translation(page)


def translation(page):
    return page.evaluate('Array.from(document.querySelectorAll("#output .l"), l => l.textContent).join("\\n")')


def word(page, text):
    return page.locator('#output .w', has_text=re.compile(f'^{text}$')).first


def lit(page, side):
    return page.evaluate(f'Array.from(document.querySelectorAll("#{side} .lit"), w => w.textContent)')


def fill(page, text):
    page.fill('#text', text)
    return settled(page)


# ---- what is checked ----

def check_typing(check):
    page = check.page()
    page.type('#text', TRAIN, delay=15)
    same(settled(page), check.cli(TRAIN), 'typed')
    page.wait_for_function('() => document.getElementById("status").textContent.includes("Zug")')
    same(page.text_content('#count'), f'{len(TRAIN)} characters', 'counter')
    page.click('#clear')
    same(translation(page), '', 'after clearing')
    page.click('#example')
    expect('\n\n' in settled(page), 'the example has two paragraphs')


def check_only_changes(check):
    page = check.page()
    fill(page, f'{TRAIN} {LATE}\n\n{LATE}')
    del page.sent[:]
    page.focus('#text')
    page.keyboard.press('Control+End')
    page.keyboard.type(' Bring some water.')
    page.wait_for_timeout(400)
    whole = settled(page)
    texts = [t for s in page.sent for t in s['text'].split('\n')]
    expect(texts and all('train' not in t for t in texts), f'lines that stayed were sent: {texts}')
    expect('Bring some water.' in texts[-1].strip(), f'sent {texts[-1]!r}')
    same(whole, check.cli(f'{TRAIN} {LATE}\n\n{LATE} Bring some water.'), 'with a sentence more')
    del page.sent[:]
    fill(page, f'{TRAIN} {LATE} Bring some bread.\n\n{LATE} Bring some water.')
    texts = [t.strip() for s in page.sent for t in s['text'].split('\n')]
    same(texts, ['Bring some bread.'] if len(texts[0]) < 20 else [f'{LATE} Bring some bread.'], 'sent for a new last sentence')
    del page.sent[:]
    bus = TRAIN.replace('train', 'bus')
    fill(page, f'{bus} {LATE} Bring some bread.\n\n{LATE} Bring some water.')
    texts = [t.strip() for s in page.sent for t in s['text'].split('\n')]
    same(texts, [bus], 'sent for another first sentence')
    same(settled(page), check.cli(page.input_value('#text')), 'after both')


EDITS = r'''async () => {
  const {splitLines, pending, settle} = await import('/ganz/page/text.js');
  let seed = 7;
  const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const split = text => Array.from(text.matchAll(/\S[^.]*(\.|$)/g), m =>
    ({begin: m.index, end: m.index + m[0].length, translation: m[0].toUpperCase(), links: []}));
  const view = lines => JSON.stringify(lines.map(l => l.sentences.map(s => [s.begin, s.end, s.translation])));
  const answer = lines => { for (const l of lines) if (pending(l) !== null) settle(l, split(pending(l))); };
  const pieces = ['Aa bb cc.', ' ', '\n', 'dd', '. ', 'Ee ff.', '\n\n', 'g.', ' Hh ii jj. Kk'];
  let text = '', lines = [];
  for (let i = 0; i < 4000; i++) {
    const at = random(text.length + 1), gone = random(3) ? 0 : random(12);
    text = (text.slice(0, at) + (random(4) ? pieces[random(pieces.length)] : '') + text.slice(at + gone)).slice(0, 400);
    lines = splitLines(lines, text);
    if (random(3)) continue;
    answer(lines);
    const fresh = splitLines([], text);
    answer(fresh);
    if (view(lines) !== view(fresh)) return `after ${i} edits of ${JSON.stringify(text)}: ${view(lines)} is not ${view(fresh)}`;
  }
  return '';
}'''


def check_edits(check):
    """Whatever is edited, the sentences are those of the text as if it had come at once."""
    same(check.page().evaluate(EDITS), '', 'random edits')


def check_letters(check):
    """A name below the close of a letter stays, whatever was there first."""
    page = check.page()
    for text in ('Come soon.\n\nSee you soon,\nMark', 'Come soon.\n\nSee it,\nMark', 'Come soon.\n\nKind regards\n\nMark'):
        same(fill(page, text), check.cli(text), f'after {text!r}')
    for opening in ('Hi Sarah,', 'Dear Ms Jones,', 'Hello Mrs. Jones,', 'Hi Tom,', 'Leeds, 3 May\n\nSmith & Co.\n12 Main St.,\nSubject: your order.\n\nHi Tom,'):  # which says how all below it is said
        text = f'{opening}\n\nCould you send me your address? You should hurry, or call me.\n\nDid you book your flight?'
        same(fill(page, text), check.cli(text), f'after {text!r}')
        expect((' du ' in translation(page)) == (opening.splitlines()[-1][:2] == 'Hi'), f'{opening} {translation(page)!r}')
    for text in ('It is so.\n\nDear Ms Jones,\n\nCould you send me your address? You should hurry.',
                 'Tom wrote:\n> Hi Sarah,\n>\n> Could you send me your address? You should hurry.\n>\n> Kind regards\n>\n> Mark'):
        same(fill(page, text), check.cli(text), f'after {text!r}')
    text = 'Dear Anna,\n\nthe weather is very fine today, and we all go out.'
    same(fill(page, text), check.cli(text), f'after {text!r}')
    fill(page, 'Kind regards\n\nMark')
    expect(translation(page).endswith('\nMark'), f'the name became {translation(page)!r}')


LATE_FETCH = """const ask = window.fetch; let count = 0;
window.fetch = (url, options) => {  // the first answer comes last, and nothing is given up
  const {signal, ...rest} = options ?? {}, reply = ask(url, rest), late = count++ === 0;
  return late ? new Promise(resolve => setTimeout(() => { window.late = true; resolve(reply); }, 1500)) : reply;
};"""


def check_late_answers(check):
    page = check.page(script=LATE_FETCH)
    page.fill('#text', TRAIN)
    page.wait_for_timeout(300)
    page.fill('#text', f'{TRAIN}\n{LATE}')
    same(settled(page), check.cli(f'{TRAIN}\n{LATE}'), 'the newer text')
    page.wait_for_function('() => window.late')
    page.wait_for_timeout(200)
    same(translation(page), check.cli(f'{TRAIN}\n{LATE}'), 'after the late answer')
    same(page.text_content('#problem'), '', 'a problem')


def check_long_text(check):
    """More lines than one request may have; all of them come, in order, the first ones early."""
    page = check.page()
    lines = [f'{TRAIN} {i}.' if i % 7 else '' for i in range(400)]
    page.evaluate("""text => { const field = document.getElementById('text');
        field.value = text; field.dispatchEvent(new Event('input')); }""", '\n'.join(lines))  # as if pasted
    page.set_default_timeout(120000)
    page.wait_for_selector('#output .s')
    expect(page.locator('.waiting').count() > 0, 'the first lines came last')
    expect(len(page.sent[0]['text']) <= 1100, 'the first request is not short')
    said = settled(page).split('\n')
    same(len(said), 400, 'lines')
    same([bool(line) for line in said], [bool(line) for line in lines], 'lines with text')
    expect(max(len(s['text']) for s in page.sent) <= 4100, 'a request is too long')
    same(said[5], check.cli(lines[5]), 'a line')


def check_wrapped_text(check):
    """Paragraphs that a mail program wrapped are pasted whole; lists, poems and code keep their lines."""
    page = check.page()
    put = """text => { const field = document.getElementById('text'), data = new DataTransfer();
        field.select(); data.setData('text/plain', text);
        const e = new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true});
        if (field.dispatchEvent(e)) field.setRangeText(text, 0, field.value.length, 'end'); // as browsers do
        field.dispatchEvent(new Event('input')); return field.value; }"""
    wrapped = 'The committee that met last week has decided that the\ntrain to Berlin will no longer stop in our small town.'
    whole = wrapped.replace('\n', ' ')
    same(page.evaluate(put, f'Hello,\n\n{wrapped}\n\nBye'), f'Hello,\n\n{whole}\n\nBye', 'a wrapped paragraph')
    same(settled(page).split('\n')[2], check.cli(whole), 'its translation')
    for kept in ('- one thing that is on this list of things here\n- two things that are on this list of things here',
                 'Roses are red,\nviolets are blue,\nsugar is sweet.', 'First line of an address\nBerlin',
                 '> The committee that met last week has decided that the\n> train to Berlin will no longer stop here.'):
        same(page.evaluate(put, kept), kept, 'lines that stay')


def check_detection(check):
    page = check.page()
    page.select_option('#source', 'auto')
    page.fill('#text', 'Der Zug fährt heute leider nicht, und auch morgen nicht.')
    page.wait_for_selector('#output .s >> text=train')
    same(page.input_value('#target'), 'en', 'the target, since the text is German')
    expect('German (detected)' in page.text_content('#source'), page.text_content('#source'))
    page.click('#swap')
    same((page.input_value('#source'), page.input_value('#target')), ('en', 'de'), 'swapped')


def check_other_language(check):
    page = check.page()
    fill(page, TRAIN)
    page.wait_for_timeout(300)
    expect(page.is_hidden('#other-source'), 'English is taken for another language')
    page.fill('#text', 'Der Zug fährt heute leider nicht, und auch morgen nicht. http://x.example/' + 'abcdef/' * 30)
    page.wait_for_selector('#other-source >> text=Is this German?')
    page.click('#other-source')
    page.wait_for_selector('#output .s >> text=train')
    same((page.input_value('#source'), page.input_value('#target')), ('de', 'en'), 'the languages')
    page.wait_for_selector('#other-source', state='hidden')


def check_long_words(check):
    for width in (1280, 320):
        page = check.page(width, 800)
        page.fill('#text', 'https://www.example.org/' + 'a' * 500)
        settled(page)
        wide = page.evaluate('[document.documentElement.scrollWidth, innerWidth]')
        expect(wide[0] <= wide[1], f'{width}: {wide[0]} points wide')


def check_too_long(check):
    page = check.page(locale='de-DE')
    page.fill('#text', 'Wort ' * 21000)
    page.wait_for_selector('#problem >> text=Eine Zeile darf hier 100.000 Zeichen haben.')
    check.said = []  # the browser notes the status


def check_no_server(check):
    page = check.page()
    page.route('**/ganz/translate', lambda route: route.abort())
    page.fill('#text', TRAIN)
    page.wait_for_selector('#problem >> text=The server does not answer.')
    page.unroute('**/ganz/translate')
    same(settled(page), check.cli(TRAIN), 'once it answers again, without a key')
    page.wait_for_function('() => !document.getElementById("problem").textContent')
    check.said = []  # the browser notes the failure


def check_words(check):
    page = check.page()
    first = fill(page, TRAIN)
    word(page, 'fährt').click()
    page.wait_for_selector('#panel .way')
    page.wait_for_function('() => !document.querySelector("#panel [aria-busy]")')
    ways = page.locator('#panel .way').all_text_contents()
    expect(len(ways) >= 3 and first not in ways, f'ways: {ways}')
    check.shot(page, 'panel')
    other = page.locator('#panel .way').last.text_content()
    page.locator('#panel .way').last.click()
    same(translation(page), other, 'the chosen one')
    expect(page.is_hidden('#panel'), 'the panel stays open')
    fill(page, f'{TRAIN} {LATE}')
    expect(translation(page).startswith(other), 'a sentence more has undone the choice')
    page.locator('#output .w').first.click()
    page.click('#panel >> text=Back to the first translation')
    expect(translation(page).startswith(first), 'not back to the first')


def check_prefix(check):
    page = check.page()
    fill(page, TRAIN)
    page.locator('#output .w').first.click()
    page.fill('#own', 'Um')
    page.press('#own', 'Enter')
    page.wait_for_selector('#panel li:has(.kept) >> text=Um')
    page.locator('#panel .way', has_text=re.compile('^Um ')).first.click()
    said = translation(page)
    with tempfile.NamedTemporaryFile('w') as file:
        file.write('Um\n')
        file.flush()
        same(said, check.cli(TRAIN, '--prefix', file.name, '--format', 'lines'), 'with a beginning of our own')
    word(page, 'acht').click()
    page.wait_for_function('() => !document.querySelector("#panel [aria-busy]")')
    first = page.locator('#panel ul').first.locator('.way').all_text_contents()
    expect(all(w.startswith('Um halb') for w in first), f'gone on from "acht": {first}')


def check_links(check):
    page = check.page()
    fill(page, TRAIN)
    word(page, 'Zug').hover()
    same(lit(page, 'mirror'), ['train'], 'from "Zug"')
    expect('Zug' in lit(page, 'output'), 'the word itself')
    box = page.locator('#mirror .w', has_text='half').bounding_box()
    page.mouse.move(box['x'] + box['width'] / 2, box['y'] + box['height'] / 2)
    same(lit(page, 'output'), ['halb'], 'from "half"')
    page.mouse.move(0, 0)
    same(lit(page, 'output'), [], 'after leaving')
    page.focus('#text')
    page.evaluate('document.getElementById("text").setSelectionRange(5, 5)')
    page.wait_for_function('() => document.querySelector("#output .lit")')
    expect('Zug' in lit(page, 'output'), 'from the caret')
    page.fill('#text', 'One. Two.\n\nThree – with a word that is long enough to be wrapped at the end of a line, as we hope.')
    settled(page)
    boxes = page.evaluate('''() => { const m = document.getElementById('mirror'), t = document.getElementById('text');
        return [m.offsetWidth, t.offsetWidth, m.offsetHeight, t.offsetHeight, t.scrollHeight]; }''')
    expect(boxes[0] == boxes[1] and boxes[2] == boxes[3] and boxes[4] <= boxes[3], f'mirror and text: {boxes}')


def check_confidence(check):
    page = check.page()
    fill(page, f'{TRAIN} Blorf the quirmish sneezle under grombled vax of nyxt.')
    same(page.get_attribute('#sure', 'aria-pressed'), 'false', 'before')
    page.click('#sure')
    same(page.get_attribute('#sure', 'aria-pressed'), 'true', 'after')
    kinds = page.evaluate('''() => Array.from(document.querySelectorAll("#output .s"), s =>
        Array.from(s.querySelectorAll(".w"), w => w.className.split(" ")[1]))''')
    first, last = kinds[0], kinds[-1]
    expect(all(k in ('high', 'mid', 'low') for s in kinds for k in s), f'{kinds}')
    expect(first.count('high') / len(first) > last.count('high') / len(last) and 'low' in last, f'{kinds}')
    shown = page.evaluate('getComputedStyle(document.querySelector("#output .w.low")).textDecorationLine')
    same(shown, 'underline', 'a doubtful word')
    check.shot(page, 'confidence')
    page.click('#output .w')
    told = page.text_content('#panel p.none')
    check.shot(page, 'confidence-panel')
    expect(re.search(r'The model is \d+% sure of', told), told)
    expect(page.is_visible('#legend'), 'no legend')


def check_swap_and_copy(check):
    page = check.page(permissions=['clipboard-read', 'clipboard-write'])
    german = fill(page, TRAIN)
    page.click('#copy')
    page.wait_for_function('() => document.getElementById("copy").textContent === "Copied"')
    same(page.evaluate('navigator.clipboard.readText()'), german, 'copied')
    page.click('#swap')
    same(page.input_value('#text'), german, 'swapped')
    same((page.input_value('#source'), page.input_value('#target')), ('de', 'en'), 'the languages')
    page.wait_for_timeout(300)
    same(settled(page), check.cli(german, '--from', 'de'), 'back')
    page.reload()
    page.wait_for_function('() => document.activeElement === document.getElementById("text")')
    same(page.input_value('#source'), 'de', 'the pair after loading anew')


def check_files(check):
    page = check.page()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'note.html')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(f'<html lang="en"><body><p>{TRAIN}</p><p><b>{LATE}</b></p></body></html>\n')
        page.set_input_files('#file', path)
        with page.expect_download() as download:
            page.click('#jobs a.save')
        same(download.value.suggested_filename, 'note_de.html', 'name')
        with open(download.value.path(), encoding='utf-8') as file:
            told = subprocess.run([check.ganz, 'translate', '-q', path], capture_output=True, text=True, check=True).stdout
            same(file.read(), told, 'the document')
    page.evaluate('''() => { const data = new DataTransfer();
        data.items.add(new File(['Good morning.\\n'], 'dropped.txt', {type: 'text/plain'}));
        for (const kind of ['dragenter', 'dragover', 'drop'])
          document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true})); }''')
    page.wait_for_selector('#jobs >> text=Save dropped_de.txt')
    page.set_input_files('#file', {'name': 'broken.docx', 'mimeType': 'application/octet-stream', 'buffer': b'PK\x03\x04 nothing'})
    page.wait_for_selector('#jobs .failed')
    check.said = [m for m in check.said if '400' not in m and '500' not in m]  # the browser tells of failed requests
    page.locator('#jobs .failed .icon').click()
    same(page.locator('#jobs li').count(), 2, 'after removing one')
    check.shot(page, 'files')


def check_document_while_the_network_is_away(check):
    """The server works on meanwhile, and the result comes once it can be asked again."""
    page = check.page(locale='de-DE')
    asked = []

    def answer(route):
        asked.append(route)
        if len(asked) == 2:
            route.fulfill(status=429, headers={'Retry-After': '1'}, body='<html>')  # as nginx does it
        elif len(asked) == 3:
            route.abort()
        else:
            route.continue_()
    page.route(re.compile('/ganz/document/[^/]*$'), answer)
    page.set_input_files('#file', {'name': 'a.txt', 'mimeType': 'text/plain', 'buffer': b''.join(
        b'House number %d by the river is older than the bridge.\n' % i for i in range(1000))})
    page.wait_for_selector('#jobs .state >> text=ist ausgelastet')
    page.wait_for_selector('#jobs .state >> text=antwortet nicht')
    page.wait_for_selector('#jobs >> text=a_de.txt speichern', timeout=120000)
    check.said = []  # the browser notes the failures


def check_document_without_room(check):
    """A document that the server has no room for is sent again; one that was given up meanwhile is not, and the next one
    does not wait for it."""
    page = check.page(locale='de-DE')
    asked = []

    def answer(route):
        asked.append(route)
        if len(asked) in (1, 3):
            seconds = '1' if len(asked) == 1 else '30'
            route.fulfill(status=503, headers={'Retry-After': seconds}, body='{"error":"no room for more documents now"}')
        else:
            route.continue_()
    page.route(re.compile('/ganz/document$'), answer)
    document = {'name': 'a.txt', 'mimeType': 'text/plain', 'buffer': b'Good morning.\n'}
    page.set_input_files('#file', document)
    page.wait_for_selector('#jobs .state >> text=ist ausgelastet')
    page.wait_for_selector('#jobs >> text=a_de.txt speichern')
    page.set_input_files('#file', document)
    page.wait_for_selector('#jobs .state >> text=ist ausgelastet')
    page.locator('#jobs .icon').last.click()
    page.set_input_files('#file', {**document, 'name': 'b.txt'})
    page.wait_for_selector('#jobs >> text=b_de.txt speichern', timeout=10000)
    same((len(asked), page.locator('#jobs li').count()), (4, 2), 'sent again')
    check.said = []  # the browser notes the statuses


def check_refusals(check):
    """What a visitor can do something about is said in the language of the page."""
    page = check.page(locale='de-DE')
    for name, bytes_, said in (('a.pdf', b'%PDF-1.4\n\0', 'Dateien dieser Art'), ('a.txt', b'Hi. ' * 2700000, 'zu groß')):
        page.set_input_files('#file', {'name': name, 'mimeType': 'application/octet-stream', 'buffer': bytes_})
        page.wait_for_selector(f'#jobs .failed .state >> text={said}')
    page.fill('#text', 'So. ' * 1100)
    page.wait_for_selector('#problem >> text=1.024 Sätze')
    page.route('**/ganz/translate', lambda route: route.fulfill(status=504, body='<html>'))  # as a proxy does it
    page.fill('#text', TRAIN)
    page.wait_for_selector('#problem >> text=HTTP 504')
    check.said = []  # the browser notes the statuses


def check_key(check):
    """Once a key is there the text is asked for again."""
    usual = check.url
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'keys')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('a-key\n')
        server, check.url = start(check.ganz, '--keys', path)
        try:
            page = check.page(locale='de-DE')
            page.fill('#text', TRAIN)
            page.wait_for_selector('#problem >> text=verlangt einen API-Schlüssel')
            page.fill('#key', 'another')
            page.wait_for_selector('#problem >> text=kennt diesen API-Schlüssel nicht')
            page.fill('#key', 'a-key')
            same(settled(page), check.cli(TRAIN), 'with the key')
            same(page.text_content('#problem'), '', 'a problem')
        finally:
            server.terminate()
            server.wait()
            check.url = usual
    check.said = []  # the browser notes the statuses


def check_keyboard(check):
    page = check.page(permissions=['clipboard-read', 'clipboard-write'])
    page.keyboard.type(TRAIN)
    page.keyboard.press('Control+Enter')
    german = settled(page)
    wanted = ['other-language', 'theme', 'source', 'swap', 'target', 'formality', 'text', 'clear', 'output', 'copy', 'sure',
              'file']
    page.focus('.skip')
    order = []
    for _ in wanted:
        page.keyboard.press('Tab')
        order.append(page.evaluate('document.activeElement.id'))
    same(order, wanted, 'order of the focus')
    page.focus('#copy')
    page.keyboard.press('Shift+Tab')
    page.keyboard.press('ArrowRight')
    expect('Zug' in lit(page, 'output') and 'train' in lit(page, 'mirror'), f'by arrow keys: {lit(page, "output")}')
    page.keyboard.press('ArrowRight')
    page.keyboard.press('Enter')
    page.wait_for_selector('#panel .way')
    same(page.evaluate('document.activeElement.id'), 'panel', 'focus in the panel')
    page.keyboard.press('Escape')
    expect(page.is_hidden('#panel'), 'Escape')
    same(page.evaluate('document.activeElement.id'), 'output', 'focus after the panel')
    page.keyboard.press('Enter')
    page.wait_for_selector('#panel .way')
    page.keyboard.press('ArrowDown')
    chosen = page.evaluate('document.activeElement.textContent')
    page.keyboard.press('Enter')
    same(translation(page), chosen, 'chosen by keyboard')
    page.keyboard.press('Alt+c')
    page.wait_for_function('() => document.getElementById("status").textContent === "Copied"')
    same(page.evaluate('navigator.clipboard.readText()'), chosen, 'Alt+C')
    page.keyboard.press('Alt+s')
    same(page.input_value('#source'), 'de', 'Alt+S')
    expect(german != chosen, 'nothing else was chosen')


def check_sizes(check):
    for width, height in ((1280, 800), (768, 1000), (390, 844), (320, 640)):
        page = check.page(width, height, has_touch=width < 500, is_mobile=width < 500)
        page.click('#example')
        settled(page)
        word(page, 'Zug').click()
        page.wait_for_selector('#panel .way')
        wide = page.evaluate('[document.documentElement.scrollWidth, innerWidth]')
        expect(wide[0] <= wide[1], f'{width}: {wide[0]} points wide')
        box = page.locator('#panel').bounding_box()
        expect(box['x'] >= 0 and box['x'] + box['width'] <= width, f'{width}: the panel is outside: {box}')
        source, target = page.locator('#text').bounding_box(), page.locator('#output').bounding_box()
        beside = target['x'] >= source['x'] + source['width'] - 1
        same(beside, width >= 768, f'{width}: side by side')


def check_narrow(check):
    """Languages and forms of address are read whole on a small phone, in both languages of the interface."""
    for locale in ('de-DE', 'en-US'):
        page = check.page(320, 640, locale=locale, has_touch=True, is_mobile=True)
        for form in (0, 1, 2):
            page.select_option('#formality', index=form)
            widths = page.evaluate("""() => Array.from(document.querySelectorAll('.pair select'), s => {
                const text = document.createElement('span'), style = getComputedStyle(s);
                text.style.cssText = `position: absolute; font: ${style.font}`;
                text.textContent = s.selectedOptions[0].textContent; document.body.append(text);
                const wide = text.getBoundingClientRect().width; text.remove();
                return [s.id, wide, s.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)]; })""")
            same([w[0] for w in widths if w[1] > w[2] + 1], [], f'cut short, {locale}, form {form}: {widths}')
            same(page.evaluate('document.documentElement.scrollWidth'), 320, f'{locale}, form {form}: points wide')


def check_dark(check):
    def paper(page):
        return sum(map(int, re.findall(r'\d+', page.evaluate('getComputedStyle(document.body).backgroundColor'))[:3]))
    light, dark = check.page(), check.page(scheme='dark')
    expect(paper(light) > 600 and paper(dark) < 150, 'colours of the system')
    dark.click('#theme')
    expect(paper(dark) > 600, 'the switch')
    dark.reload()
    expect(paper(dark) > 600, 'the switch after loading anew')
    light.click('#theme')
    expect(paper(light) < 150, 'the switch to dark')


def check_languages(check):
    page = check.page(locale='de-DE')
    same(page.get_attribute('html', 'lang'), 'de', 'language of the page')
    expect('Alles bleibt auf diesem Rechner.' in page.text_content('header'), 'the line')
    fill(page, TRAIN)
    page.click('#other-language')
    page.wait_for_selector('html[lang=en] #output .s')
    same(settled(page), check.cli(TRAIN), 'the text goes along')
    expect('train' not in page.url, 'the text is in the address')


def check_without_javascript(check):
    page = check.page(java_script_enabled=False)
    expect(page.is_hidden('#copy') and page.is_hidden('#swap') and page.is_hidden('#files'), 'buttons that do nothing')
    page.fill('#text', f'{TRAIN}\n\nA <b> & "c".')
    page.click('button[type=submit]')
    said = page.text_content('#output')
    expect(said.startswith(check.cli(TRAIN)), f'{said!r}')
    expect('<b>' in said or '&' in said, 'marks')
    same(page.input_value('#text').replace('\r', ''), f'{TRAIN}\n\nA <b> & "c".', 'the text stays')
    page.select_option('#source', 'de')
    page.select_option('#target', 'en')
    page.fill('#text', 'Guten Morgen.')
    page.click('button[type=submit]')
    same(page.text_content('#output').strip(), check.cli('Guten Morgen.', '--from', 'de'), 'the other way')
    same((page.input_value('#source'), page.input_value('#target')), ('de', 'en'), 'the languages stay')
    german = check.page(java_script_enabled=False, locale='de-DE')
    german.click('button[type=submit]')
    same(german.get_attribute('html', 'lang'), 'de', 'language after the form')
    check.shot(page, 'form')


def check_hostile(check):
    page = check.page()
    text = '<img src=x onerror=alert(1)> <script>alert(2)</script> "&amp; \u2028 😀'
    fill(page, text)
    same(page.locator('#output img, #output script, #mirror img, #mirror script').count(), 0, 'elements made from text')
    page.route('**/ganz/translate', lambda route: route.abort())
    page.fill('#text', TRAIN)
    page.wait_for_function('() => document.getElementById("problem").textContent.includes("does not answer")')
    page.unroute('**/ganz/translate')
    page.press('#text', 'Control+Enter')
    same(settled(page), check.cli(TRAIN), 'after a failure')
    same(page.text_content('#problem'), '', 'the message is gone')
    check.said = [m for m in check.said if 'ERR_FAILED' not in m]


def check_headers(check):
    for path, kind in (('/', 'text/html'), ('/ganz/page/style.css', 'text/css'), ('/ganz/page/page.js', 'text/javascript'), ('/ganz/page/icon.svg', 'image/svg+xml')):
        with urllib.request.urlopen(check.url.rstrip('/') + path) as reply:
            expect(reply.headers['Content-Type'].startswith(kind), f'{path}: {reply.headers["Content-Type"]}')
            policy = reply.headers['Content-Security-Policy']
            expect("default-src 'none'" in policy and 'unsafe' not in policy, f'{path}: {policy}')
            same(reply.headers['X-Content-Type-Options'], 'nosniff', path)
            tag = reply.headers['ETag']
        request = urllib.request.Request(check.url.rstrip('/') + path, headers={'If-None-Match': tag})
        try:
            urllib.request.urlopen(request)
            raise Failed(f'{path}: no 304 for its own ETag')
        except urllib.error.HTTPError as error:
            same(error.code, 304, path)


def axe(page, what):
    found = Axe().run(page).response['violations']
    expect(not found, f'axe, {what}: ' + '; '.join(f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in found))


def check_axe(check):
    for width, scheme, locale in ((1280, 'light', 'en-US'), (1280, 'dark', 'de-DE'), (320, 'light', 'de-DE'), (320, 'dark', 'en-US')):
        name = f'{width} {scheme} {locale}'
        page = check.page(width, 800, scheme, locale)
        axe(page, f'{name}, empty')
        page.set_input_files('#file', {'name': 'a.txt', 'mimeType': 'text/plain', 'buffer': b'Good morning.\n'})
        fill(page, f'{TRAIN} Blorf the quirmish sneezle under grombled vax of nyxt.')
        page.wait_for_selector('#jobs a.save')
        page.click('#sure')
        page.click('summary')
        axe(page, f'{name}, full')
        word(page, 'Zug').click()
        page.wait_for_selector('#panel .way')
        page.wait_for_function('() => !document.querySelector("#panel [aria-busy]")')
        axe(page, f'{name}, panel')
    axe_without = check.page(1280, 800)
    axe_without.fill('#text', TRAIN)
    axe(axe_without, 'while it waits')


def screenshots(check):
    for width, height in ((1280, 800), (768, 1000), (390, 844)):
        for scheme in ('light', 'dark'):
            page = check.page(width, height, scheme)
            check.shot(page, f'{width}-{scheme}-empty')
            page.click('#example')
            settled(page)
            word(page, 'Zug').hover()
            check.shot(page, f'{width}-{scheme}')


def start(ganz, *options):
    """Starts the server on a port that the system chooses; gives process and address."""
    server = subprocess.Popen([ganz, 'serve', '--port', '0', *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in server.stdout:
        found = re.search(r'http://[0-9.]+:\d+', line)
        if found:
            return server, found.group() + '/'
    raise Failed('the server does not say where it listens')


def run(ganz, url, shots):
    failures = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=['--no-sandbox', '--disable-dev-shm-usage'])
        check = Check(ganz, browser, url, shots)
        only = os.environ.get('ONLY')
        checks = [f for name, f in globals().items() if name.startswith('check_') and (not only or only in name)]
        for one in checks + ([screenshots] if shots else []):
            try:
                one(check)
                expect(not check.said, f'said on the console: {check.said}')
                print(f'ok   {one.__name__}')
            except Exception as error:  # playwright's time-outs too
                failures += 1
                print(f'FAIL {one.__name__}: {error}')
            sys.stdout.flush()
            check.said = []
            check.close()
        browser.close()
    return failures


def main():
    ganz, shots = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    server, url = (None, os.environ['PAGE_URL']) if 'PAGE_URL' in os.environ else start(ganz)
    try:
        failures = run(ganz, url, shots)
    finally:
        if server:
            server.terminate()
            server.wait()
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
