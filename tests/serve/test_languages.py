"""Tests of `ganz serve` where the source language is looked for, and of texts through two models: test_languages.py GANZ."""
import io
import json
import os
import subprocess
import sys
import zipfile

from server import Server, multipart, wait_until

GANZ = sys.argv[1]
MAKE_MODEL = os.environ.get("MAKE_MODEL")
GERMAN = "Das Wetter war gestern schlecht, und wir blieben den ganzen Tag zu Hause."
ENGLISH = "The weather was bad yesterday, and we stayed at home all day."


def equal(what, got, wanted):
    assert got == wanted, f"{what}: {got!r} instead of {wanted!r}"


def one(s, text, source, target, **more):
    status, answer = s.json("/translate", {"q": text, "source": source, "target": target, **more})
    equal("status", status, 200)
    return answer["translatedText"]


def docx(text):
    name = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
                   '<Override PartName="/word/document.xml" ContentType="application/'
                   'vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>')
        z.writestr("word/document.xml", f'<w:document xmlns:w="{name}"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p>'
                   "</w:body></w:document>")
    return out.getvalue()


def send_file(s, name, data, **fields):
    kind, body = multipart(fields, [("file", name, data)])
    status, _, answer = s.ask("POST", "/translate_file", body, {"Content-Type": kind})
    answer = json.loads(answer)
    if status != 200:
        return status, answer["error"]
    url = answer["translatedFileUrl"]
    return status, s.ask("GET", url[url.index("/download_file"):])[2]


def content(name, data):
    if not name.endswith(".docx"):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        return z.read("word/document.xml")


def document(s, name, data, target):
    """The result by DeepL's interface, whose source language is absent."""
    kind, body = multipart({"target_lang": target}, [("file", name, data)])
    status, _, answer = s.ask("POST", "/v2/document", body, {"Content-Type": kind})
    equal(f"{name} by /v2/document: {answer!r}", status, 200)
    made = json.loads(answer)
    path, key = "/v2/document/" + made["document_id"], {"document_key": made["document_key"]}
    assert wait_until(lambda: s.json(path, key)[1]["status"] == "done", 60)
    return s.ask("POST", path + "/result", json.dumps(key).encode(), {"Content-Type": "application/json"})[2]


def check_documents(s):
    """The text of a document tells its language: not its packing, keys or marks."""
    keys = "the_name_of_the_thing_that_is_shown_when_this_is_ready"
    style = "<style>.the-thing-with-this-name { color: red } /* this is what they have there */</style>" * 9
    for language, other, text in (("de", "en", GERMAN), ("en", "de", ENGLISH)):
        for name, data in (("a.docx", docx(text)), ("a.txt", text.encode()),
                           ("a.json", json.dumps({f"{keys}_{i}": text for i in range(4)}).encode()),
                           ("a.html", f"<html><head>{style}</head><body><p>{text}</p></body></html>".encode())):
            status, want = send_file(s, name, data, source=language, target=other)
            equal(name, status, 200)
            status, got = send_file(s, name, data, source="auto", target=other)
            assert status == 200, f"{name} from {language}: {got}"
            equal(name, content(name, got), content(name, want))
            equal(name, content(name, document(s, name, data, other.upper())), content(name, want))
            equal(f"{name} in the target language", send_file(s, name, data, source="auto", target=language),
                  (400, f"Invalid request: both languages are {language}"))
    for target in ("de", "en"):
        equal("numbers alone", send_file(s, "a.txt", b"12 / 13\n", source="auto", target=target), (200, b"12 / 13\n"))
        told = send_file(s, "a.docx", b"PK\x03\x04 broken", source="auto", target=target)
        equal("a bad document", told, send_file(s, "a.docx", b"PK\x03\x04 broken", source={"de": "en", "en": "de"}[target],
                                                target=target))
        equal("a bad document", told[0], 400)


