#!/usr/bin/env python3
"""power_cut.py RECORD ROOT [--seed N] [--states N] [--resume N COMMAND]: what a power cut leaves, at every moment of a run.

RECORD is what tests/faults/record.c wrote of one or several commands that work in the folder ROOT. For each prefix of its
calls, a disk is imagined that has what was synced, and of the rest nothing, all, a torn part, or any mixture: bytes of
files and names in folders go their own ways. In each of these states every file with a name that ends in .safetensors must
be one that the commands had finished, whole; once its folder was synced, it must not be older than that; and log.tsv must
begin with what was synced. Then COMMAND runs in N of the states, drawn at random; ROOT in it is replaced by the folder of
the state. It must succeed and leave last.safetensors as the record has it at its end."""
import argparse, os, random, shutil, subprocess, sys, tempfile


class File:
    """Bytes as written, as synced, and the writes between."""

    def __init__(self):
        self.bytes, self.synced, self.since = bytearray(), b"", []

    def write(self, offset, data):
        self.put(self.bytes, offset, data)
        self.since.append((offset, data))

    def size(self, count):
        self.resize(self.bytes, count)
        self.since.append((count, None))

    @staticmethod
    def put(target, offset, data):
        if len(target) < offset:
            target.extend(bytes(offset - len(target)))
        target[offset:offset + len(data)] = data

    @staticmethod
    def resize(target, count):
        del target[count:]
        target.extend(bytes(count - len(target)))

    def sync(self):
        self.synced, self.since = bytes(self.bytes), []

    def after_cut(self, how, dice):
        """lost: what was synced. kept: everything. torn: any of the writes, one of them in part. holes: sizes without bytes."""
        if how == "kept":
            return bytes(self.bytes)
        left = bytearray(self.synced)
        if how == "holes" and len(self.bytes) > len(left):
            self.resize(left, len(self.bytes))
        if how == "torn":
            for offset, data in self.since:
                kind = dice.randrange(3)
                if data is None and kind:
                    self.resize(left, offset)
                elif data is not None and kind:
                    self.put(left, offset, data if kind == 1 else data[:dice.randrange(len(data) + 1)])
        return bytes(left)


class Disk:
    """Files by inode, folders as names. `durable` has the names at the last sync of their folder, `later` all since then."""

    def __init__(self):
        self.inode, self.names, self.durable, self.later, self.folder = {}, {}, {}, {}, {}
        self.loose = set()  # folders whose own name is not synced

    def set_name(self, path, file):
        if file is None:
            self.names.pop(path, None)
        else:
            self.names[path] = file
        self.later.setdefault(path, []).append(file)

    def sync_folder(self, folder):
        self.loose = {path for path in self.loose if os.path.dirname(path) != folder}
        for path in [p for p in self.later if os.path.dirname(p) == folder]:
            if self.names.get(path) is None:
                self.durable.pop(path, None)
            else:
                self.durable[path] = self.names[path]
            del self.later[path]

    def do(self, words, data):
        what = words[0]
        if what == "open":
            inode, fresh, path = words[1], words[2] == "fresh", " ".join(words[3:])
            if path and os.path.isdir(path):
                self.folder[inode] = os.path.normpath(path)
            elif fresh:
                self.inode[inode] = File()
                if path:
                    self.set_name(path, self.inode[inode])
        elif what == "write" and words[1] in self.inode:
            self.inode[words[1]].write(int(words[2]), data)
        elif what == "size" and words[1] in self.inode:
            self.inode[words[1]].size(int(words[2]))
        elif what == "sync":
            if words[1] in self.folder:
                self.sync_folder(self.folder[words[1]])
            elif words[1] in self.inode:
                self.inode[words[1]].sync()
        elif what == "link" and words[1] in self.inode:
            self.set_name(" ".join(words[2:]), self.inode[words[1]])
        elif what == "rename":
            old, new = " ".join(words[1:]).split("\t")
            if old in self.names:
                file = self.names[old]
                self.set_name(new, file)
                self.set_name(old, None)
        elif what == "unlink":
            self.set_name(" ".join(words[1:]).rstrip("\t"), None)
        elif what == "mkdir":
            self.loose.add(os.path.normpath(" ".join(words[1:]).rstrip("\t")))

    def after_cut(self, names, how, dice):
        """Each name by itself: as it was synced, as it is, or anything between."""
        files = dict(self.durable)
        for path, history in self.later.items():
            choice = [self.durable.get(path)] + history
            file = {"lost": choice[0], "kept": choice[-1]}.get(names, dice.choice(choice))
            files.pop(path, None)
            if file is not None:
                files[path] = file
        if names == "lost":
            files = {path: file for path, file in files.items() if os.path.dirname(path) not in self.loose}
        return {path: file.after_cut(how, dice) for path, file in files.items()}


