"""Tests of `ganz serve` when much is asked of it, and of where its files may lie: test_room.py GANZ."""
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from server import Server, multipart, read_reply, wait_until

GANZ = sys.argv[1]
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models")
FIELDS = {"q": "Good morning", "source": "en", "target": "de"}


def equal(what, got, wanted):
    assert got == wanted, f"{what}: {got!r} instead of {wanted!r}"


def check_health_behind_translations():
    """More translations wait than there are threads: whoever asks for the health does not stand behind them."""
    text = " ".join(f"The government passed law number {i} about the railway yesterday." for i in range(25))
    with Server(GANZ, "--metrics") as s:
        clients = [s.connect() for _ in range(78)]  # 14 find no thread
        for i, c in enumerate(clients):
            body = json.dumps({**FIELDS, "q": f"{i}. {text}"}).encode()
            c.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        for path in ("/health", "/languages", "/frontend/settings"):
            equal(path, s.get(path)[0], 200)
        answered = len(select.select(clients, [], [], 0)[0])
        waiting = int(re.search(r"^ganz_requests_waiting (\d+)$", s.ask("GET", "/metrics")[2].decode(), re.M)[1])
        for c in clients:  # nobody waits for the rest of the translations, nor does the server
            c.close()
        assert answered < 10 and waiting > 3, f"{answered} were answered first, {waiting} had no thread yet"


def check_documents_asked_for():
    """Many who ask for one long document do not keep a translation waiting."""
    words = "house tree river bridge train letter window garden street market winter summer".split()
    text = "".join(f"The {a} by the {b} is older than the {c}.\n" for a in words for b in words for c in words)
    kind, body = multipart({"target_lang": "DE", "source_lang": "EN"}, [("file", "long.txt", text.encode())])
    with Server(GANZ) as s:
        status, _, answer = s.ask("POST", "/v2/document", body, {"Content-Type": kind})
        equal("taken", status, 200)
        made = json.loads(answer)
        waiting = []
        ask = (f"GET /v2/document/{made['document_id']}?document_key={made['document_key']} HTTP/1.1\r\n"
               "Host: localhost\r\n\r\n").encode()
        for _ in range(300):
            c = s.connect(300)
            c.sendall(ask)
            waiting.append(c)
        began = time.monotonic()
        equal("a translation among them", s.json("/translate", FIELDS)[0], 200)
        took = time.monotonic() - began
        for c in waiting:
            equal("a question", read_reply(c)[0], 200)
            c.close()
        assert took < 4, f"{took} s: it stood behind those who wait 2 s each"
        equal("forgotten", s.ask("DELETE", f"/ganz/document/{made['document_id']}")[0], 200)


def check_glossaries():
    """Their bytes are bounded, and come back when one is removed."""
    entries = "\n".join(f"word{i}\tWort{i}" for i in range(45000))
    order = {"name": "g", "source_lang": "en", "target_lang": "de", "entries": entries, "entries_format": "tsv"}
    with Server(GANZ) as s:
        made = []
        for _ in range(100):
            status, answer = s.json("/v2/glossaries", order)
            if status != 201:
                break
            made.append(answer["glossary_id"])
        assert 10 < len(made) < 60 and status >= 400 and "no room" in answer["message"], (len(made), status, answer)
        assert s.rss() < 600, s.rss()
        equal("removed", s.ask("DELETE", f"/v2/glossaries/{made[0]}")[0], 204)
        equal("room again", s.json("/v2/glossaries", order)[0], 201)
        for line, status in ("cat\t" + 1024 * "b", 201), ("cat\t" + 1025 * "b", 400), (1025 * "b" + "\tKatze", 400):
            equal(f"a term of {len(line)}", s.json("/v2/glossaries", {**order, "entries": "dog\tHund\n" + line})[0], status)


def check_memory_of_documents():
    """The memory of documents that are gone is given back."""
    text = b"".join(b"House number %d is older than the bridge.\n" % i for i in range(200000))
    kind, body = multipart({"source": "en", "target": "de"}, [("file", "a.txt", text)])
    with Server(GANZ) as s:
        for _ in range(2):
            answers = [s.ask("POST", "/ganz/document", body, {"Content-Type": kind}) for _ in range(20)]
            equal("taken", {status for status, _, _ in answers}, {200})
            for _, _, answer in answers:
                equal("removed", s.ask("DELETE", f"/ganz/document/{json.loads(answer)['id']}")[0], 200)
        with open(GANZ, "rb") as f:
            sanitized = re.search(b"__[at]san_init", f.read())  # they keep what was freed
        assert sanitized or wait_until(lambda: s.rss() < 260, 5), s.rss()