def check_texts(s):
    """Each text has its own language; one that is in the target language comes back as it is."""
    texts = [ENGLISH, GERMAN, "", "Good morning", "Guten Morgen", "12"]
    want = [ENGLISH, one(s, GERMAN, "de", "en"), "", "Good morning", one(s, "Guten Morgen", "de", "en"), "12"]
    found = ["en", "de", "en", "en", "de", "en"]
    status, answer = s.json("/translate", {"q": texts, "source": "auto", "target": "en"})
    equal("texts", (status, answer["translatedText"]), (200, want))
    equal("languages", [x["language"] for x in answer["detectedLanguage"]], found)
    status, answer = s.json("/translate", {"q": texts, "source": "auto", "target": "en", "alternatives": 2})
    equal("with alternatives", (status, answer["translatedText"]), (200, want))
    equal("alternatives", [bool(x) for x in answer["alternatives"]], [False, True, False, False, True, False])
    status, answer = s.json("/v2/translate", {"text": texts, "target_lang": "EN-GB"})
    equal("DeepL", [(x["detected_source_language"].lower(), x["text"]) for x in answer["translations"]],
          list(zip(found, want)))
    status, answer = s.json("/imme", {"text_list": texts, "source_lang": "auto", "target_lang": "en"})
    equal("imme", [(x["detected_source_lang"], x["text"]) for x in answer["translations"]], list(zip(found, want)))
    status, answer = s.json("/kiss", {"texts": texts, "from": "auto", "to": "en"})
    equal("kiss", [(x["src"], x["text"]) for x in answer["translations"]], list(zip(found, want)))
    pages = [f'<p class="the thing with this name">{x}</p>' for x in (GERMAN, ENGLISH)]
    status, answer = s.json("/translate", {"q": pages, "source": "auto", "target": "de", "format": "html"})
    equal("HTML", [x["language"] for x in answer["detectedLanguage"]], ["de", "en"])
    equal("HTML", answer["translatedText"], [pages[0], one(s, pages[1], "en", "de", format="html")])
    status, answer = s.json("/translate", {"q": [GERMAN, "Impressum", "Kontakt"], "source": "auto", "target": "en"})
    equal("words of any language go with the others", [x["language"] for x in answer["detectedLanguage"]], 3 * ["de"])
    status, answer = s.json("/translate", {"q": ["Danke", ENGLISH], "source": "auto", "target": "en"})
    equal("but not to stay as they are", [x["language"] for x in answer["detectedLanguage"]], ["de", "en"])
    status, answer = s.json("/translate", {"q": "Good night", "source": "auto", "target": "de"})
    equal("words of either language are translated", answer["translatedText"], one(s, "Good night", "en", "de"))


def check_glossary(s):
    """A glossary is for the texts of its languages."""
    entries = {"name": "a", "source_lang": "de", "target_lang": "en", "entries": "Haus\tcastle", "entries_format": "tsv"}
    made = s.json("/v2/glossaries", entries)[1]["glossary_id"]
    texts = ["The Haus is a large house, and this is what we have seen there.", "Das Haus ist sehr groß und schön."]
    status, answer = s.json("/v2/translate", {"text": texts, "target_lang": "EN", "glossary_id": made})
    assert status == 200 and "castle" in answer["translations"][1]["text"], answer
    equal("a text of another language", answer["translations"][0]["text"], texts[0])
    equal("none of them", s.json("/v2/translate", {"text": texts[:1], "target_lang": "EN", "glossary_id": made})[0], 404)


