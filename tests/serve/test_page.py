"""Tests of the page of `ganz serve` without a browser: test_page.py GANZ WEB, WEB being the folder of its files."""
import html
import json
import os
import re
import subprocess
import sys
import urllib.parse

from server import Server

GANZ, WEB = sys.argv[1:]
TEXT = 'The train leaves at half past seven.\n\n<b>"Please" & \'come\'</b> earlier.'


def equal(what, got, wanted):
    assert got == wanted, f"{what}: {got!r} instead of {wanted!r}"


def get(s, path, **headers):
    status, head, body = s.ask("GET", path, headers=headers)
    return status, head, body.decode()


def check_strings(s):
    """All texts of the page in both languages, none left over."""
    with open(f"{WEB}/index.html", encoding="utf-8") as f:
        slots = set(re.findall(r"\{\{(\w+)\}\}", f.read()))
    strings = {}
    for language in ("en", "de"):
        with open(f"{WEB}/strings.{language}.json", encoding="utf-8") as f:
            strings[language] = {k for k in json.load(f) if not k.startswith("name_")}
    equal("texts in German and English", strings["de"], strings["en"])
    filled = {"sources", "targets", "pairs", "place", "text", "problem", "version", "scheme", "host", "translation", "keyed",
              "forms", "form_hidden", "form_options"}
    equal("slots without a text", slots - strings["en"], filled)
    by_server = {k for k in strings["en"] if k.startswith(("place_", "problem_", "form_")) or k == "detect"}
    equal("texts without a slot", strings["en"] - slots, by_server)
    used = set()
    for name in os.listdir(WEB):
        if name.endswith(".js"):
            with open(f"{WEB}/{name}", encoding="utf-8") as f:
                used |= set(re.findall(r"say\('(\w+)'", f.read()))
    with open(f"{WEB}/index.html", encoding="utf-8") as f:
        equal("words that scripts use", used - set(re.findall(r'data-key="(\w+)"', f.read())), set())


def check_languages(s):
    for path, accept, wanted in (("/", "de-AT,de;q=0.9,en;q=0.5", "de"), ("/", "fr,en;q=0.8,de;q=0.5", "en"),
                                 ("/", "fr", "en"), ("/?lang=de", "en", "de"), ("/?lang=en", "de", "en"),
                                 ("/?lang=../../x", "de", "en"), ("/", "den,de", "de")):
        status, head, page = get(s, path, **{"Accept-Language": accept})
        equal(f"{path} for {accept}", (status, re.search(r'<html lang="(\w+)"', page).group(1)), (200, wanted))
        equal("slots that are left", re.findall(r"\{\{\w+\}\}", page), [])
        equal("Vary", head["vary"], "Accept-Language")
    for host, place in (("localhost:5000", "this machine"), ("192.0.2.7:5000", "192.0.2.7"), ("[2001:db8::1]:5000", "[2001:db8::1]")):
        said = re.search(r'id="place">([^<]*)', get(s, "/", Host=host, **{"Accept-Language": "en"})[2]).group(1)
        assert said.rstrip(".").endswith(" " + place), (host, said)
    page = get(s, "/", **{"Accept-Language": "de"})[2]
    assert '<option value="en" selected>Englisch</option>' in page and 'data-pairs="' in page, page
    pairs = re.search(r'data-pairs="([^"]*)"', page).group(1).split()
    equal("pairs", sorted(pairs), ["de-en", "en-de"])