def check_names():
    """A long name of a file comes back whole or cut between characters, and leads to the result."""
    with Server(GANZ) as s:
        for name in ("b" * 120 + ".txt", "a" + "ä" * 100 + ".txt", "c." + "ö" * 90, "ж" * 200 + ".txt"):
            kind, body = multipart({"source": "en", "target": "de", "format": "text"}, [("file", name, b"Good morning.\n")])
            status, _, answer = s.ask("POST", "/translate_file", body, {"Content-Type": kind})
            if name.startswith("c."):  # no suffix that says a format
                assert status in (200, 400), (name, status, answer)
                json.loads(answer)
                continue
            equal(name, status, 200)
            path = re.sub(r"^http://[^/]*", "", json.loads(answer)["translatedFileUrl"])
            equal(path, s.ask("GET", path)[::2], (200, "Guten Morgen.\n".encode()))


def check_links():
    """Models and keys may be links to files in other folders."""
    for folder in ("real", "links"):
        os.makedirs(folder, exist_ok=True)
    shutil.copy(f"{MODELS}/en-de.safetensors", "real/model.safetensors")
    with open("real/keys", "w", encoding="utf-8") as f:
        f.write("a-key\n")
    for name in ("model.safetensors", "keys"):
        os.symlink(f"../real/{name}", f"links/{name}")
    with Server(GANZ, "--model", "links/model.safetensors", "--keys", "links/keys") as s:
        equal("links", s.json("/translate", {**FIELDS, "api_key": "a-key"})[0], 200)


def check_reload():
    """All or nothing: where the keys are missing the models stay, too."""
    shutil.copy(f"{MODELS}/en-de.safetensors", "now.safetensors")
    shutil.copy(f"{MODELS}/de-en.safetensors", "next.safetensors")
    with open("keys", "w", encoding="utf-8") as f:
        f.write("a-key\n")
    with Server(GANZ, "--model", "now.safetensors", "--keys", "keys") as s:
        os.rename("next.safetensors", "now.safetensors")
        os.rename("keys", "away")
        s.process.send_signal(signal.SIGHUP)
        assert wait_until(lambda: any("stay as they were" in line for line in s.lines)), s.lines
        equal("the models", [x["code"] for x in s.get("/languages")[1] if x["targets"] != [x["code"]]], ["en"])
        equal("the keys", s.json("/translate", {**FIELDS, "api_key": "a-key"})[0], 200)
        os.rename("away", "keys")
        s.process.send_signal(signal.SIGHUP)
        assert wait_until(lambda: any("open anew" in line for line in s.lines)), s.lines
        equal("other models", [x["code"] for x in s.get("/languages")[1] if x["targets"] != [x["code"]]], ["de"])


def check_refused_at_the_end():
    """Whoever comes while the last requests are answered is refused at once, instead of waiting for nothing."""
    text = " ".join(f"The government passed law number {i} about the railway yesterday." for i in range(300))
    with Server(GANZ, "--metrics") as s:
        last = []
        asking = threading.Thread(target=lambda: last.append(s.json("/translate", {**FIELDS, "q": text})))
        asking.start()
        assert wait_until(lambda: b"ganz_requests_running 2" in s.ask("GET", "/metrics")[2], 20)
        s.stop()
        refused = False
        while asking.is_alive() and not refused:
            try:
                with s.connect(1) as c:
                    c.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    select.select([c], [], [], 0.05)
            except ConnectionRefusedError:
                refused = asking.is_alive()
        asking.join()
    assert refused, "connections were taken until the end"
    equal("the last answer", last[0][0], 200)


def check_asked_before_the_end():
    """A request behind a reply that is still on its way, and that promised to keep the connection, is answered."""
    page = b"<p>Good morning.</p>\n<!-- " + b"a" * 9000000 + b" -->\n"
    kind, body = multipart({"source": "en", "target": "de"}, [("file", "a.html", page)])
    with Server(GANZ) as s:
        answer = json.loads(s.ask("POST", "/translate_file", body, {"Content-Type": kind})[2])
        path = re.sub(r"^http://[^/]*", "", answer["translatedFileUrl"])
        with s.connect(60) as c:
            c.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            got = c.recv(1000)
            s.stop()
            assert wait_until(lambda: any("stopping" in line for line in s.lines)), s.lines
            for part in iter(lambda: c.recv(1 << 20), b""):
                got += part
    first, _, rest = got.partition(b"</p>")
    assert b"Connection: keep-alive" in first and len(rest) > 9000000, (first, len(rest))
    assert rest.endswith(b'{"status":"ok"}\n') and b"Connection: close" in rest[-300:], rest[-300:]