def events(path):
    with open(path, "rb") as record:
        while line := record.readline():
            words = line.decode().rstrip("\n").split(" ")
            yield words, record.read(int(words[3])) if words[0] == "write" else b""


def is_whole(path):
    return path.endswith(".safetensors")


class Judge:
    def __init__(self):
        self.finished, self.wrong, self.states = {}, 0, 0

    def note(self, disk):
        """Files that have their name count as finished as they are at that moment."""
        for path, file in disk.names.items():
            known = self.finished.setdefault(path, [])
            if is_whole(path) and (not known or known[-1] != file.bytes):
                known.append(bytes(file.bytes))

    def least(self, disk):
        """For each path the number of its oldest version that may be found."""
        return {p: self.finished[p].index(bytes(f.bytes)) for p, f in disk.durable.items() if is_whole(p)}

    def check(self, disk, state, what):
        self.states += 1
        least = self.least(disk)
        for path, count in least.items():
            if path not in state:
                later = disk.later.get(path, [])
                if None not in later:
                    self.fail(what, path, "is gone")
        for path, data in state.items():
            if is_whole(path):
                known = self.finished.get(path, [])
                if data not in known[least.get(path, 0):]:
                    self.fail(what, path, "is neither the old nor the new file (%d bytes)" % len(data))
        for path, file in disk.durable.items():
            if path.endswith(".tsv") and path in state and None not in disk.later.get(path, []) and not any(
                    data is None for _, data in file.since) and not state[path].startswith(file.synced):
                self.fail(what, path, "does not begin with what was synced")

    def fail(self, what, path, why):
        self.wrong += 1
        if self.wrong < 20:
            print("WRONG: %s: %s %s" % (what, path, why))


def lay_out(state, root, folder):
    for path, data in state.items():
        if path.startswith(root + "/"):
            place = os.path.join(folder, path[len(root) + 1:])
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(data)


def resume(state, root, command, expected):
    """None when the command succeeds and ends with the same bytes, else what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        lay_out(state, root, folder)
        words = [word.replace(root, folder) for word in command]
        done = subprocess.run(["bash", "-c", " ".join(words)], cwd=folder, capture_output=True, timeout=120)
        if done.returncode != 0:
            return "ends with %d: %s" % (done.returncode, done.stderr.decode()[:300])
        for path, data in expected.items():
            place = os.path.join(folder, path[len(root) + 1:])
            if not os.path.exists(place) or open(place, "rb").read() != data:
                return "goes on to another %s" % path
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("record")
    parser.add_argument("root")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--states", type=int, default=8, help="of each moment")
    parser.add_argument("--resume", type=int, default=0)
    parser.add_argument("--without-syncs", action="store_true", help="as if nothing had been synced: must go wrong")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    root = os.path.realpath(given.root)
    dice, disk, judge, kept, seen = random.Random(given.seed), Disk(), Judge(), [], 0
    all_events = [e for e in events(given.record) if not (given.without_syncs and e[0][0] == "sync")]
    plain = [("lost", "lost"), ("kept", "lost"), ("kept", "holes"), ("lost", "kept"), ("kept", "kept")]
    for number, (words, data) in enumerate(all_events):
        disk.do(words, data)
        judge.note(disk)
        cuts = plain + [("any", "torn")] * max(0, given.states - len(plain))
        for names, how in cuts[:given.states]:
            state = disk.after_cut(names, how, dice)
            judge.check(disk, state, "after call %d (%s), names %s, bytes %s" % (number + 1, words[0], names, how))
            seen += 1  # one of all states is as likely as another to be kept
            if len(kept) < given.resume:
                kept.append((number, state))
            elif given.resume and dice.randrange(seen) < given.resume:
                kept[dice.randrange(given.resume)] = (number, state)
    expected = {p: bytes(f.bytes) for p, f in disk.names.items() if os.path.basename(p) == "last.safetensors"}
    for number, state in kept:
        wrong = resume(state, root, given.command, expected)
        if wrong:
            judge.fail("after call %d" % (number + 1), "the command", wrong)
    print("%d calls, %d states, %d resumed, %d wrong" % (len(all_events), judge.states, len(kept), judge.wrong))
    return 1 if judge.wrong or not expected or not judge.states else 0


if __name__ == "__main__":
    sys.exit(main())