def check_headers(s):
    for path, kind in (("/", "text/html"), ("/ganz/page/style.css", "text/css"),
                       ("/ganz/page/page.js", "text/javascript"), ("/ganz/page/icon.svg", "image/svg+xml")):
        status, head, body = get(s, path)
        equal(path, (status, head["content-type"].split(";")[0]), (200, kind))
        policy = head["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "*" not in policy, policy
        equal(f"{path} again", get(s, path, **{"If-None-Match": head["etag"]})[::2], (304, ""))
        assert get(s, path, **{"If-None-Match": '"0"'})[2] == body, path
        assert not re.search(r"https?://(?!\{\{|127\.0\.0\.1|www\.w3\.org/2000/svg)", body), f"{path} names another site"
    for path in ("/ganz/page/", "/ganz/page/../page.js", "/ganz/page/nothing.js", "/ganz/page/%2e%2e/x"):
        equal(path, get(s, path)[0], 404)


def post(s, fields, **headers):
    body = urllib.parse.urlencode(fields).encode()
    status, head, page = s.ask("POST", "/", body, {"Content-Type": "application/x-www-form-urlencoded", **headers})
    return status, head, page.decode()


def field(page, mark):
    return html.unescape(re.search(mark + r"[^>]*>\n?(.*?)</", page, re.S).group(1))


def check_form(s):
    told = subprocess.run([GANZ, "translate", "-q", "--format", "text"], input=TEXT.encode(), stdout=subprocess.PIPE, check=True)
    status, head, page = post(s, {"q": TEXT, "source": "en", "target": "de", "lang": "de"})
    equal("form", (status, field(page, "<textarea"), field(page, 'id="output"')), (200, TEXT, told.stdout.decode()))
    assert "<b>" not in page and '<html lang="de">' in page, "marks of the text"
    equal("empty", post(s, {"q": "", "source": "en", "target": "de"})[0], 200)
    equal("nothing", post(s, {})[0], 200)
    status, head, page = post(s, {"q": "a", "source": "en", "target": "xx"})
    equal("no such pair", (status, "no model for these" in page), (400, True))
    status, head, page = post(s, {"q": "a " * 60000, "source": "en", "target": "de"})
    equal("too long", (status, "too long" in page), (400, True))
    status, head, page = post(s, {"q": "Guten Morgen.", "source": "auto", "target": "en"})
    assert 'value="auto" selected' in page and "Good morning" in page, page
    for source in ("auto", "de"):
        status, head, page = post(s, {"q": "Guten Morgen, <b>wie</b> geht es?", "source": source, "target": "de"})
        equal("in the target language already", (status, field(page, 'id="output"')), (200, "Guten Morgen, <b>wie</b> geht es?"))
    status, head, page = post(s, {"q": "a", "source": '"><script>', "target": "de"})
    assert status in (200, 400) and "<script>" not in page, "a language that is none"
    equal("another site's form", post(s, {"q": "a"}, Origin="http://evil.example")[0], 403)
    equal("our own", post(s, {"q": "a"}, Origin=f"http://127.0.0.1:{s.port}")[0], 200)


def check_form_refusals():
    """Whoever has no JavaScript is told by the page, too, and keeps the text where the server has read it."""
    with open("form-keys", "w") as f:
        f.write("a-key\n")
    with Server(GANZ, "--keys", "form-keys", "--max-requests", "1") as s:
        fields = {"q": TEXT, "source": "de", "target": "en", "lang": "de"}
        for key, status, said in ((None, 400, "verlangt einen API"), ("another", 403, "kennt diesen API"), ("a-key", 200, None)):
            got, head, page = post(s, {**fields, **({"api_key": key} if key else {})})
            equal("a key", (got, head["content-type"].split(";")[0]), (status, "text/html"))
            equal("what is wrong", said is None or said in field(page, 'id="problem"'), True)
            equal("the text stays", field(page, "<textarea"), TEXT)
            assert '<option value="de" selected>' in page, page
        got, head, page = post(s, {"q": "a" * 1200000, "api_key": "a-key"}, **{"Accept-Language": "de"})
        equal("too large", (got, field(page, 'id="problem"')), (413, "Das ist zu groß für diesen Server."))
        assert head["connection"] == "close" and "default-src 'none'" in head["content-security-policy"], head
        for _ in range(20):  # a request that is still being read takes the only room, half a second long
            with s.connect() as c:
                c.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n")
                got, head, page = post(s, {**fields, "api_key": "a-key"}, **{"Accept-Language": "de"})
            if got == 503:
                break
        equal("no room", (got, "keinen Platz" in field(page, 'id="problem"')), (503, True))
        assert int(head["retry-after"]) > 0, head


check_form_refusals()
with Server(GANZ) as server:
    for check in (check_strings, check_languages, check_headers, check_form):
        check(server)
with Server(GANZ, "--web-root", WEB) as server:
    check_languages(server)
print("ok")
