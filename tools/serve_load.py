#!/usr/bin/env python3
"""Load on a server: serve_load.py [--ganz GANZ] [TEST...], tests being closed, rate, overload, document, memory and restarts;
all when none is named. The load comes from bench/serve_load.c, which is built with the program: one thread that sends at a fixed
rate, or as N clients that wait for their answers. Latencies are the client's, from when a request was due."""
import argparse
import http.client
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "serve"))
from server import Server, multipart  # noqa: E402

BUILD = os.path.join(HERE, "..", "build", "release")
USUAL_ROOM = ("--max-wait", "5")  # as without the option; tests/serve/server.py gives more
TEXTS = os.path.join(HERE, "..", "tests", "data", "tatoeba.en")


def sentences(path):
    with open(path, encoding="utf-8") as f:
        return [line.strip() for line in f if line.strip()]


def load(o, s, **options):
    """What the client saw; options: rate or clients, seconds, requests."""
    arguments = [x for name, value in options.items() for x in (f"--{name}", str(value))]
    done = subprocess.run([o.client, "--port", str(s.port), "--text", o.text, *arguments], stdout=subprocess.PIPE,
                          check=True)
    return json.loads(done.stdout)


def say(name, r, more=""):
    print(f"{name}: {r['ok']} answered, {r['refused']} refused, {r['failed'] + r['broken']} failed, "
          f"{r['per_second']:.1f}/s, p50 {r['p50_ms']:.1f} ms, p99 {r['p99_ms']:.1f} ms{more}", flush=True)


def test_closed(o):
    with Server(o.ganz) as s:
        load(o, s, clients=4, seconds=2)  # warm
        for clients in (1, 8, 64):
            say(f"{clients} clients", load(o, s, clients=clients, seconds=o.seconds), f"; {s.rss():.0f} MiB")


def test_rate(o):
    """At a fixed rate, whatever becomes of the requests before: half and four fifths of what as many clients get that wait."""
    with Server(o.ganz) as s:
        load(o, s, clients=4, seconds=2)
        for clients in (1, 8, 64):
            most = load(o, s, clients=clients, seconds=o.seconds)["per_second"]
            for share in (0.5, 0.8):
                say(f"{clients} clients at {share * most:.0f} requests/s together, {share} of what they can get",
                    load(o, s, rate=share * most, connections=clients, seconds=o.seconds))


def test_overload(o):
    """Ten times as many requests as it can answer, with the usual settings. The two seconds in which the server finds out
    are left out; those after it are all counted."""
    with Server(o.ganz, *USUAL_ROOM) as s:
        load(o, s, clients=2, seconds=2)
        alone = load(o, s, clients=1, seconds=o.seconds)
        most = load(o, s, clients=8, seconds=o.seconds)
        say("alone", alone)
        say("as much as it can", most)
        rate = 10 * most["per_second"]
        say("ten times that, the first two seconds", load(o, s, rate=rate, seconds=2))
        r = load(o, s, rate=rate, seconds=o.seconds)
        say("ten times that, then", r, f"; p99 is {r['p99_ms'] / alone['p99_ms']:.2f} times that alone; refusals p99 "
            f"{r['refused_p99_ms']:.1f} ms")
        say("64 clients, two seconds later", (time.sleep(2), load(o, s, clients=64, seconds=o.seconds))[1])


def test_document(o):
    """Ten clients that chat, alone and beside a document of 5,000 sentences."""
    with Server(o.ganz, "--threads", "2") as s:
        say("ten clients alone", load(o, s, clients=10, seconds=o.seconds))
        chance, lines = random.Random(3), sentences(o.text)
        text = "\n".join(chance.choice(lines) for _ in range(5000)).encode()
        kind, body = multipart({"source": "en", "target": "de"}, [("file", "a.txt", text)])
        made = json.loads(s.ask("POST", "/ganz/document", body, {"Content-Type": kind})[2])
        r = load(o, s, clients=10, seconds=o.seconds)
        facts = json.loads(s.ask("GET", "/ganz/document/" + made["id"])[2])
        say("beside a document", r, f"; {facts['done']} of {facts['count']} sentences meanwhile")


