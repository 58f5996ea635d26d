#!/usr/bin/env python3
"""hostile.py BUILD [COUNT [SEED]]: COUNT damaged models, checkpoints and corpora, each with sums that agree again, through
a program that was built with sanitizers. Each command must end within 30 seconds: well, or with one sentence and 1 or 2.

Damages are of every layer: bytes of tensors, numbers of the kinds that break things, metadata, shapes, offsets, types,
names, JSON itself, cuts and insertions. Files that made it end otherwise are kept in the folder ./hostile-findings."""
import argparse, ctypes, json, os, random, shutil, struct, subprocess, sys, tempfile

try:
    libxxhash = ctypes.CDLL("libxxhash.so.0")
except OSError as missing:
    sys.exit(f"hostile: {missing}")
libxxhash.XXH3_64bits.restype = ctypes.c_uint64
libxxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
NUMBERS = ["0", "-1", "1", "2147483647", "2147483648", "-2147483648", "4294967295", "9223372036854775807",
           "-9223372036854775808", "18446744073709551616", "1e308", "nan", "inf", "-inf", "0x10", "", " 5", "3.5", "1e-320"]
FLOATS = [0.0, -0.0, 1e38, -1e38, 1e-45, float("nan"), float("inf"), -float("inf"), 3.4e38, 1.0, -1.0]


def sum_of(data):
    return libxxhash.XXH3_64bits(data, len(data))


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    count = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + count]), bytearray(data[8 + count:])


def save(path, header, data, summed=True, text=None):
    """As ganz writes it: a sum of each tensor, and one of the header, which comes first in it."""
    meta = {k: v for k, v in header.get("__metadata__", {}).items() if not k.startswith("xxh3") and k != "header_checksum"}
    if summed:
        for name, tensor in header.items():
            if name != "__metadata__" and isinstance(tensor, dict):
                try:
                    begin, end = tensor["data_offsets"]
                    meta["xxh3:" + name] = "%016x" % sum_of(bytes(data[begin:end]))
                except (KeyError, ValueError, TypeError):
                    pass
        meta = {"xxh3": "0" * 16, **meta, "header_checksum": "xxh3"}
    whole = {"__metadata__": meta, **{k: v for k, v in header.items() if k != "__metadata__"}}
    body = json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    if text:
        body = text(body)
    body += b" " * (-(len(body) + 8) % 64)
    start = len(b'{"__metadata__":{"xxh3":"')
    if summed and body[:start] == b'{"__metadata__":{"xxh3":"':
        rest = body[start + 16:]
        body = body[:start] + b"%016x" % sum_of(rest) + rest
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(body)) + body + bytes(data))


def hurt_bytes(dice, header, data):
    for _ in range(dice.choice([1, 1, 3, 30])):
        if data:
            data[dice.randrange(len(data))] = dice.choice([0, 255, 127, 128, dice.randrange(256)])


