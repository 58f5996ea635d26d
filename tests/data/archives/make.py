#!/usr/bin/env python3
"""Makes the archives of this folder anew, with Python's zipfile and Info-ZIP's zip: make.py FOLDER."""
import io, os, subprocess, sys, tempfile, zipfile

MIMETYPE, STORY = b"application/epub+zip", b"Once upon a time, once upon a time, once upon a time.\n"
DATE = (2024, 2, 29, 12, 30, 0)


class Pipe(io.RawIOBase):
    """A stream that cannot be sought in: sizes follow the data."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def info(name, method):
    result = zipfile.ZipInfo(name, DATE)
    result.compress_type = method
    return result


def fill(target, zip64=False, comment=b""):
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(info("mimetype", zipfile.ZIP_STORED), MIMETYPE)
        with archive.open(info("text/a.txt", zipfile.ZIP_DEFLATED), "w", force_zip64=zip64) as member:
            member.write(STORY)
        archive.comment = comment


def infozip(path):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/text")
        open(folder + "/mimetype", "wb").write(MIMETYPE)
        open(folder + "/text/a.txt", "wb").write(STORY)
        subprocess.run(["zip", "-q", "-X", "-0", path, "mimetype"], cwd=folder, check=True)
        subprocess.run(["zip", "-q", path, "text/a.txt"], cwd=folder, check=True)


folder = os.path.abspath(sys.argv[1])
fill(folder + "/python.zip")
fill(folder + "/zip64_header.zip", zip64=True)
fill(folder + "/comment.zip", comment=b"PK\x05\x06 is no end if it stands in a comment")
pipe = Pipe()
fill(pipe)
open(folder + "/descriptor.zip", "wb").write(pipe.data)
if not os.path.exists(folder + "/infozip.zip"):
    infozip(folder + "/infozip.zip")