def check_metrics():
    """Every series stands once, and all of one name stand together; who leaves in the middle of a request has no answer."""
    with Server(GANZ, "--metrics", "--log") as s:
        with s.connect() as c:
            c.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nq=")
        assert wait_until(lambda: any('"route":"/translate"' in line for line in s.lines)), s.lines
        asked = s.ask("GET", "/metrics")[2].decode()
        assert "/translate" not in asked and "ganz_request_seconds_count 0\n" in asked, asked
        s.ask("GET", "/")
        s.ask("POST", "/", b"q=Good+morning&source=en&target=de", {"Content-Type": "application/x-www-form-urlencoded"})
        series = [x.rsplit(" ", 1)[0] for x in s.ask("GET", "/metrics")[2].decode().splitlines() if x[:1] != "#"]
    equal("series", sorted(set(series)), sorted(series))
    names = [x.split("{")[0] for x in series]
    names = [x for i, x in enumerate(names) if i == 0 or names[i - 1] != x]
    equal("names", sorted(set(names)), sorted(names))


def check_forwarded():
    """Behind a proxy a client is who the last header says: what stands before that came from the client itself."""
    def begun(s, first):
        c = s.connect()
        c.sendall(f"POST /translate HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {first}\r\n"
                  "X-Forwarded-For: 9.9.9.9\r\nContent-Length: 5\r\n\r\n".encode())
        return c
    with Server(GANZ, "--trust-proxy") as s:
        many = [begun(s, f"1.1.1.{i}") for i in range(20)]
        wait_until(lambda: len(select.select(many, [], [], 0)[0]) >= 4, 5)
        equal("more than 16 at once", [read_reply(c)[0] for c in select.select(many, [], [], 0)[0]], 4 * [429])
        for c in many:
            c.close()


def check_https_behind_a_proxy():
    """The address of a result, and the one that the page names, is what the client can reach; what it says itself is
    nothing without a proxy."""
    kind, body = multipart({"source": "en", "target": "de"}, [("file", "a.txt", b"Good morning.\n")])
    for options, wanted in (("--trust-proxy",), "https"), ((), "http"):
        with Server(GANZ, *options) as s:
            headers = {"Content-Type": kind, "X-Forwarded-Proto": "https"}
            status, _, answer = s.ask("POST", "/translate_file", body, headers)
            page = s.ask("GET", "/", headers=headers)[2].decode()
        equal(f"scheme with {options}", (status, json.loads(answer)["translatedFileUrl"].split(":")[0]), (200, wanted))
        equal(f"the page with {options}", re.search(r"target=de (\w+)://127", page).group(1), wanted)


def check_refused_and_gone():
    """Clients that are gone, by a reset, before they can be told that their head was refused."""
    heads = (b"GET /nothing", b""), (b"OPTIONS /", b""), (b"POST /translate", b"Content-Length: 999999999\r\n")
    with Server(GANZ) as s:
        for line, headers in 100 * heads:
            with s.connect() as c:
                c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                c.sendall(line + b" HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n")
        equal("health after clients that left", s.ask("GET", "/health")[0], 200)
    equal("exit", s.process.returncode, 0)


def check_passed_unix_socket():
    """As systemd does it with a path: no name of a host is wrong there."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("passed")
        listener.listen()
        code = ("import os,sys;os.dup2(int(sys.argv[2]),3);os.set_inheritable(3,True);"
                "os.environ.update(LISTEN_PID=str(os.getpid()),LISTEN_FDS='1');"
                "os.execv(sys.argv[1],[sys.argv[1],'serve','--model','en-de'])")
        process = subprocess.Popen([sys.executable, "-c", code, GANZ, str(listener.fileno())], stderr=subprocess.PIPE,
                                   pass_fds=[listener.fileno()])
        try:
            with socket.socket(socket.AF_UNIX) as c:
                c.settimeout(60)
                c.connect("passed")
                c.sendall(b"GET /health HTTP/1.1\r\nHost: translate.example\r\n\r\n")
                equal("a passed Unix socket", read_reply(c)[0], 200)
            process.terminate()
            equal("exit", process.wait(60), 0)
        finally:
            process.kill()
            process.stderr.close()


for check in (check_health_behind_translations, check_documents_asked_for, check_glossaries,
              check_memory_of_documents, check_names, check_links,
              check_reload, check_refused_at_the_end, check_asked_before_the_end, check_metrics, check_forwarded,
              check_https_behind_a_proxy, check_refused_and_gone, check_passed_unix_socket):
    check()
    print("fine:", check.__name__)
