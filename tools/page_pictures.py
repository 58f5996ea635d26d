#!/usr/bin/env python3
"""page_pictures.py GANZ FOLDER: the three pictures of docs/, with the models the program has. Needs playwright, Pillow and
Debian's Chromium, as tools/page_check.py does."""
import argparse
import os
import re
import subprocess
import sys

try:
    from PIL import Image
    from playwright.sync_api import sync_playwright
except ImportError as missing:
    sys.exit(f'page_pictures: {missing}')

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument('ganz')
parser.add_argument('folder')
options = parser.parse_args()
ganz, folder = options.ganz, options.folder
os.makedirs(folder, exist_ok=True)
server = subprocess.Popen([ganz, 'serve', '--port', '0'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
url = next(m.group() for m in (re.search(r'http://[0-9.]+:\d+', line) for line in server.stdout) if m) + '/'


def settled(page):
    page.wait_for_function('''() => document.querySelectorAll('.waiting').length === 0 && document.querySelector('#output .s')''')


def word(page, text):
    return page.locator('#output .w', has_text=re.compile(f'^{text}$')).first


try:
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path='/usr/bin/chromium', args=['--no-sandbox', '--disable-dev-shm-usage'])
        for name, width, height, scheme, locale in (('page', 1280, 720, 'light', 'en-US'), ('page-words', 900, 640, 'dark', 'en-US'),
                                                    ('page-phone', 390, 640, 'light', 'de-DE')):
            context = browser.new_context(viewport={'width': width, 'height': height}, color_scheme=scheme, locale=locale,
                                          reduced_motion='reduce')
            page = context.new_page()
            page.goto(url)
            page.click('#example')
            settled(page)
            page.wait_for_timeout(500)
            if name == 'page':
                word(page, 'Fenster').hover()
            if name == 'page-words':
                page.locator('#output .w').nth(2).click()  # the third word of the first sentence
                page.wait_for_timeout(1500)
            page.wait_for_timeout(300)
            path = os.path.join(folder, name + '.png')
            page.screenshot(path=path)
            Image.open(path).convert('RGB').quantize(200, dither=Image.Dither.NONE).save(path, optimize=True)
finally:
    server.terminate()
    server.wait()
