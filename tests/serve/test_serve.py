"""Tests of `ganz serve`: test_serve.py GANZ. Expected translations are what `ganz translate` says."""
import contextlib
import functools
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile

from hostile import REQUESTS
from server import Server, multipart, read_reply, wait_until

GANZ = sys.argv[1]
MAKE_MODEL = os.environ.get("MAKE_MODEL")


@functools.lru_cache(maxsize=None)
def translate(text, pair="en-de", *options):
    """What the program says."""
    done = subprocess.run([GANZ, "translate", "-q", "--model", pair, *options], input=text.encode(),
                          stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def equal(what, got, wanted):
    assert got == wanted, f"{what}: {got!r} instead of {wanted!r}"


HELLO = "Hello world. This is a test."


def check_encodings(s):
    want = {"translatedText": translate(HELLO)}
    fields = {"q": HELLO, "source": "en", "target": "de"}
    equal("JSON", s.json("/translate", fields), (200, want))
    equal("JSON with a charset", s.json("/translate", fields, {"Content-Type": "application/json; charset=utf-8"}),
          (200, want))
    equal("form", s.form("/translate", fields), (200, want))
    loose = b"q=Up+to+50% of all, 100%&source=en&target=de"
    status, _, answer = s.ask("POST", "/translate", loose, {"Content-Type": "application/x-www-form-urlencoded"})
    equal("a percent sign that begins no escape", (status, json.loads(answer)),
          (200, {"translatedText": translate("Up to 50% of all, 100%")}))
    kind, body = multipart(fields)
    status, _, answer = s.ask("POST", "/translate", body, {"Content-Type": kind})
    equal("parts", (status, json.loads(answer)), (200, want))
    plain = b"\r\n" + body.replace(b'name="q"', b"name=q")  # as .NET writes names, behind an empty line
    status, _, answer = s.ask("POST", "/translate", plain, {"Content-Type": kind})
    equal("parts whose names have no quotes", (status, json.loads(answer)), (200, want))
    from urllib.parse import urlencode
    status, _, answer = s.ask("POST", "/translate?" + urlencode(fields), headers={"Content-Length": "0"})
    equal("query", (status, json.loads(answer)), (200, want))
    chunks = json.dumps(fields).encode()
    chunked = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (chunks[:7], chunks[7:])) + b"0\r\n\r\n"
    status, _, answer = s.ask("POST", "/translate", chunked,
                              {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    equal("chunks", (status, json.loads(answer)), (200, want))


def check_texts(s):
    texts = [HELLO, "", "Good morning", "First line.\n\n  Second line, see https://example.com/?a=b&c=d."]
    status, answer = s.json("/translate", {"q": texts, "source": "en", "target": "de"})
    equal("status", status, 200)
    equal("an array", answer, {"translatedText": [translate(t) if t else "" for t in texts]})
    page = "<p>Hello <b>big</b> world.</p>\n<br/>"
    status, answer = s.json("/translate", {"q": page, "source": "en", "target": "de", "format": "html"})
    equal("HTML", (status, answer["translatedText"]), (200, translate(page, "en-de", "--format", "html")))
    status, answer = s.json("/translate", {"q": "Guten Morgen, das ist ein Test.", "source": "auto", "target": "en",
                                           "alternatives": 3})
    equal("auto", answer["detectedLanguage"]["language"], "de")
    equal("auto", answer["translatedText"], translate("Guten Morgen, das ist ein Test.", "de-en"))
    assert 1 <= len(answer["alternatives"]) <= 3, answer
    assert len(set(answer["alternatives"] + [answer["translatedText"]])) == len(answer["alternatives"]) + 1, answer


def check_letters(s):
    """A name below the close of a letter stays as it is, also where that is in another part of the text."""
    def ask(text, before):
        extra = {} if before is None else {"before": before}
        status, answer = s.json("/ganz/translate", {"text": text, "source": "en", "target": "de", **extra})
        assert status == 200, (text, before, status, answer)
        return [sentence["translations"][0]["text"] for sentence in answer["sentences"]]

    cases = [("See you soon,\nMark", None, ["Bis bald", "Mark"]), ("Mark", ["See you soon,"], ["Mark"]),
             ("Good.\nMark", ["", "Kind regards"], [None, "Mark"])]
    for text, before, wanted in cases:
        got = ask(text, before)
        assert all(w in (None, g) for w, g in zip(wanted, got)), (text, before, got)
    ask_for = "Could you send me your address? You should hurry."
    for head, du in (("Hi Sarah,\n\n", True), ("Leeds, 3 May\n\nSmith & Co.\nSubject: your order.\n\nHi Sarah,\n\n", True),
                     ("Smith Ltd,\n\nDear Ms Low,\n", False), ("It is so.\nHi Sarah,\n", False)):
        got = ask(head + ask_for, None)[-2:]
        equal(head, " ".join(got), translate(head + ask_for).split("\n")[-1])
        equal(head, " du " in got[0], du)
    for before in ("x", [1], {"a": 1}, [None, [2]]):  # nothing that is anything
        ask("Good.", before)


def check_page_interface(s):
    text = "The cat sat on the mat. \U0001f30d Hello!\n\nIt slept."
    status, answer = s.json("/ganz/translate", {"text": text, "source": "en", "target": "de", "alternatives": 2,
                                                "alignment": True, "scores": True, "words": True})
    equal("status", status, 200)
    units = text.encode("utf-16-le")
    for sentence in answer["sentences"]:
        got = units[2 * sentence["begin"]:2 * sentence["end"]].decode("utf-16-le")
        equal("position", got, sentence["source"])
        equal("translation", sentence["translations"][0]["text"], translate(sentence["source"], "en-de", "--newlines",
                                                                            "never"))
    for pair, said in (("de-en", "Wir treffen uns um 15.30 Uhr."), ("de-en", "Der Laden schließt um 20 Uhr."),
                       ("en-de", "The invoice (no. 4711/A) over $1,299.99 is due on 03/15/2024; please pay by bank transfer."),
                       ("en-de", "Where the 777X is expected to dominate with 100 orders."), ("en-de", "In 1984 he was 35.")):
        source, target = pair.split("-")
        mended = s.json("/ganz/translate", {"sentences": [said], "source": source, "target": target, "alignment": True,
                                            "words": True, "alternatives": 1})[1]["sentences"][0]["translations"]
        equal("what documents mend", mended[0]["text"], translate(said, pair, "--newlines", "never"))
        assert mended[0]["links"], mended
    first = answer["sentences"][0]["translations"]
    assert len(first) == 3 and first[0]["score"] >= first[1]["score"] >= first[2]["score"], first
    pairs = {(answer["sentences"][0]["source"][a:b], first[0]["text"][c:d]) for a, b, c, d in first[0]["links"]}
    assert ("cat", "Katze") in pairs, pairs
    check_letters(s)
    guarded = s.json("/ganz/translate", {"text": "Hello {name}, you have %d new messages.", "source": "en", "target": "de",
                                         "alignment": True})[1]["sentences"][0]
    best = guarded["translations"][0]
    assert "{name}" in best["text"] and "%d" in best["text"], best
    assert best["links"] and all(a < b <= len(guarded["source"]) and c < d <= len(best["text"])
                                 for a, b, c, d in best["links"]), best
    for t in first:
        equal("words", "".join(t["text"][a:b] for a, b, _ in t["words"]), t["text"].replace(" ", ""))
        assert all(score <= 0 for _, _, score in t["words"]), t
    told = subprocess.run([GANZ, "translate", "-q", "--model", "en-de", "--word-scores"], check=True,
                          input=answer["sentences"][0]["source"].encode(), stdout=subprocess.PIPE).stdout.decode()
    scores = [float(x) for x in told.split("\t")[1].split()]
    assert abs(sum(scores) - sum(w[2] for w in first[0]["words"])) < 1e-2, (told, first[0])
    silent = s.json("/ganz/translate", {"text": "Hello.", "source": "en", "target": "de", "scores": True})[1]
    assert "words" not in silent["sentences"][0]["translations"][0], silent
    status, answer = s.json("/ganz/translate", {"sentences": ["The cat sat on the mat."], "source": "en",
                                                "target": "de", "prefix": "Auf der"})
    assert answer["sentences"][0]["translations"][0]["text"].startswith("Auf der "), answer
    for prefix, begins in (("", "Ein"), ("ein", "ein")):  # a capital as in the sentence, but not in what was asked for
        answer = s.json("/ganz/translate", {"sentences": ["A red house"], "source": "en", "target": "de", "prefix": prefix})[1]
        text = answer["sentences"][0]["translations"][0]["text"]
        assert text.startswith(begins), (prefix, text)


def check_nothing_to_say(s):
    """No sentence at all is an answer without any, whatever was asked about the words."""
    for nothing in ({"text": ""}, {"text": "\n \n"}, {"sentences": []}):
        for extra in ({}, {"alignment": True, "scores": True, "words": True, "alternatives": 3}):
            equal(nothing, s.json("/ganz/translate", {**nothing, **extra, "source": "en", "target": "de"}),
                  (200, {"source": "en", "target": "de", "sentences": []}))
        equal("a prefix of it", s.json("/ganz/translate", {**nothing, "prefix": "Ein", "source": "en", "target": "de"})[0],
              400)


def check_errors(s):
    def refused(what, got, status, sentence):
        equal(what, got, (status, {"error": sentence}))
    refused("no q", s.json("/translate", {"source": "en", "target": "de"}), 400,
            "Invalid request: missing q parameter")
    refused("no source", s.json("/translate", {"q": "a", "target": "de"}), 400,
            "Invalid request: missing source parameter")
    refused("no target", s.json("/translate", {"q": "a", "source": "en"}), 400,
            "Invalid request: missing target parameter")
    refused("language", s.json("/translate", {"q": "a", "source": "en", "target": "xx"}), 400, "xx is not supported")
    refused("format", s.json("/translate", {"q": "a", "source": "en", "target": "de", "format": "pdf"}), 400,
            "pdf format is not supported")
    status, _, body = s.ask("POST", "/translate", b"{not json", {"Content-Type": "application/json"})
    equal("JSON", (status, json.loads(body)), (400, {"error": "Invalid JSON format"}))
    for coding, wanted in (("gzip", 415), ("identity", 200)):
        fields = {"q": "Good morning", "source": "en", "target": "de"}
        equal(coding, s.json("/translate", fields, {"Content-Encoding": coding})[0], wanted)
    equal("404", s.get("/nothing")[0], 404)
    for method, path, allowed in (("GET", "/translate", "POST, OPTIONS"), ("POST", "/health", "GET, HEAD, OPTIONS"),
                                  ("PUT", "/ganz/document/x", "GET, HEAD, DELETE, OPTIONS")):
        status, headers, _ = s.ask(method, path)
        equal("405", (status, headers.get("allow")), (405, allowed))


def check_hostile(s):
    for name, data, statuses in REQUESTS:
        got = s.raw(data)
        head, _, body = got.partition(b"\r\n\r\n")
        assert got.count(b"\r\nServer: ganz\r\n") == 1, f"{name}: {got!r}"
        assert int(head.split()[1]) in statuses, f"{name}: {got!r}"
        assert b"Connection: close" in head, f"{name}: {got!r}"
        assert list(json.loads(body)) == ["error"], f"{name}: {got!r}"


def check_connections(s):
    def one(path):
        return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with s.connect() as c:  # kept alive, and two requests at once are answered in turn
        c.sendall(one("/health") + one("/version"))
        got = b""
        while b'"version"' not in got:
            got += c.recv(65536)
        assert got.index(b'"status"') < got.index(b'"version"') and got.count(b"200 OK") == 2, got
        for byte in one("/health"):
            c.sendall(bytes([byte]))
        equal("byte by byte", read_reply(c)[0], 200)
    with s.connect() as c:  # a client that waits to be asked for the body
        body = json.dumps({"q": "Good morning", "source": "en", "target": "de"}).encode()
        c.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        equal("100", c.recv(4096), b"HTTP/1.1 100 Continue\r\n\r\n")
        c.sendall(body)
        equal("after it", read_reply(c)[0], 200)
    with s.connect() as c:  # a refusal before the body is there ends the connection, and says so
        c.sendall(b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n")
        status, headers, _ = read_reply(c)
        equal("refused by its head", (status, headers["connection"]), (404, "close"))
    with s.connect() as c:
        c.sendall(b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n12345" + one("/health"))
        got = b""
        while b'"status"' not in got:
            got += c.recv(65536)
        assert got.startswith(b"HTTP/1.1 404") and b"HTTP/1.1 200" in got, got  # the next one is answered
    with s.connect() as c:
        c.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: TE\r\nTE: trailers\r\nConnection: close\r\n\r\n")
        equal("said in the second of two headers", read_reply(c)[1]["connection"], "close")
    status, headers, body = s.ask("HEAD", "/languages")
    equal("HEAD", (status, body, int(headers["content-length"]) > 10), (200, b"", True))
    status, headers, _ = s.ask("GET", "/")
    assert headers["content-type"].startswith("text/html") and "default-src 'none'" in headers["content-security-policy"]
    equal("ETag", s.ask("GET", "/", headers={"If-None-Match": headers["etag"]})[0], 304)
    equal("no way out of the page", s.get("/ganz/page/../../etc/passwd")[0], 404)
    status, _, body = s.ask("GET", "/languages", b"api_key=x", {"Content-Type": "application/x-www-form-urlencoded"})
    equal("GET with a body", status, 200)


def check_origins(s):
    fields = {"q": "Good morning", "source": "en", "target": "de"}
    for headers, status in [({"Host": "evil.example"}, 403), ({"Host": "localhost"}, 200), ({"Host": "[::1]:5000"}, 200),
                            ({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403),
                            ({"Origin": f"http://127.0.0.1:{s.port}"}, 200),
                            ({"Origin": "chrome-extension://abcdef"}, 200)]:
        equal(headers, s.json("/translate", fields, headers)[0], status)


def check_cors():
    """The site that is named may ask; what no browser calls a site is refused at once."""
    fields = {"q": "Good morning", "source": "en", "target": "de"}
    with Server(GANZ, "--model", "en-de", "--cors", "https://Good.example:8080") as s:
        for origin, status in (("https://good.example:8080", 200), ("https://good.example", 403)):
            equal(origin, s.json("/translate", fields, {"Origin": origin})[0], status)
        head = {"Origin": "https://good.example:8080", "Content-Length": "99999999"}
        status, headers, _ = s.ask("POST", "/translate", headers=head)
        equal("may read why", (status, headers.get("access-control-allow-origin")), (413, head["Origin"]))
    for wrong in ("https://good.example/", "good.example", "https://good.example/page", "https://",
                  "https://good.example:443", "http://good.example:80"):
        done = subprocess.run([GANZ, "serve", "--port", "0", "--cors", wrong], stderr=subprocess.PIPE, timeout=60)
        assert done.returncode == 2 and b"--cors is an origin" in done.stderr, (wrong, done)


def check_deepl(s):
    want = translate(HELLO)
    status, answer = s.json("/v2/translate", {"text": [HELLO, "Good morning"], "target_lang": "DE"})
    equal("texts", (status, [t["text"] for t in answer["translations"]]), (200, [want, translate("Good morning")]))
    equal("facts", (answer["translations"][0]["detected_source_language"],
                    answer["translations"][0]["billed_characters"]), ("EN", len(HELLO)))
    status, answer = s.form("/v2/translate", {"text": [HELLO, "Good morning"], "target_lang": "DE", "source_lang": "EN"})
    equal("a form", [t["text"] for t in answer["translations"]], [want, translate("Good morning")])
    status, answer = s.json("/v2/translate", {"text": ['Press <x id="1"></x> or <y>the button</y> now.'],
                                              "target_lang": "DE", "tag_handling": "xml", "ignore_tags": ["x", "y"]})
    text = answer["translations"][0]["text"]
    assert text.count('<x id="1"></x>') == 1 and text.count("<y>the button</y>") == 1 and "ganz" not in text, text
    status, answer = s.json("/v2/translate", {"text": ['Click <x id="1"/> to open the door. The house is red.'],
                                              "target_lang": "DE", "tag_handling": "xml", "ignore_tags": ["x"]})
    text = answer["translations"][0]["text"]
    assert text.count('<x id="1"/>') == 1 and "rot" in text and "house" not in text, text
    status, answer = s.json("/v2/translate", {"text": ["Wohin gehst du heute Abend mit deinem Bruder?"],
                                              "target_lang": "DE", "formality": "more"})
    equal("formality of what stays as it is", (status, answer["translations"][0]["detected_source_language"]), (200, "DE"))
    status, _, body = s.ask("GET", "/v2/languages", b"type=target", {"Content-Type": "application/x-www-form-urlencoded"})
    equal("languages", [x["language"] for x in json.loads(body)], ["DE", "EN-GB", "EN-US"])
    equal("wrong language", s.json("/v2/translate", {"text": ["a"], "target_lang": "XX"}),
          (400, {"message": "Bad request. Reason: Value for 'target_lang' not supported."}))
    status, made = s.json("/v2/glossaries", {"name": "words", "source_lang": "en", "target_lang": "de",
                                             "entries": 'cat,Kater\n"big ""dog""",Hund\n', "entries_format": "csv"})
    equal("a glossary", (status, made["entry_count"]), (201, 2))
    path = "/v2/glossaries/" + made["glossary_id"]
    equal("its entries", s.ask("GET", path + "/entries")[2].decode(), 'cat\tKater\nbig "dog"\tHund\n')
    status, answer = s.json("/v2/translate", {"text": ["The cat sleeps."], "source_lang": "EN", "target_lang": "DE",
                                              "glossary_id": made["glossary_id"]})
    assert "Kater" in answer["translations"][0]["text"], answer
    equal("its entries stay", (s.ask("DELETE", path + "/entries")[0], s.get(path)[0]), (404, 200))
    equal("removed", (s.ask("DELETE", path)[0], s.get(path)[0]), (204, 404))


def check_files(s):
    text = "Hello world.\n\nThis is a file.\n".encode()
    kind, body = multipart({"source": "en", "target": "de"}, [("file", "a.txt", text)])
    status, _, answer = s.ask("POST", "/translate_file", body, {"Content-Type": kind})
    equal("file", status, 200)
    url = json.loads(answer)["translatedFileUrl"]
    status, headers, got = s.ask("GET", url[url.index("/download_file"):])
    equal("its translation", (status, got.decode()), (200, translate(text.decode())))
    assert "a_de.txt" in headers["content-disposition"], headers
    kind, body = multipart({"target_lang": "DE"}, [("file", "file", b"<p>Good <b>morning</b>.</p>")])
    made = json.loads(s.ask("POST", "/v2/document", body, {"Content-Type": kind})[2])
    path, key = "/v2/document/" + made["document_id"], {"document_key": made["document_key"]}
    assert wait_until(lambda: s.json(path, key)[1]["status"] == "done")
    equal("a stream's format is seen", s.ask("POST", path + "/result", json.dumps(key).encode(),
                                             {"Content-Type": "application/json"})[2].decode(),
          translate("<p>Good <b>morning</b>.</p>", "en-de", "--format", "html"))
    equal("another's key", s.json(path, {"document_key": "0" * 32})[0], 404)
    for address, name in (("/ganz/document", "id"), ("/v2/document", "document_id")):  # a result that will never be there
        kind, body = multipart({"source": "en", "target": "de", "target_lang": "DE"}, [("file", "a.docx", b"PK\x03\x04 and no more")])
        made = json.loads(s.ask("POST", address, body, {"Content-Type": kind})[2])
        path, key = f"{address}/{made[name]}", "?document_key=" + made.get("document_key", "")
        assert wait_until(lambda: s.get(path + key)[1]["status"] == "error"), s.get(path + key)
        status, answer = s.get(path + "/result" + key)
        assert status == 400 and "no zip archive" in "".join(answer.values()), (address, status, answer)
    kind, body = multipart({"source": "en", "target": "de"}, [("file", "a.bin", bytes(range(256)))])
    equal("no document", s.ask("POST", "/translate_file", body, {"Content-Type": kind})[0], 400)


def check_small(s):
    want = translate("Good morning")
    equal("imme", s.json("/imme", {"text_list": ["Good morning"], "source_lang": "auto", "target_lang": "de"}),
          (200, {"translations": [{"detected_source_lang": "en", "text": want}]}))
    equal("kiss", s.json("/kiss", {"text": "Good morning", "from": "en", "to": "de"})[1]["text"], want)
    equal("kiss", s.json("/kiss", {"texts": ["Good morning"], "from": "en", "to": "de"})[1]["translations"],
          [{"text": want, "src": "en"}])
    equal("deeplx", s.json("/translate", {"text": "Good morning", "source_lang": "EN", "target_lang": "DE"})[1]["data"],
          want)


def check_replayed(s):
    """Requests as Mastodon, Weblate and Discourse send them (their sources, 2026), byte for byte."""
    def ask(head, body):
        text = head.replace("\n", "\r\n").replace("HOST", f"127.0.0.1:{s.port}").replace("LENGTH", str(len(body)))
        with s.connect(300) as c:
            c.sendall(text.encode() + b"\r\n" + body)
            status, _, got = read_reply(c)
        assert status == 200, got
        return json.loads(got)
    mastodon = ask("POST /translate HTTP/1.1\nUser-Agent: http.rb/5.2.0 (Mastodon/4.3.0; +https://m.example/)\nHost: HOST\n"
                   "Date: Sun, 15 Nov 2026 12:00:00 GMT\nAccept-Encoding: gzip\nConnection: close\n"
                   "Content-Type: application/json\nContent-Length: LENGTH\n",
                   b'{"q":["\\u003cp\\u003eHello \\u003ca href=\\"https://m.example/@a\\"\\u003e@a\\u003c/a\\u003e!\\u003c/p\\u003e","Good morning"],'
                   b'"source":"auto","target":"de","format":"html","api_key":null}')
    assert mastodon["translatedText"][0].startswith("<p>Hallo"), mastodon
    equal("one for each", [x["language"] for x in mastodon["detectedLanguage"]], ["en", "en"])
    weblate = ask("POST /translate HTTP/1.1\nHost: HOST\nAccept: */*\nAccept-Encoding: gzip, deflate\nConnection: keep-alive\n"
                  "User-Agent: Weblate/5.14.3\nContent-Length: LENGTH\nContent-Type: application/json\n",
                  json.dumps({"q": [f"String {i}: %s of %(name)s" for i in range(20)], "source": "en", "target": "de",
                              "api_key": ""}).encode())
    equal("length", len(weblate["translatedText"]), 20)
    assert all("%s" in x and "%(name)s" in x for x in weblate["translatedText"]), weblate
    kind = "Content-Type: application/x-www-form-urlencoded\nContent-Length: LENGTH\n"
    agent = "User-Agent: Discourse/3.4.0\nHost: HOST\nConnection: close\n"
    found = ask("POST /detect HTTP/1.1\n" + agent + kind, b"q=Guten+Morgen%2C+das+ist+ein+Satz.")
    equal("Discourse", found[0]["language"], "de")
    text = ask("POST /translate HTTP/1.1\n" + agent + kind,
               b"q=%3Cp%3EGood+morning%3C%2Fp%3E&source=en&target=de&format=html")
    assert text["translatedText"].startswith("<p>Guten Morgen"), text


def check_hanging_up(s):
    """A client that goes away gets little more translated, and its thread is free at once."""
    def metrics():
        return s.ask("GET", "/metrics")[2].decode()

    def sentences():
        return sum(int(line.split()[1]) for line in metrics().splitlines() if line.startswith("ganz_sentences_total"))
    body = json.dumps({"q": " ".join(["This is fine."] * 600), "source": "en", "target": "de"}).encode()
    before = sentences()
    with s.connect() as c:
        c.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert wait_until(lambda: "ganz_requests_running 2\n" in metrics())
    assert wait_until(lambda: "ganz_requests_running 1\n" in metrics())
    assert sentences() - before < 540, sentences() - before


CANARY = "Zwiebelfisch"


def check_canary(s):
    """Through every interface, well and badly: in texts, languages, queries, names of files, keys, and agents."""
    agent = {"User-Agent": CANARY, "Authorization": "DeepL-Auth-Key " + CANARY, "Referer": "http://localhost/" + CANARY}
    for path in ("/translate", "/detect", "/ganz/translate", "/v2/translate", "/imme", "/kiss", "/deeplx", "/translate/batch",
                 "/suggest", "/v2/glossaries", "/nothing", "/" + CANARY, "/ganz/page/" + CANARY):
        for fields in ({"q": CANARY, "source": "de", "target": "en"}, {"text": CANARY, "target_lang": "EN", "to": "en"},
                       {"q": CANARY, "source": CANARY, "target": CANARY}, {"sentences": [CANARY], "target": "en"},
                       {"name": CANARY, "source_lang": "de", "target_lang": "en", "entries": CANARY + "\tfish",
                        "entries_format": "tsv"}):
            s.json(path, fields, agent)
            s.form(path + "?q=" + CANARY, fields)
    s.ask("POST", "/", b"source=de&target=en&q=" + CANARY.encode(), {"Content-Type": "application/x-www-form-urlencoded"})
    s.ask("POST", "/translate", b"{" + CANARY.encode(), {"Content-Type": "application/json"})
    for path in ("/translate_file", "/ganz/document", "/v2/document"):
        for name, data in ((CANARY + ".txt", CANARY.encode()), (CANARY + ".docx", b"PK\x03\x04" + CANARY.encode())):
            kind, body = multipart({"source": "de", "target": "en", "target_lang": "EN"}, [("file", name, data)])
            s.ask("POST", path, body, {"Content-Type": kind, **agent})
    assert CANARY not in s.ask("GET", "/metrics")[2].decode()


def check_bombs(s):
    """Files that would become vast are refused with a sentence, and cost nothing."""
    def packed(xml, members=0):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("[Content_Types].xml", '<Types><Override PartName="/word/document.xml" ContentType="application/'
                       'vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>')
            z.writestr("word/document.xml", xml)
            for i in range(members):
                z.writestr(f"m{i}", "")
        return out.getvalue()
    laughs = '<!DOCTYPE a [<!ENTITY l0 "ha">' + "".join(
        f'<!ENTITY l{i} "{10 * f"&l{i - 1};"}">' for i in range(1, 10)) + "]><a>&l9;</a>"
    before = s.rss()
    for what, name, data, says in (
            ("100 MB in 100 kB", "a.docx", packed("<a>" + 100_000_000 * " "), "over 64 MiB"),
            ("30 MB in 30 kB", "a.docx", packed("<a>" + 30_000_000 * " "), "256 times"),
            ("a billion laughs", "a.docx", packed(laughs), "DTD"),
            ("the same as XLIFF", "a.xlf", laughs.encode(), "DTD"),
            ("a file of the server", "a.xlf", b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "DTD"),
            ("deep XML", "a.xlf", 1_000_000 * b"<a>", "nested"),
            ("deep JSON", "a.json", 1_000_000 * b"[", "nested"),
            ("many members", "a.docx", packed("<a/>", 3000), "more than the 2000")):
        kind, body = multipart({"source": "en", "target": "de"}, [("file", name, data)])
        status, _, answer = s.ask("POST", "/translate_file", body, {"Content-Type": kind})
        assert status == 400 and says in json.loads(answer)["error"], f"{what}: {status} {answer!r}"
    assert s.rss() - before < 90, f"{before} MiB before, then {s.rss()}"


def check_cores():
    """A server that crashes leaves no file with what it was translating."""
    import resource
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))
    with Server(GANZ) as s:
        if not any("without a sandbox" in line for line in s.lines):
            equal("most bytes of a core file", resource.prlimit(s.process.pid, resource.RLIMIT_CORE), (0, 0))
            if os.getuid() != 0:
                equal("owner of what others may look at", os.stat(f"/proc/{s.process.pid}").st_uid, 0)


def check_overload():
    """Refused by their heads, before their bodies are sent, with a time to come back."""
    with Server(GANZ, "--max-requests", "1", "--metrics") as s:
        body = json.dumps({"q": " ".join(["This is fine."] * 150), "source": "en", "target": "de"}).encode()
        head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        with s.connect(300) as first, s.connect() as second:
            first.sendall(head % len(body) + body)
            assert wait_until(lambda: "ganz_requests_running 2\n" in s.ask("GET", "/metrics")[2].decode())
            second.sendall(head % len(body))
            status, headers, _ = read_reply(second)
            equal("the second", (status, int(headers["retry-after"]) >= 1), (503, True))
            equal("small requests", s.get("/health")[0], 200)
            equal("the first", read_reply(first)[0], 200)


def check_slow_bodies():
    """Requests whose bodies do not come keep nobody out."""
    with Server(GANZ, "--max-requests", "4") as s:
        head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        slow = [s.connect() for _ in range(4)]
        for c in slow:
            c.sendall(head)
        time.sleep(1)
        equal("beside them", s.json("/translate", {"q": "Good morning", "source": "en", "target": "de"})[0], 200)
        for c in slow:
            c.close()


def check_times():
    """A request that takes too long is given up."""
    with Server(GANZ, "--timeout", "0.2") as s:
        text = " ".join(f"This is sentence number {i} of a very long text." for i in range(500))
        begin = time.monotonic()
        equal("late", s.json("/translate", {"q": text, "source": "en", "target": "de"})[0], 504)
        assert time.monotonic() - begin < 20


def send_slowly(s, took):
    """A header every half second, for ever: took[0] is when the server has had enough."""
    begin = time.monotonic()
    with s.connect() as c:
        c.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        try:
            while time.monotonic() - begin < 60:
                c.sendall(b"A: b\r\n")
                time.sleep(0.5)
        except OSError:
            pass
    took.append(time.monotonic() - begin)


def check_removing():
    """A document that nobody wants any more is not worked for."""
    with Server(GANZ, "--metrics") as s:
        text = "\n".join(f"Number {i} is not the same as the number {i + 1}." for i in range(4000)).encode()
        kind, body = multipart({"source": "en", "target": "de"}, [("file", "a.txt", text)])
        ids = [json.loads(s.ask("POST", "/ganz/document", body, {"Content-Type": kind})[2])["id"] for _ in range(3)]
        assert wait_until(lambda: s.get(f"/ganz/document/{ids[0]}")[1]["count"] > 0, 120), "it does not begin"
        for one in reversed(ids):
            status, _, answer = s.ask("DELETE", f"/ganz/document/{one}")
            equal("removed", (status, json.loads(answer)), (200, {"id": one, "status": "removed"}))
            equal("gone", s.get(f"/ganz/document/{one}")[0], 404)
            equal("once", s.ask("DELETE", f"/ganz/document/{one}")[0], 404)
        waiting = 'ganz_queue_sentences{pair="en-de"} 0'
        assert wait_until(lambda: waiting in s.ask("GET", "/metrics")[2].decode(), 60), "sentences are still waiting"
        before = s.ask("GET", "/metrics")[2].decode()
        done = int(before.split('ganz_sentences_total{pair="en-de"} ')[1].split()[0])
        assert done < 4000, f"{done} sentences were translated for nobody"


def check_float():
    """A float model inside of the sandbox, on two threads: its products come from a library that is loaded late."""
    if not MAKE_MODEL:
        return
    subprocess.run([MAKE_MODEL, "en-de.safetensors", "5"], check=True)
    text = "the cat sat on the mat. the dog in the other thing"
    want = subprocess.run([GANZ, "translate", "-q", "--model", "./en-de.safetensors"], input=text.encode(),
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    with Server(GANZ, "--model", "./en-de.safetensors") as s:
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(s.json("/translate", {
            "q": text, "source": "en", "target": "de"}))) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        equal("a float model", answers, 8 * [(200, {"translatedText": want})])
        s.process.send_signal(signal.SIGHUP)
        equal("anew", s.json("/translate", {"q": text, "source": "en", "target": "de"}), answers[0])


def check_keys():
    with open("keys", "w") as f:
        f.write("# whose\nfirst-key  somebody\nsecond-key\n")
    fields = {"q": "Good morning", "source": "en", "target": "de"}
    with Server(GANZ, "--keys", "keys") as s:
        equal("none", s.json("/translate", fields)[0], 400)
        equal("wrong", s.json("/translate", {**fields, "api_key": "first"}), (403, {"error": "Invalid API key"}))
        equal("right", s.json("/translate", {**fields, "api_key": "first-key"})[0], 200)
        deepl = {"text": ["Good morning"], "target_lang": "DE"}
        equal("DeepL, wrong", s.json("/v2/translate", deepl, {"Authorization": "DeepL-Auth-Key x"})[0], 403)
        equal("DeepL, right", s.json("/v2/translate", deepl, {"Authorization": "DeepL-Auth-Key second-key"})[0], 200)
        equal("DeepL, in the body", s.json("/v2/translate", {**deepl, "auth_key": "second-key"})[0], 200)
        equal("beside a password for a proxy", s.json("/translate", {**fields, "api_key": "first-key"},
                                                      {"Authorization": "Basic dXNlcjpwdw=="})[0], 200)
        equal("languages need none", s.get("/languages")[0], 200)
    with open("keys", "w", encoding="utf-8-sig") as f:  # as Windows writes it
        f.write("first-key\r\nsecond-key\r\n")
    with Server(GANZ, "--keys", "keys", "--model", "en-de") as s:
        for key in ("first-key", "second-key"):
            equal(key, s.json("/translate", {**fields, "api_key": key})[0], 200)


def check_ends():
    """What was accepted is answered after SIGTERM and through SIGHUP, once."""
    answers, wrong = [], []
    with Server(GANZ) as s:
        want = {"translatedText": translate(HELLO)}

        def client(count):
            for _ in range(count):
                try:
                    answer = s.json("/translate", {"q": HELLO, "source": "en", "target": "de"})
                except ConnectionError as e:  # not accepted any more
                    wrong.append(str(e))
                    return
                answers.append(answer)
        threads = [threading.Thread(target=client, args=(10,)) for _ in range(8)]
        for t in threads:
            t.start()
        for _ in range(3):
            time.sleep(0.05)
            s.process.send_signal(signal.SIGHUP)
        for t in threads:
            t.join()
        equal("answers", (len(answers), wrong), (80, []))
        assert all(a == (200, want) for a in answers), answers
        connections = [s.connect(300) for _ in range(20)]
        body = json.dumps({"q": HELLO, "source": "en", "target": "de"}).encode()
        for c in connections:
            c.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      b"Content-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(0.02)
        s.stop()
        for c in connections:
            status, _, got = read_reply(c)
            equal("after SIGTERM", (status, json.loads(got)), (200, want))
            c.close()
    equal("exit", s.process.returncode, 0)


@contextlib.contextmanager
def started(command, **options):
    """A server that is gone afterwards, whatever happens, and that must end well."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, **options)
    try:
        yield process
        process.terminate()
        equal("exit", process.wait(60), 0)
    finally:
        process.kill()


def check_unix():
    import socket
    with started([GANZ, "serve", "--unix", "socket", "--model", "en-de"]) as process:
        assert any(b"listening on socket" in line for line in iter(process.stderr.readline, b"")), "it does not listen"
        with socket.socket(socket.AF_UNIX) as c:
            c.connect("socket")
            c.sendall(b"GET /health HTTP/1.1\r\nHost: translate.example\r\n\r\n")
            equal("a Unix socket", read_reply(c)[0], 200)


def check_passed_socket():
    """As systemd does it: descriptor 3 listens."""
    import socket
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        code = ("import os,sys;os.dup2(int(sys.argv[2]),3);os.set_inheritable(3,True);"
                "os.environ.update(LISTEN_PID=str(os.getpid()),LISTEN_FDS='1');"
                "os.execv(sys.argv[1],[sys.argv[1],'serve','--model','en-de'])")
        with started([sys.executable, "-c", code, GANZ, str(listener.fileno())], pass_fds=[listener.fileno()]):
            with socket.create_connection(("127.0.0.1", port), 30) as c:
                c.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                equal("a passed socket", read_reply(c)[0], 200)


def main():
    with Server(GANZ, "--log", "--metrics") as s:
        took = []
        slow = threading.Thread(target=send_slowly, args=(s, took))
        slow.start()
        for check in (check_encodings, check_texts, check_page_interface, check_nothing_to_say, check_errors, check_hostile, check_connections,
                      check_origins, check_deepl, check_files, check_small, check_replayed, check_bombs, check_hanging_up,
                      check_canary):
            check(s)
            print("fine:", check.__name__)
        slow.join()
        assert 9 < took[0] < 50, took
    equal("exit", s.process.returncode, 0)
    log = [line for line in s.lines if line.startswith("{")]
    assert len(log) > 50 and all(json.loads(line)["route"] for line in log), log[:3]
    assert not any(CANARY in line for line in s.lines), "the log holds what was translated"
    for check in (check_overload, check_slow_bodies, check_removing, check_float, check_cors, check_times, check_keys, check_cores, check_ends, check_unix,
                  check_passed_socket):
        check()
        print("fine:", check.__name__)


main()
