"""A running `ganz serve` for tests, and a client for it that sends bytes as they are."""
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse


class Server:
    """Starts `ganz serve` on a free port; a context manager."""

    def __init__(self, ganz, *options, env=None):
        self.process = subprocess.Popen(
            [ganz, "serve", "--port", "0", "--threads", "2", "--timeout", "300", "--drain", "120",
             "--max-wait", "600", *options], stderr=subprocess.PIPE, env=env)
        self.lines = []
        self.stopped = False
        self.port = None
        while self.port is None:
            line = self.process.stderr.readline().decode()
            if not line:
                raise SystemExit(f"the server does not start: {self.lines}")
            self.lines.append(line)
            found = re.search(r"listening on http://[^:]*:(\d+)/", line)
            if found:
                self.port = int(found.group(1))
        self.reader = threading.Thread(target=lambda: self.lines.extend(
            line.decode(errors="replace") for line in self.process.stderr))
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        try:
            self.process.wait(150)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.reader.join()

    def stop(self):
        """Asks it to end, once: a second time would end it at once."""
        if not self.stopped and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.stopped = True

    def connect(self, timeout=20):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def raw(self, data, timeout=20):
        """Sends bytes and returns all that comes until the server closes or is silent for a second."""
        with self.connect(timeout) as s:
            s.sendall(data)
            got = b""
            s.settimeout(timeout)
            try:
                while True:
                    part = s.recv(65536)
                    if not part:
                        break
                    got += part
                    s.settimeout(1)
            except (socket.timeout, ConnectionResetError):
                pass
            return got

    def ask(self, method, path, body=b"", headers=None):
        """One request on a connection of its own: (status, headers, body)."""
        head = {"Host": f"127.0.0.1:{self.port}", "Connection": "close", **(headers or {})}
        if body and not any(h.lower() in ("content-length", "transfer-encoding") for h in head):
            head["Content-Length"] = str(len(body))
        text = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in head.items()) + "\r\n"
        with self.connect(300) as s:
            s.sendall(text.encode() + body)
            return read_reply(s, method == "HEAD")

    def json(self, path, value, headers=None):
        status, _, body = self.ask("POST", path, json.dumps(value).encode(),
                                   {"Content-Type": "application/json", **(headers or {})})
        return status, json.loads(body)

    def form(self, path, fields, headers=None):
        status, _, body = self.ask("POST", path, urllib.parse.urlencode(fields, doseq=True).encode(),
                                   {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})})
        return status, json.loads(body)

    def get(self, path, headers=None):
        status, _, body = self.ask("GET", path, headers=headers)
        return status, json.loads(body)

    def rss(self):
        """MiB that the process holds."""
        with open(f"/proc/{self.process.pid}/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def read_reply(s, head_only=False):
    got = b""
    while b"\r\n\r\n" not in got:
        part = s.recv(65536)
        if not part:
            raise ConnectionError(f"closed in the head: {got!r}")
        got += part
    head, body = got.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    status = int(lines[0].split()[1])
    headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
    length = 0 if head_only else int(headers.get("content-length", 0))
    while len(body) < length:
        part = s.recv(65536)
        if not part:
            raise ConnectionError("closed in the body")
        body += part
    return status, headers, body


def multipart(fields, files=()):
    """(content type, body) of a form in parts; files are (name, file name, bytes)."""
    mark = "----ganzTestBoundary7MA4YWxk"
    body = b""
    for name, value in fields.items():
        body += f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
    for name, file_name, data in files:
        body += (f'--{mark}\r\nContent-Disposition: form-data; name="{name}"; filename="{file_name}"\r\n'
                 "Content-Type: application/octet-stream\r\n\r\n").encode() + data + b"\r\n"
    return f"multipart/form-data; boundary={mark}", body + f"--{mark}--\r\n".encode()


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False
