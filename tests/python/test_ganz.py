"""The Python package against the program: the same bytes, from threads, after a fork, through pickle; refusals; no
memory lost. GANZ names the program, MODELS the folder of the models; GANZ_LEAK_CALLS says how many calls the search for
lost memory makes. Run with PYTHONPATH=<build>/python, or with the wheel installed."""
import asyncio
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
os.environ.setdefault("GANZ_MODELS", os.environ.get("MODELS", str(TESTS.parent / "models")))
if "GANZ" in os.environ:
    os.environ.setdefault("GANZ_PROGRAM", os.environ["GANZ"])

import ganz  # noqa: E402

LINES = (TESTS / "data" / "tatoeba.en").read_text(encoding="utf-8").split("\n")[:300]
TEXT = "\n".join(LINES) + "\n"


def by_program(*words, text=TEXT):
    """What the program says to a text."""
    return subprocess.run([sys.executable, "-m", "ganz", "translate", *words], input=text.encode(), stdout=subprocess.PIPE,
                          check=True).stdout.decode()


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def in_child(translator, queue):
    queue.put(translator.translate(LINES[:5]))


class SameBytes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.translator = ganz.Translator()
        cls.expected = by_program("--format", "text")

    def test_text(self):
        self.assertEqual(self.translator.translate(TEXT), self.expected)

    def test_list(self):
        self.assertEqual(self.translator.translate(LINES[:50]), self.expected.split("\n")[:50])

    def test_iter(self):
        taken = []

        def lines():
            for line in LINES[:60]:
                taken.append(line)
                yield line

        found = self.translator.translate_iter(lines(), batch=10)
        first = next(found)
        self.assertLessEqual(len(taken), 20)  # two batches ahead, no more
        self.assertEqual([first, *found], self.expected.split("\n")[:60])

    def test_batch(self):
        text = "\n".join(LINES[:20]) + "\n"
        rows = [row.split("\t") for row in by_program("--n-best", "3", "--scores", text=text).splitlines()]
        found = self.translator.translate_batch(LINES[:20], n_best=3)
        flat = [(i + 1, t.score, t.text) for i, r in enumerate(found) for t in r.translations]
        self.assertEqual([(int(n), s) for n, _, s in rows], [(n, s) for n, _, s in flat])
        for row, (_, value, _) in zip(rows, flat):
            self.assertAlmostEqual(float(row[1]), value, 3)

    def test_search_of_model(self):  # an imported one that wants another length penalty and other beams
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "imported.safetensors"
            ganz.run("import", TESTS / "import" / "hf", out=model)
            self.assertIn("alpha 1", ganz.run("inspect", model))
            text = "a b c d\nb a\n"
            rows = [row.split("\t") for row in by_program("--model", str(model), "--scores", text=text).splitlines()]
            with ganz.Translator(model, threads=1) as translator:
                found = translator.translate_batch(text.splitlines())
                self.assertEqual([row[-1] for row in rows], [r.text for r in found])
                for row, r in zip(rows, found):
                    self.assertAlmostEqual(float(row[-2]), r.score, 3)
                with self.assertRaisesRegex(ganz.GanzError, "1 to the beam"):
                    translator.translate_batch(["a"], n_best=60)

    def test_prefix(self):
        line = "The weather is nice today."
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            print("Heute", file=file, flush=True)
            wanted = by_program("--prefix", file.name, text=line + "\n").rstrip("\n")
        self.assertEqual(self.translator.translate_batch([line], prefix=["Heute"])[0].text, wanted)
        self.assertTrue(wanted.startswith("Heute"))

    def test_links(self):
        line = "I saw Käthe’s dog – yesterday."
        result = self.translator.translate_batch([line], alignment=True)[0]
        words = {(line[slice(*k.source)], result.text[slice(*k.target)]) for k in result.links}
        self.assertTrue(any(a == "I" and b == "Ich" for a, b in words), words)
        self.assertIsNone(self.translator.translate_batch([line])[0].links)

    def test_token_scores(self):
        line = "I saw Käthe’s dog – yesterday."
        result = self.translator.translate_batch([line], token_scores=True)[0]
        words = by_program("--word-scores", text=line + "\n").rstrip("\n").split("\t")
        self.assertEqual(words[0], result.text)
        self.assertEqual(len(words[1].split()), len(result.text.split()))
        self.assertAlmostEqual(sum(map(float, words[1].split())), sum(t.score for t in result.tokens), 2)
        self.assertEqual("".join(result.text.split()), "".join(result.text[slice(*t.target)] for t in result.tokens))
        self.assertIsNone(result.links)
        self.assertIsNone(self.translator.translate_batch([line])[0].tokens)

    def test_document(self):
        page = "<html><body><p>I like <b>cats</b>.</p>\n<p>Good morning.</p></body></html>\n"
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "page.html"
            source.write_text(page)
            told = []
            out = self.translator.translate_document(source, progress=lambda *of: told.append(of))
            self.assertEqual(out.name, "page.de.html")
            self.assertEqual(out.read_text(), by_program("--format", "html", text=page))
            self.assertEqual(self.translator.translate(page, format="html"), out.read_text())
            self.assertEqual(told[-1], (2, 2))
            self.assertEqual(sorted(os.listdir(folder)), ["page.de.html", "page.html"])

    def test_names(self):  # any bytes but / and 0, which Python shows as it can
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / os.fsdecode(b"gr\xfc\xdfe.safetensors")
            model.symlink_to(ganz.find_model("en-de"))
            with ganz.Translator(model, threads=1) as translator:
                for stem in (b"gr\xfc\xdfe", b"x" * 248):  # the longest that has room for .de.txt
                    source = Path(folder) / os.fsdecode(stem + b".txt")
                    source.write_text(TEXT[:80], encoding="utf-8")
                    out = translator.translate_document(source)
                    self.assertEqual(os.fsencode(out.name), stem + b".de.txt")
                    self.assertEqual(out.read_text(), by_program("--format", "text", text=TEXT[:80]))

    def test_async(self):
        async def both():
            return await asyncio.gather(*(self.translator.atranslate(line) for line in LINES[:8]))

        self.assertEqual(asyncio.run(both()), self.expected.split("\n")[:8])

    def test_threads(self):
        found = {}

        def work(k):
            found[k] = self.translator.translate(LINES[k * 10 : k * 10 + 10])

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sum((found[k] for k in range(8)), []), self.expected.split("\n")[:80])

    def test_lock_is_free(self):
        turns = 0
        done = threading.Event()
        thread = threading.Thread(target=lambda: (self.translator.translate(LINES[:60]), done.set()))
        thread.start()
        while not done.wait(0.001):
            turns += 1
        thread.join()
        self.assertGreater(turns, 5)

    def test_fork(self):
        self.translator.translate(LINES[0])  # threads run in the parent
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=in_child, args=(self.translator, queue))
        child.start()
        self.assertEqual(queue.get(timeout=60), self.expected.split("\n")[:5])
        child.join(60)
        self.assertEqual(child.exitcode, 0)

    def test_pickle(self):
        with ganz.Translator("de-en", beam=2, threads=1, glossary={"Hund": "hound", "Katze": None}) as translator:
            other = pickle.loads(pickle.dumps(translator))
            self.assertEqual(other.translate("Der Hund schläft."), translator.translate("Der Hund schläft."))
            self.assertIn("hound", other.translate("Der Hund schläft."))
            self.assertEqual(repr(other), repr(translator))
        with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:  # with a note, a term of nothing, and one twice
            file.write("Hund\thound\ta note\n\tnothing\nHund\tmutt\n")
            file.flush()
            with ganz.Translator("de-en", threads=1, glossary=file.name) as translator:
                other = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(translator))))
                self.assertEqual(other.translate("Der Hund schläft."), translator.translate("Der Hund schläft."))
                self.assertIn("hound", other.translate("Der Hund schläft."))

    def test_formality(self):
        self.assertFalse(ganz.Translator("de-en").model_info.formality)
        with self.assertRaisesRegex(ganz.GanzError, "was not taught"):
            ganz.Translator("de-en", formality="formal")
        with self.assertRaisesRegex(ganz.GanzError, "auto, formal or informal"):
            ganz.Translator("de-en", formality="polite")
        with ganz.Translator("de-en", formality="auto") as translator:
            self.assertEqual(pickle.loads(pickle.dumps(translator)).translate("Der Hund schläft."),
                             translator.translate("Der Hund schläft."))

    def test_info(self):
        info = self.translator.model_info
        whole = ganz.inspect("en-de")
        for name in ("width", "ffn", "heads", "vocabulary", "parameters", "bits", "integer_products", "formality"):
            self.assertEqual(getattr(info, name), whole[name])
        self.assertEqual(info.source_language, "en")

    def test_version(self):
        said = subprocess.run([sys.executable, "-m", "ganz", "--version"], stdout=subprocess.PIPE, check=True).stdout
        self.assertTrue(said.decode().startswith("ganz " + ganz.__version__))