def hurt_numbers(dice, header, data):
    tensors = [t for n, t in header.items() if n != "__metadata__" and t["data_offsets"][0] < t["data_offsets"][1]]
    if not tensors:
        return
    begin, end = dice.choice(tensors)["data_offsets"]
    kind, values = dice.choice([("<f", FLOATS), ("<d", FLOATS), ("<q", [0, -1, 2**63 - 1, -2**63, 2**31, 2**40, 7]),
                                ("<i", [0, -1, 2**31 - 1, -2**31, 65536, 5])])
    width = struct.calcsize(kind)
    for _ in range(dice.choice([1, 1, 2, 50])):
        if end - begin >= width:
            at = begin + dice.randrange((end - begin) // width) * width
            data[at:at + width] = struct.pack(kind, dice.choice(values))


def hurt_metadata(dice, header, data):
    meta = header["__metadata__"]
    for _ in range(dice.choice([1, 1, 2, 4])):
        if not meta:
            return
        key = dice.choice(sorted(meta))
        how = dice.randrange(7)
        if how == 0:
            del meta[key]
        elif how <= 3:
            meta[key] = dice.choice(NUMBERS)
        elif how == 4:
            meta[key] = str(dice.randrange(-5, 100))
        elif how == 5:
            meta[key] = dice.choice(sorted(meta.values(), key=str))
        else:
            meta[key] = dice.choice(["x" * 5000, "\x1b[2J", "\u0000", "\ud800" if dice.random() < .1 else "\u00e9", "a\nb", "%s%n"])


def hurt_tensors(dice, header, data):
    names = [n for n in header if n != "__metadata__"]
    if not names:
        return
    name = dice.choice(names)
    tensor, how = header[name], dice.randrange(8)
    if how == 0:
        del header[name]
    elif how == 1:
        header[name + "x"] = header.pop(name)
    elif how == 2:
        tensor["dtype"] = dice.choice(["F32", "I8", "U8", "F64", "I64", "U64", "U16", "BF16", "X", ""])
    elif how == 3 and tensor["shape"]:
        tensor["shape"][dice.randrange(len(tensor["shape"]))] = dice.choice([0, 1, -1, 2**31, 2**62, 2**63 - 1, 2**64, 3, 1.5])
    elif how == 4:
        tensor["data_offsets"][dice.randrange(2)] += dice.choice([-1, 1, 4, -4, 64, 2**40, -2**40, 2**63])
    elif how == 5:
        tensor["shape"] = dice.choice([[], [1], [1] * 9, [1] * 100, tensor["shape"][::-1], tensor["shape"] + [1]])
    elif how == 6:  # a tensor of another size, with all that follows moved
        begin, end = tensor["data_offsets"]
        more = dice.choice([-4, 4, 1, -1, 64, -64])
        if end + more >= begin:
            data[end:end] = bytes(max(0, more))
            if more < 0:
                del data[end + more:end]
            for other in header.values():
                if "data_offsets" in other and other["data_offsets"][0] >= end:
                    other["data_offsets"] = [x + more for x in other["data_offsets"]]
            tensor["data_offsets"] = [begin, end + more]
            width = {"F32": 4, "I8": 1, "U8": 1, "U16": 2, "U64": 8, "F64": 8, "U32": 4}.get(tensor["dtype"], 1)
            if dice.random() < .7:
                tensor["shape"] = [(end + more - begin) // width]
    else:
        other = dice.choice(names)
        header[name], header[other] = header[other], header[name]


def hurt_text(dice):
    def change(body):
        body = bytearray(body)
        for _ in range(dice.choice([1, 1, 3])):
            at = dice.randrange(45, max(46, len(body)))
            how = dice.randrange(3)
            if how == 0:
                body[at:at + 1] = bytes([dice.choice(b'{}[]",:\\ \n0u\x00\xff')])
            elif how == 1:
                del body[at:at + dice.choice([1, 2, 40])]
            else:
                body[at:at] = dice.choice([b"[" * 200, b'"', b"\\ud800", b"1e999", b",,", b"null", b'"a":{'])
        return bytes(body)
    return change


def make(dice, path, seed_file):
    header, data = load(seed_file)
    text = None
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        dice.choice([hurt_bytes, hurt_numbers, hurt_numbers, hurt_metadata, hurt_metadata, hurt_tensors])(dice, header, data)
    if dice.random() < .1:
        text = hurt_text(dice)
    if dice.random() < .05:
        del data[dice.randrange(len(data) + 1):]
    try:
        save(path, header, data, dice.random() < .8, text)
    except UnicodeEncodeError:
        save(path, *load(seed_file))


def run(words, folder):
    try:
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
    except subprocess.TimeoutExpired:
        return "does not end"
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode not in (0, 1, 2):
        return "ends with %d: %s" % (done.returncode, said[:2000])
    if done.returncode and (said.count("\n") != 1 or not said.startswith("ganz ")):
        return "says: " + said[:2000]
    if any(c < " " and c not in "\n\t" for c in said):
        return "prints a control character: %r" % said[:300]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("count", nargs="?", type=int, default=20000)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    options = parser.parse_args()
    build, count = os.path.realpath(options.build), options.count
    dice = random.Random(options.seed)
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    ganz = build + "/cli/ganz"
    with tempfile.TemporaryDirectory() as folder:
        def must(*words):
            subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for side in "en", "de":
            with open(root + "/tests/data/tatoeba." + side) as source, open(folder + "/text." + side, "w") as target:
                target.writelines(source.readlines()[:40])
        with open(folder + "/few", "w") as file:
            file.write("The cat.\nIt is late.\n")
        must(ganz, "vocab", "-q", "--size", "150", "--out", "vocab", "text.en", "text.de")
        must(ganz, "prepare", "-q", "--vocab", "vocab", "--source", "text.en", "--target", "text.de", "--out", "corpus")
        train = [ganz, "train", "-q", "-j", "1", "--recipe", "tiny", "--encoder-layers", "1", "--decoder-layers", "1", "--width",
                 "8", "--heads", "2", "--ffn", "8", "--rows", "2", "--slots", "32", "--train", "corpus", "--vocab", "vocab"]
        must(*train, "--steps", "2", "--out", "run")
        must(ganz, "quantize", "-q", "--model", "run/last.safetensors", "--calibrate", "few", "--out", "int8")
        translate = [ganz, "translate", "-q", "-j", "1", "--format", "lines", "--max-length", "6", "-m", "bad", "few"]
        kinds = [("int8", lambda: run(translate, folder)), ("run/last.safetensors", lambda: run(translate, folder)),
                 ("run/last.safetensors", lambda: resume()), ("corpus", lambda: learn()),
                 ("int8", lambda: run([ganz, "inspect", "bad"], folder))]

        def resume():
            shutil.rmtree(folder + "/again", ignore_errors=True)
            shutil.copytree(folder + "/run", folder + "/again")
            shutil.copy(folder + "/bad", folder + "/again/last.safetensors")
            return run(train + ["--steps", "3", "--out", "again", "--resume"], folder)

        def learn():
            shutil.rmtree(folder + "/new", ignore_errors=True)
            return run([w if w != "corpus" else "bad" for w in train] + ["--steps", "1", "--out", "new"], folder)

        findings = 0
        for i in range(count):
            seed_file, action = kinds[i % len(kinds)]
            make(dice, folder + "/bad", folder + "/" + seed_file)
            wrong = action()
            if wrong:
                findings += 1
                os.makedirs("hostile-findings", exist_ok=True)
                shutil.copy(folder + "/bad", "hostile-findings/%d-%s" % (i, os.path.basename(seed_file)))
                print("FINDING: file %d (%s, action %d): %s" % (i, seed_file, i % len(kinds), wrong), flush=True)
            if (i + 1) % 1000 == 0:
                print("%d files, %d findings" % (i + 1, findings), flush=True)
    print("%d files, %d findings" % (count, findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
