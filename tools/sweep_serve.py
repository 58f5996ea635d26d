#!/usr/bin/env python3
"""sweep_serve.py BUILD [EVERY [KINDS]]: short sessions of `ganz serve`, in each of which one request for memory or one call to
the system about files fails, in turn: every one, or one of EVERY. A session is a start, three requests and SIGTERM. The
server must end by itself with 0, 1 or 2, and with a sentence if it is not 0; what it answers must be HTTP, with an error of
the kinds 4xx or 5xx or with what it says otherwise. A connection may be closed without an answer. KINDS is of memory, disk
and map; BUILD is a build without sanitizers."""
import argparse, json, os, re, signal, socket, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
BODY = json.dumps({"q": "The cat sat.", "source": "en", "target": "de"})
REQUESTS = ["GET /languages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
            "Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY),
            "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"]


class Session:
    def __init__(self, build, folder, kind, at):
        self.path, self.wrong, self.answers = folder + "/socket", [], []
        if os.path.exists(self.path):
            os.unlink(self.path)
        env = dict(os.environ, LD_PRELOAD=build + "/tests/libfaults.so", FAULT_KIND=kind, FAULT_AT=str(at),
                   FAULT_COUNT=folder + "/count")
        self.said = open(folder + "/err", "w+")
        self.process = subprocess.Popen([build + "/cli/ganz", "serve", "--unix", self.path, "-m", folder + "/int8", "-j", "1",
                                         "--drain", "2", "--timeout", "5"],
                                        stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said, env=env)

    def wait_for_socket(self):
        until = time.monotonic() + 20
        while time.monotonic() < until and self.process.poll() is None:
            with socket.socket(socket.AF_UNIX) as s:
                try:
                    s.connect(self.path)
                    return True
                except OSError:
                    time.sleep(0.005)
        if self.process.poll() is None:
            self.wrong.append("does not listen")
        return False

    def ask(self, request):
        answer = b""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(15)
            try:
                s.connect(self.path)
                s.sendall(request.encode())
                while part := s.recv(65536):
                    answer += part
            except socket.timeout:
                self.wrong.append("no answer within 15 seconds")
            except OSError:
                pass
        self.answers.append(answer)
        if answer and not re.match(rb"HTTP/1\.1 [2345]\d\d .*\r\n\r\n", answer, re.S):
            self.wrong.append("answers %r" % answer[:80])

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
            self.wrong.append("does not end")
        self.said.seek(0)
        said = self.said.read()
        if status not in (0, 1, 2, 127) and "does not end" not in self.wrong:
            self.wrong.append("ends with %d" % status)
        if status in (1, 2) and "ganz serve: " not in said:
            self.wrong.append("ends with %d without a sentence" % status)
        self.said.close()
        return said


def session(build, folder, kind, at):
    s = Session(build, folder, kind, at)
    if s.wait_for_socket():
        for request in REQUESTS:
            s.ask(request)
    said = s.end()
    return s, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("every", nargs="?", type=int, default=1)
    parser.add_argument("kinds", nargs="?", default="memory disk map")
    options = parser.parse_args()
    build, every, kinds = os.path.realpath(options.build), options.every, options.kinds.split()
    findings = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(ROOT + "/tests/golden/integer/int8.safetensors", "rb") as a, open(folder + "/int8", "wb") as b:
            b.write(a.read())
        for kind in kinds:
            name = "open,read,write,sync,name" if kind == "disk" else kind
            sound, said = session(build, folder, name, 0)
            if sound.wrong or not all(a.startswith(b"HTTP/1.1 200") for a in sound.answers):
                print("does not run at all: %s %r %s" % (sound.wrong, sound.answers, said))
                return 2
            calls = int(open(folder + "/count").read())
            tried = ends = errors = silent = 0
            for at in range(1, calls + 1, every):
                s, said = session(build, folder, name, at)
                tried += 1
                ends += not s.answers
                errors += any(a[:10] in (b"HTTP/1.1 4", b"HTTP/1.1 5") for a in s.answers)
                silent += any(not a for a in s.answers)
                for wrong in s.wrong:
                    findings += 1
                    print("FINDING: %s call %d of %d: %s: %s" % (kind, at, calls, wrong, said[:300].replace("\n", "|")), flush=True)
            print("%s: %d of %d calls failed: %d ended before listening, %d answered an error, %d closed a connection; %d "
                  "findings so far" % (kind, tried, calls, ends, errors, silent, findings), flush=True)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