class Refusals(unittest.TestCase):
    def test_model(self):
        for name in ("/nowhere/at-all", "en-xx", __file__):
            with self.assertRaises(ganz.GanzError) as caught:
                ganz.Translator(name)
            self.assertIn(caught.exception.status, (ganz.Status.IO, ganz.Status.FORMAT))
            again = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((str(again), again.status), (str(caught.exception), caught.exception.status))

    def test_long_names(self):  # a sentence that they make too long is cut, maybe within a letter
        for odd in ("", "x"):
            with tempfile.TemporaryDirectory() as folder:
                deep = Path(folder) / (odd + "ü" * 120) / ("ü" * 120)
                deep.mkdir(parents=True)
                (deep / "m.safetensors").write_text("no model")
                with self.assertRaises(ganz.GanzError) as caught:
                    ganz.Translator(deep / "m.safetensors")
                self.assertIn("ü" * 100, str(caught.exception))

    def test_no_model(self):
        with self.assertRaisesRegex(ganz.GanzError, "^no model for ab-cd is installed: .*GANZ_MODELS.*ab-cd.safetensors") as caught:
            ganz.Translator("ab-cd")
        self.assertNotIn("pip install ganz-model", str(caught.exception))  # nobody has put one on PyPI

    def test_folder_in_the_way(self):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "en-de"))
            os.chdir(folder)
            try:
                for name in (None, "en-de"):
                    with ganz.Translator(name, threads=1) as translator:
                        self.assertEqual(pickle.loads(pickle.dumps(translator)).translate("Yes."), translator.translate("Yes."))
            finally:
                os.chdir(before)

    def test_options(self):
        for options in ({"beam": 0}, {"beam": 65}, {"alpha": float("nan")}, {"alpha": -1}, {"threads": -1},
                        {"threads": 1000}, {"glossary": {"a\tb": "c"}}, {"glossary": {"#a": "b"}}, {"glossary": {"": "b"}},
                        {"glossary": {" ": "b"}}):
            with self.assertRaises(ganz.GanzError):
                ganz.Translator(**options)
        for call in (lambda t: t.translate("x", format="nothing"), lambda t: t.translate("x", newlines="?"),
                     lambda t: t.translate_batch(["x"], n_best=5), lambda t: t.translate_batch(["x"], n_best=0),
                     lambda t: t.translate_batch(["x"], prefix=[]), lambda t: t.translate_batch(["a\nb"])):
            with ganz.Translator(threads=1) as translator, self.assertRaises(ganz.GanzError) as caught:
                call(translator)
            self.assertNotEqual(caught.exception.status, ganz.Status.OK)

    def test_types(self):
        with ganz.Translator(threads=1) as translator:
            for wrong in (5, [5], ["a", None], None):
                with self.assertRaises(TypeError):
                    translator.translate(wrong)
            with self.assertRaises(UnicodeEncodeError):
                translator.translate("\udc80")
            self.assertEqual(translator.translate([]), [])
            self.assertEqual(translator.translate(""), "")

        self.assertRaisesRegex(TypeError, "a text is a str, not .*int", ganz.Translator(threads=1).translate, ["a", 5])

    def test_input(self):  # the program would wait for it
        code = "import ganz; ganz.run('translate', input='\\udc80')"
        said = subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
        self.assertIn(b"UnicodeEncodeError", said.stderr)

    def test_batches(self):
        with ganz.Translator(threads=1) as translator:
            for size in (0, -1):  # nothing is lost in silence
                with self.assertRaises(ganz.GanzError):
                    translator.translate_iter(["a"], batch=size)

    def test_nobody_waits(self):  # what is under way ends, instead of being translated for nobody
        lines = LINES * 20
        with ganz.Translator(threads=1) as translator:
            some = translator.translate_iter(lines, batch=1500)
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            began = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                next(some)
            self.assertLess(time.monotonic() - began, 4)

            async def impatient():
                await asyncio.wait_for(translator.atranslate(lines), 0.5)

            began = time.monotonic()
            with self.assertRaises(asyncio.TimeoutError):
                asyncio.run(impatient())
            self.assertLess(time.monotonic() - began, 4)

            async def forgetful():
                forgotten = translator.atranslate(lines)
                forgotten.send(None)
                await asyncio.sleep(0.5)
                forgotten.close()

            began = time.monotonic()
            asyncio.run(forgetful())
            self.assertLess(time.monotonic() - began, 4)

    def test_closed(self):
        translator = ganz.Translator(threads=1)
        translator.close()
        translator.close()
        with self.assertRaises(ValueError):
            translator.translate("x")

    def test_callback(self):
        with ganz.Translator(threads=1, beam=1) as translator:
            with self.assertRaises(ZeroDivisionError):
                translator.translate(LINES[:40], progress=lambda done, total: 1 / 0)
            told = []
            translator.translate_batch(LINES[:40], progress=lambda *of: told.append(of))
            self.assertEqual(told[-1], (40, 40))

    def test_close_while_busy(self):
        translator = ganz.Translator(threads=1)
        found = []
        thread = threading.Thread(target=lambda: found.append(translator.translate(LINES[:20])))
        thread.start()
        time.sleep(0.05)
        translator.close()
        thread.join()
        self.assertEqual(len(found[0]), 20)


