#!/usr/bin/env python3
"""Load on a server: serve_load.py [--ganz GANZ | --url URL] [TEST...], tests being closed, overload, document, memory and
restarts; all when none is named. Needs nothing but Python. Latencies are seen by the client, from the first byte sent to
the last byte received; with --url another server that speaks LibreTranslate's /translate is measured (closed only)."""
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
from server import Server  # noqa: E402

TEXTS = os.path.join(HERE, "..", "tests", "data", "tatoeba.en")


def sentences(path):
    with open(path, encoding="utf-8") as f:
        return [line.strip() for line in f if line.strip()]


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


class Client:
    """A connection that is kept; one request at a time."""

    def __init__(self, host, port):
        self.connection = http.client.HTTPConnection(host, port, timeout=120)

    def ask(self, text):
        """(status, seconds, answer)"""
        begin = time.perf_counter()
        body = json.dumps({"q": text, "source": "en", "target": "de"})
        self.connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        data = reply.read()
        return reply.status, time.perf_counter() - begin, data


def closed_loop(host, port, lines, clients, requests):
    """Each client sends its next request when it has the answer to the last."""
    times, failed, lock, left = [], [], threading.Lock(), [requests]

    def run(seed):
        client, chance = Client(host, port), random.Random(seed)
        while True:
            with lock:
                if left[0] == 0:
                    return
                left[0] -= 1
            status, seconds, _ = client.ask(chance.choice(lines))
            with lock:
                (times if status == 200 else failed).append(seconds)
    begin = time.perf_counter()
    threads = [threading.Thread(target=run, args=(i,)) for i in range(clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return times, failed, time.perf_counter() - begin


def say(name, times, failed, seconds, more=""):
    print(f"{name}: {len(times)} answered, {len(failed)} refused, {len(times) / seconds:.1f}/s, "
          f"p50 {1000 * percentile(times, 0.5):.1f} ms, p99 {1000 * percentile(times, 0.99):.1f} ms{more}", flush=True)


def test_closed(host, port, lines, rss=lambda: ""):
    closed_loop(host, port, lines, 4, 50)  # warm
    for clients, requests in ((1, 300), (8, 600), (64, 1200)):
        times, failed, seconds = closed_loop(host, port, lines, clients, requests)
        say(f"{clients} clients", times, failed, seconds, rss())


def fixed_rate(s, lines, rate, seconds):
    """Requests at a fixed rate, each on a thread and connection of its own, whatever becomes of those before."""
    ok, refused, broken, lock, threads = [], [], [], threading.Lock(), []

    def one(text):
        begin = time.perf_counter()
        try:
            status, took, _ = Client("127.0.0.1", s.port).ask(text)
            with lock:
                (ok if status == 200 else refused if status in (429, 503) else broken).append(took)
        except OSError:
            with lock:
                broken.append(time.perf_counter() - begin)
    chance, begin = random.Random(1), time.perf_counter()
    for i in range(int(rate * seconds)):
        wait = begin + i / rate - time.perf_counter()
        if wait > 0:
            time.sleep(wait)
        threads.append(threading.Thread(target=one, args=(chance.choice(lines),)))
        threads[-1].start()
    for t in threads:
        t.join()
    return ok, refused, broken


def test_overload(ganz, lines):
    with Server(ganz, "--max-wait", "0.02", "--max-requests", "8") as s:
        closed_loop("127.0.0.1", s.port, lines, 2, 100)
        alone, _, seconds = closed_loop("127.0.0.1", s.port, lines, 1, 200)
        say("alone", alone, [], seconds)
        most, _, seconds = closed_loop("127.0.0.1", s.port, lines, 4, 400)
        rate = min(10 * len(most) / seconds, 600)
        ok, refused, broken = fixed_rate(s, lines, rate, 6)
        say(f"overload at {rate:.0f}/s ({rate * seconds / len(most):.1f} times what it can)", ok, refused, 6,
            f"; {len(broken)} broken; p99 is {percentile(ok, 0.99) / percentile(alone, 0.99):.1f} times that alone")


def test_document(ganz, lines):
    """Ten clients that chat, alone and beside a document of 5,000 sentences."""
    with Server(ganz, "--threads", "2") as s:
        times, failed, seconds = closed_loop("127.0.0.1", s.port, lines, 10, 300)
        say("ten clients alone", times, failed, seconds)
        chance = random.Random(3)
        text = "\n".join(chance.choice(lines) for _ in range(5000)).encode()
        from server import multipart
        kind, body = multipart({"source": "en", "target": "de"}, [("file", "a.txt", text)])
        made = json.loads(s.ask("POST", "/ganz/document", body, {"Content-Type": kind})[2])
        times, failed, seconds = closed_loop("127.0.0.1", s.port, lines, 10, 300)
        facts = json.loads(s.ask("GET", "/ganz/document/" + made["id"])[2])
        say("beside a document", times, failed, seconds, f"; {facts['done']} of {facts['count']} sentences meanwhile")


def test_memory(ganz, lines, requests):
    with Server(ganz) as s:
        closed_loop("127.0.0.1", s.port, lines, 8, 2000)
        first = s.rss()
        sizes = []
        for _ in range(10):
            closed_loop("127.0.0.1", s.port, lines, 8, requests // 10)
            sizes.append(s.rss())
        print(f"memory: {first:.1f} MiB after 2,000 requests, then {', '.join(f'{x:.1f}' for x in sizes)} "
              f"after each of ten times {requests // 10}", flush=True)


def test_restarts(ganz, lines, rounds):
    """Answers are neither lost nor doubled nor wrong while models are opened anew and servers end."""
    want, counts = {}, {"answered": 0, "lost": 0, "wrong": 0, "refused": 0}
    some = lines[:20]
    for text in some:
        want[text] = subprocess.run([ganz, "translate", "-q", "--model", "en-de", "--text", text],
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
    for i in range(rounds):
        ended = threading.Event()
        with Server(ganz) as s:
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
    print(f"{rounds} servers, each with two reloads and one end under load: {counts}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ganz", default=os.path.join(HERE, "..", "build", "release", "cli", "ganz"))
    parser.add_argument("--url", help="another server, host:port")
    parser.add_argument("--text", default=TEXTS, help="a file with a sentence a line")
    parser.add_argument("--requests", type=int, default=20000, help="of the test of memory")
    parser.add_argument("--rounds", type=int, default=20, help="of the test of restarts")
    parser.add_argument("tests", nargs="*", metavar="TEST")
    o = parser.parse_args()
    lines = sentences(o.text)
    print(f"{len(lines)} sentences of {statistics.mean(len(x.split()) for x in lines):.1f} words, {os.cpu_count()} cores, "
          f"load {os.getloadavg()[0]:.1f}", flush=True)
    if o.url:
        host, port = o.url.split(":")
        test_closed(host, int(port), lines)
        return
    tests = o.tests or ["closed", "overload", "document", "memory", "restarts"]
    if "closed" in tests:
        with Server(o.ganz) as s:
            test_closed("127.0.0.1", s.port, lines, lambda: f"; {s.rss():.0f} MiB")
    if "overload" in tests:
        test_overload(o.ganz, lines)
    if "document" in tests:
        test_document(o.ganz, lines)
    if "memory" in tests:
        test_memory(o.ganz, lines, o.requests)
    if "restarts" in tests:
        test_restarts(o.ganz, lines, o.rounds)


main()
