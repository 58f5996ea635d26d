"""Requests that two programs could understand in two ways, and others that are wrong: (name, bytes, statuses). Each must
get one of its statuses, once, as JSON, and the connection must be closed behind it."""

BODY = b'{"q":"a","source":"en","target":"de"}'
JSON = b"Content-Type: application/json\r\n"


def post(*headers, body=b"", host=b"Host: localhost\r\n", version=b"HTTP/1.1", target=b"/translate"):
    return b"POST " + target + b" " + version + b"\r\n" + host + b"".join(headers) + b"\r\n" + body


CL = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"

REQUESTS = [
    ("length and chunks", post(JSON, CL, CHUNKED, body=b"0\r\n\r\n" + b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"), [400]),
    ("two lengths", post(JSON, CL, b"Content-Length: 5\r\n", body=BODY), [400]),
    ("two equal lengths", post(JSON, CL, CL, body=BODY), [400]),
    ("lengths in a list", post(JSON, b"Content-Length: 5, 5\r\n", body=BODY), [400]),
    ("negative length", post(JSON, b"Content-Length: -5\r\n", body=BODY), [400]),
    ("length with a plus", post(JSON, b"Content-Length: +5\r\n", body=BODY), [400]),
    ("length in hex", post(JSON, b"Content-Length: 0x5\r\n", body=BODY), [400]),
    ("empty length", post(JSON, b"Content-Length:\r\n", body=BODY), [400]),
    ("enormous length", post(JSON, b"Content-Length: 99999999999999999999\r\n"), [400]),
    ("large length", post(JSON, b"Content-Length: 999999999999\r\n"), [413]),
    ("bare LF", b"POST /translate HTTP/1.1\nHost: localhost\n\n", [400]),
    ("one bare LF", b"GET /health HTTP/1.1\r\nHost: localhost\nA: b\r\n\r\n", [400]),
    ("bare CR", b"GET /health HTTP/1.1\r\nHost: local\rhost\r\n\r\n", [400]),
    ("space before the colon", post(JSON, b"Content-Length : 5\r\n", body=b"aaaaa"), [400]),
    ("folded header", b"GET /health HTTP/1.1\r\nHost: localhost\r\nA: b\r\n c\r\n\r\n", [400]),
    ("header without a colon", b"GET /health HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n", [400]),
    ("header without a name", b"GET /health HTTP/1.1\r\nHost: localhost\r\n: a\r\n\r\n", [400]),
    ("control byte in a header", b"GET /health HTTP/1.1\r\nHost: localhost\r\nA: \x01\r\n\r\n", [400]),
    ("no Host", b"GET /health HTTP/1.1\r\n\r\n", [400]),
    ("two Hosts", b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", [400]),
    ("NUL in the address", b"GET /hea\x00lth HTTP/1.1\r\nHost: localhost\r\n\r\n", [400]),
    ("%00 in the address", b"GET /health%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", [400]),
    ("wrong escape", b"GET /heal%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", [400]),
    ("unknown coding and a length", post(JSON, CL, b"Transfer-Encoding: gzip\r\n", body=BODY), [400, 501]),
    ("unknown coding", post(JSON, b"Transfer-Encoding: gzip, chunked\r\n", body=b"0\r\n\r\n"), [501]),
    ("chunked twice", post(JSON, b"Transfer-Encoding: chunked, chunked\r\n", body=b"0\r\n\r\n"), [501]),
    ("chunks in HTTP/1.0", post(JSON, CHUNKED, body=b"0\r\n\r\n", version=b"HTTP/1.0"), [400]),
    ("chunk size is no number", post(JSON, CHUNKED, body=b"zz\r\n"), [400]),
    ("chunk size with a sign", post(JSON, CHUNKED, body=b"-1\r\n"), [400]),
    ("chunk size too long", post(JSON, CHUNKED, body=b"000000000001\r\na\r\n0\r\n\r\n"), [400]),
    ("chunk too large", post(JSON, CHUNKED, body=b"ffffffff\r\n"), [413]),
    ("chunk with an extension", post(JSON, CHUNKED, body=b"1;a=b\r\na\r\n0\r\n\r\n"), [400]),
    ("chunk without its end", post(JSON, CHUNKED, body=b"1\r\nab\r\n0\r\n\r\n"), [400]),
    ("trailer", post(JSON, CHUNKED, body=b"0\r\nA: b\r\n\r\n"), [400]),
    ("long header", b"GET /health HTTP/1.1\r\nHost: localhost\r\nA: " + b"b" * 40000 + b"\r\n\r\n", [431]),
    ("many headers", b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 100 + b"\r\n", [431]),
    ("long address", b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", [414]),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505]),
    ("HTTP/1.2", b"GET /health HTTP/1.2\r\nHost: localhost\r\n\r\n", [505]),
    ("HTTP/0.9", b"GET /health\r\n\r\n", [400]),
    ("two spaces", b"GET  /health HTTP/1.1\r\nHost: localhost\r\n\r\n", [400]),
    ("absolute address", b"GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n", [400]),
    ("asterisk", b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", [400]),
    ("CONNECT", b"CONNECT example.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", [400]),
    ("nothing", b"\r\n\r\n", [400]),
    ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64), [400]),
    ("unknown expectation", post(JSON, CL, b"Expect: money\r\n", body=BODY), [417]),
]