class Chain(unittest.TestCase):
    def test_text_to_model(self):
        said = []
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            numbers = "one two three four five six seven eight nine ten".split()
            zahlen = "eins zwei drei vier fünf sechs sieben acht neun zehn".split()
            pairs = [(f"{a} and {b}", f"{x} und {y}") for a, x in zip(numbers, zahlen) for b, y in zip(numbers, zahlen)]
            (folder / "a.en").write_text("".join(a + "\n" for a, _ in pairs))
            (folder / "a.de").write_text("".join(b + "\n" for _, b in pairs))
            vocabulary = ganz.vocab([folder / "a.en", folder / "a.de"], folder / "v.txt", size=150)
            corpus = ganz.prepare(folder / "a.en", folder / "a.de", vocabulary, folder / "c.safetensors")
            model = ganz.train(corpus, folder / "run", vocab=vocabulary, recipe="tiny", steps=3, progress=said.append)
            small = ganz.quantize(model, folder / "int8.safetensors", calibrate=folder / "a.en")
            audit = ganz.inspect(small, audit=folder / "a.en")
            self.assertEqual(audit["float_products"], 0)
            with ganz.Translator(small, threads=1) as translator:
                translator.translate_document(folder / "a.en", folder / "out.de", format="lines")
            self.assertLess(ganz.score(folder / "a.de", folder / "out.de")["score"], 100)
            self.assertAlmostEqual(ganz.score(folder / "a.de", folder / "a.de")["score"], 0)  # no line has four words
            self.assertAlmostEqual(ganz.score(folder / "a.de", folder / "a.de", metric="chrf")["score"], 100)
            with self.assertRaises(ganz.GanzError):
                ganz.run("train", train=folder / "missing", out=folder / "other")


class Leaks(unittest.TestCase):
    def test_calls(self):
        calls = int(os.environ.get("GANZ_LEAK_CALLS", "500"))
        with ganz.Translator(threads=1, beam=1) as translator:
            def work():
                translator.translate("Yes.")
                translator.translate_batch(["No."], alignment=True)
                try:
                    translator.translate("x", format="nothing")
                except ganz.GanzError:
                    pass

            for _ in range(200):
                work()
            before = resident()
            for _ in range(calls // 2):
                work()
            self.assertLess(resident() - before, 3 << 20)

    def test_translators(self):
        for _ in range(3):
            ganz.Translator(threads=1, beam=1).translate("Yes.")
        before = resident()
        for _ in range(10):
            ganz.Translator(threads=1, beam=1).translate("Yes.")
        self.assertLess(resident() - before, 12 << 20)  # a model alone has 16 MB


if __name__ == "__main__":
    unittest.main()
