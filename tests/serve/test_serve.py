"""Tests of `ganz serve`: test_serve.py GANZ. Expected translations are what `ganz translate` says."""
import json
import subprocess
import sys

from server import Server, multipart

GANZ = sys.argv[1]


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
    kind, body = multipart(fields)
    status, _, answer = s.ask("POST", "/translate", body, {"Content-Type": kind})
    equal("parts", (status, json.loads(answer)), (200, want))
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


def check_page_interface(s):
    text = "The cat sat on the mat. \U0001f30d Hello!\n\nIt slept."
    status, answer = s.json("/ganz/translate", {"text": text, "source": "en", "target": "de", "alternatives": 2,
                                                "alignment": True, "scores": True})
    equal("status", status, 200)
    units = text.encode("utf-16-le")
    for sentence in answer["sentences"]:
        got = units[2 * sentence["begin"]:2 * sentence["end"]].decode("utf-16-le")
        equal("position", got, sentence["source"])
        equal("translation", sentence["translations"][0]["text"], translate(sentence["source"], "en-de", "--newlines",
                                                                            "never"))
    first = answer["sentences"][0]["translations"]
    assert len(first) == 3 and first[0]["score"] >= first[1]["score"] >= first[2]["score"], first
    pairs = {(answer["sentences"][0]["source"][a:b], first[0]["text"][c:d]) for a, b, c, d in first[0]["links"]}
    assert ("cat", "Katze") in pairs, pairs
    status, answer = s.json("/ganz/translate", {"sentences": ["The cat sat on the mat."], "source": "en",
                                                "target": "de", "prefix": "Auf der"})
    assert answer["sentences"][0]["translations"][0]["text"].startswith("Auf der "), answer


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
    equal("404", s.get("/nothing")[0], 404)
    equal("405", s.get("/translate")[0], 405)


def main():
    with Server(GANZ) as s:
        for check in (check_encodings, check_texts, check_page_interface, check_errors):
            check(s)
            print("fine:", check.__name__)
    equal("exit", s.process.returncode, 0)


main()
