"""Clients of others against a server of ours: clients.py GANZ SCHEMATHESIS EXAMPLES, by tools/serve_clients.sh."""
import io
import re
import subprocess
import sys
import time

import deepl
from deep_translator import LibreTranslator
from libretranslatepy import LibreTranslateAPI

from server import Server

GANZ, SCHEMATHESIS, EXAMPLES = sys.argv[1:]
HELLO = "Hello world. This is a test."


def ganz(text, *options):
    return subprocess.run([GANZ, "translate", "-q", "--model", "en-de", *options], input=text.encode(),
                          stdout=subprocess.PIPE, check=True).stdout.decode()


def equal(what, got, wanted):
    assert got == wanted, f"{what}: {got!r} instead of {wanted!r}"


def check_deepl(url):
    t = deepl.Translator("any:fx", server_url=url)
    equal("text", t.translate_text(HELLO, target_lang="DE").text, ganz(HELLO))
    many = t.translate_text([HELLO, "Good morning"], source_lang="EN", target_lang="DE")
    equal("texts", [x.text for x in many], [ganz(HELLO), ganz("Good morning")])
    equal("detected", many[0].detected_source_lang, "EN")
    back = t.translate_text("Guten Morgen, das ist ein Test.", target_lang="EN-US")
    equal("detected", back.detected_source_lang, "DE")
    tagged = t.translate_text('Press <x id="1"></x> now.', target_lang="DE", tag_handling="xml", ignore_tags=["x"]).text
    assert tagged.count('<x id="1"></x>') == 1, tagged
    equal("source languages", sorted(x.code for x in t.get_source_languages()), ["DE", "EN"])
    equal("target languages", sorted(x.code for x in t.get_target_languages()), ["DE", "EN-GB", "EN-US"])
    assert t.get_usage().character.count > 0
    out = io.BytesIO()
    status = t.translate_document(io.BytesIO(b"<p>Good <b>morning</b>, world.</p>"), out, target_lang="DE",
                                  filename="page.html")
    equal("document", (status.status.value, out.getvalue().decode()),
          ("done", ganz("<p>Good <b>morning</b>, world.</p>", "--format", "html")))
    glossary = t.create_glossary("words", "EN", "DE", {"cat": "Kater", "house": "Heim"})
    equal("entries", t.get_glossary_entries(glossary), {"cat": "Kater", "house": "Heim"})
    assert glossary.glossary_id in [g.glossary_id for g in t.list_glossaries()]
    text = t.translate_text("The cat is in the house.", source_lang="EN", target_lang="DE", glossary=glossary).text
    assert "Kater" in text and "Heim" in text, text
    t.delete_glossary(glossary)
    try:
        t.get_glossary(glossary.glossary_id)
        raise AssertionError("a glossary that was deleted is there")
    except deepl.GlossaryNotFoundException:
        pass
    try:
        t.translate_text("a", target_lang="XX")
        raise AssertionError("XX is no language")
    except deepl.DeepLException as e:
        assert "target_lang" in str(e), e


def check_libre(url):
    lt = LibreTranslateAPI(url + "/")
    equal("libretranslatepy", lt.translate(HELLO, "en", "de"), ganz(HELLO))
    equal("its detect", lt.detect("Guten Morgen, das ist ein Satz.")[0]["language"], "de")
    equal("its languages", sorted(x["code"] for x in lt.languages()), ["de", "en"])
    lt.api_key = "key"
    equal("with a key", lt.translate(HELLO, "en", "de"), ganz(HELLO))
    equal("languages with a key", len(lt.languages()), 2)
    dt = LibreTranslator(source="en", target="de", use_free_api=False, custom_url=url + "/", api_key="key")
    equal("deep-translator", dt.translate(HELLO), ganz(HELLO))


def check_schema(url):
    begin = time.monotonic()
    done = subprocess.run([SCHEMATHESIS, "run", url + "/spec", "--url", url, "--max-examples", EXAMPLES, "--phases",
                           "examples,coverage,fuzzing", "--checks", "not_a_server_error,status_code_conformance,"
                           "content_type_conformance,response_schema_conformance", "--suppress-health-check", "all",
                           "--no-color", "--seed", "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        print(text[-6000:])
        raise SystemExit("schemathesis has found something")
    cases = re.search(r"([0-9]+) generated, ([0-9]+) passed", text)
    assert cases and int(cases[2]) >= 100, f"schemathesis has tried too little: {text[-2000:]}"
    print(f"schemathesis: {cases[0]} ({time.monotonic() - begin:.0f} s)")


def main():
    with Server(GANZ) as s:
        url = f"http://127.0.0.1:{s.port}"
        for check, argument in ((check_deepl, url), (check_libre, url), (check_schema, url)):
            check(argument)
            print("fine:", check.__name__)
    equal("exit", s.process.returncode, 0)


main()
