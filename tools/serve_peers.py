"""A server of CTranslate2 for tools/serve_peers.sh: serve_peers.py FOLDER PORT LINES, FOLDER being an unpacked Argos package.
As a user would write one: HTTP of the standard library, its best settings, and lines that wait go together, up to LINES."""
import json
import queue
import sys
import threading
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

try:
    import ctranslate2
    import sentencepiece
except ImportError as missing:
    sys.exit(f"serve_peers: {missing}")

folder, port, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
WORKERS = 2
model = ctranslate2.Translator(f"{folder}/model", inter_threads=WORKERS, intra_threads=1, compute_type="int8")
pieces = sentencepiece.SentencePieceProcessor(f"{folder}/sentencepiece.model")
waiting = queue.SimpleQueue()


def work():
    while True:
        jobs = [waiting.get()]
        while len(jobs) < most and not waiting.empty():
            try:
                jobs.append(waiting.get_nowait())
            except queue.Empty:
                break
        found = model.translate_batch([tokens for tokens, _ in jobs], beam_size=4)
        for (_, answer), result in zip(jobs, found):
            answer.set_result(pieces.decode(result.hypotheses[0]))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self):
        q = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["q"]
        answer = Future()
        waiting.put((pieces.encode(q, out_type=str), answer))
        body = json.dumps({"translatedText": answer.result()}, ensure_ascii=False).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer.request_queue_size = 256
ThreadingHTTPServer.daemon_threads = True
for _ in range(WORKERS):
    threading.Thread(target=work, daemon=True).start()
print("listening", flush=True)
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