def test_memory(o):
    with Server(o.ganz) as s:
        load(o, s, clients=8, requests=2000, seconds=3600)
        first, sizes = s.rss(), []
        for _ in range(10):
            load(o, s, clients=8, requests=o.requests // 10, seconds=3600)
            sizes.append(s.rss())
        print(f"memory: {first:.1f} MiB after 2,000 requests, then {', '.join(f'{x:.1f}' for x in sizes)} "
              f"after each of ten times {o.requests // 10}", flush=True)


class Client:
    """A connection that is kept; one request at a time."""

    def __init__(self, host, port):
        self.connection = http.client.HTTPConnection(host, port, timeout=120)


def test_restarts(o):
    """Answers are neither lost nor doubled nor wrong while models are opened anew and servers end."""
    want, counts = {}, {"answered": 0, "lost": 0, "wrong": 0, "refused": 0}
    some = sentences(o.text)[:20]
    for text in some:
        want[text] = subprocess.run([o.ganz, "translate", "-q", "--model", "en-de", "--text", text],
                                    stdout=subprocess.PIPE, check=True).stdout.decode().rstrip("\n")
    lock = threading.Lock()

    def run(s, seed, ended):
        chance = random.Random(seed)
        try:
            client = Client("127.0.0.1", s.port)
        except OSError:
            return
        while True:
            text = chance.choice(some)
            try:
                client.connection.connect() if client.connection.sock is None else None
                client.connection.request("POST", "/translate", json.dumps({"q": text, "source": "en", "target": "de"}),
                                          {"Content-Type": "application/json"})
            except OSError:  # not taken in: nothing is lost
                return
            try:
                reply = client.connection.getresponse()
                answer = json.loads(reply.read())
            except (OSError, http.client.HTTPException):
                # closed before a byte of it was read, between requests: the client may ask again elsewhere
                with lock:
                    counts["refused" if ended.is_set() else "lost"] += 1
                return
            with lock:
                if reply.status == 200:
                    counts["answered"] += 1
                    counts["wrong"] += answer["translatedText"] != want[text]
                else:
                    counts["refused"] += 1
    for i in range(o.rounds):
        ended = threading.Event()
        with Server(o.ganz) as s:
            threads = [threading.Thread(target=run, args=(s, 100 * i + k, ended)) for k in range(8)]
            for t in threads:
                t.start()
            for _ in range(2):
                time.sleep(0.1)
                s.process.send_signal(signal.SIGHUP)
            time.sleep(0.1)
            ended.set()
            s.stop()
            for t in threads:
                t.join()
    print(f"{o.rounds} servers, each with two reloads and one end under load: {counts}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ganz", default=os.path.join(BUILD, "cli", "ganz"))
    parser.add_argument("--client", default=os.path.join(BUILD, "bench", "serve_load"))
    parser.add_argument("--text", default=TEXTS, help="a file with a sentence a line")
    parser.add_argument("--seconds", type=float, default=8, help="of each measurement")
    parser.add_argument("--requests", type=int, default=20000, help="of the test of memory")
    parser.add_argument("--rounds", type=int, default=20, help="of the test of restarts")
    parser.add_argument("tests", nargs="*", metavar="TEST")
    o = parser.parse_args()
    for path in o.ganz, o.client:
        if not os.path.exists(path):
            parser.error(f"there is no {path}: it has to be built")
    lines = sentences(o.text)
    print(f"{len(lines)} sentences of {statistics.mean(len(x.split()) for x in lines):.1f} words, {os.cpu_count()} cores, "
          f"load {os.getloadavg()[0]:.1f}", flush=True)
    tests = {"closed": test_closed, "rate": test_rate, "overload": test_overload, "document": test_document, "memory": test_memory,
             "restarts": test_restarts}
    for name in o.tests or tests:
        tests[name](o)


main()