def check_plain(s):
    """What is no tag comes back as it is, and what is one stays one."""
    text = "If a < b & c > d, the List<String> is empty."
    want = one(s, text, "en", "de")
    assert "<" in want and "&" in want and ";" not in want, want
    equal("deeplx", s.json("/deeplx", {"text": text, "source_lang": "EN", "target_lang": "DE"})[1]["data"], want)
    equal("kiss", s.json("/kiss", {"text": text, "from": "en", "to": "de"})[1]["text"], want)
    marked = "We <b>love</b> our dog & cat."
    html = one(s, marked, "en", "de", format="html")
    equal("kiss, with tags", s.json("/kiss", {"text": marked, "from": "en", "to": "de"})[1]["text"], html)
    for html_asked, wanted in ((True, html), (False, one(s, marked, "en", "de"))):
        answer = s.json("/kiss", {"text": marked, "from": "en", "to": "de", "html": html_asked})[1]
        equal(f"html {html_asked}", answer["text"], wanted)
    equal("kiss, several", s.json("/kiss", {"texts": [text, marked], "from": "en", "to": "de"})[1]["results"], [want, html])
    answer = s.json("/imme", {"text_list": [text, marked], "source_lang": "en", "target_lang": "de"})[1]
    equal("imme", [x["text"] for x in answer["translations"]], [want, html])
    plain = one(s, "See </b> & more.", "en", "de")
    fields = {"text": "See </b> & more.", "source_lang": "EN", "target_lang": "DE"}
    equal("deeplx is for plain text", s.json("/deeplx", fields)[1]["data"], plain)
    answer = s.json("/deeplx", {"text": marked, "source_lang": "EN", "target_lang": "DE", "tag_handling": "html"})[1]
    equal("unless it says otherwise", answer["data"], html)


def check_once(s):
    """No translation is named twice."""
    for text in ("MY NAME IS ANNA", "a red house", "THE HOUSE IS RED", "Good morning", "hello", "no"):
        status, answer = s.json("/ganz/translate", {"text": text, "source": "en", "target": "de", "alternatives": 3})
        texts = [t["text"] for t in answer["sentences"][0]["translations"]]
        assert status == 200 and texts and len(set(texts)) == len(texts), f"{text}: {texts}"


def check_usage(s):
    """All that is handed in counts."""
    def used():
        return s.get("/v2/usage")[1]["character_count"]
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for what, ask, count in (
            ("texts", lambda: one(s, "Guten Tag, schöne Frau.", "de", "en"), 23),
            ("the page", lambda: s.json("/ganz/translate", {"text": "Good. Hello {a}.", "source": "en", "target": "de"}), 15),
            ("a file", lambda: send_file(s, "a.txt", "Schön.\n".encode(), source="de", target="en"), 7),
            ("DeepL's documents", lambda: document(s, "a.txt", b"Good morning.\n", "DE"), 14),
            ("the form", lambda: s.ask("POST", "/", b"q=Hello&source=en&target=de", form), 5)):
        before = used()
        ask()
        equal(what, used() - before, count)


def check_two_models():
    """A prefix is for the second model; the first one translates as ever."""
    if not MAKE_MODEL:
        return
    subprocess.run([MAKE_MODEL, "fr-en.safetensors", "5", "fr", "en"], check=True)
    with Server(GANZ, "--model", "./fr-en.safetensors", "--model", "en-de") as s:
        fields = {"alternatives": 2, "prefix": "Das ist", "alignment": True, "scores": True, "words": True}
        text = "the cat sat on the mat"
        middle = s.json("/ganz/translate", {"sentences": [text], "source": "fr", "target": "en"})[1]
        middle = middle["sentences"][0]["translations"][0]["text"]
        assert middle != text, middle
        want = s.json("/ganz/translate", {"sentences": [middle], "source": "en", "target": "de", **fields})[1]
        status, got = s.json("/ganz/translate", {"sentences": [text], "source": "fr", "target": "de", **fields})
        equal("status", status, 200)
        got = got["sentences"][0]
        equal("a prefix", [t["text"] for t in got["translations"]],
              [t["text"] for t in want["sentences"][0]["translations"]])
        assert got["source"] == text and got["translations"][0]["text"].startswith("Das ist"), got
        equal("all that is said", {key for t in got["translations"] for key in t}, {"text"})


def main():
    with Server(GANZ) as s:
        for check in (check_documents, check_texts, check_glossary, check_plain, check_once, check_usage):
            check(s)
            print("fine:", check.__name__)
    equal("exit", s.process.returncode, 0)
    check_two_models()
    print("fine:", check_two_models.__name__)


main()
