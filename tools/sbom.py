#!/usr/bin/env python3
"""sbom.py VERSION: what the files of this folder are made of, as SPDX 2.3 JSON on standard output.

Every file of a release with its checksum, and the libraries that ganz is linked with, in the versions of this machine's
packages. Dates come from SOURCE_DATE_EPOCH, so that the same files give the same list.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys

# library, Debian package, licence
LIBRARIES = [("zlib", "zlib1g-dev", "Zlib"), ("liblzma", "liblzma-dev", "0BSD"), ("libzstd", "libzstd-dev", "BSD-3-Clause"),
             ("xxHash", "libxxhash-dev", "BSD-2-Clause"), ("utf8proc", "libutf8proc-dev", "MIT"),
             ("libyaml", "libyaml-dev", "MIT"), ("musl", "musl-dev", "MIT")]


def version_of(package):
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False)
    return asked.stdout if asked.returncode == 0 and asked.stdout else "NOASSERTION"


def package(name, version, licence):
    return {"SPDXID": "SPDXRef-Package-" + name, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", "filesAnalyzed": False}


def file_entry(path):
    data = path.read_bytes()
    return {"SPDXID": "SPDXRef-File-" + path.name.replace("_", "-").replace("+", "-"), "fileName": "./" + path.name,
            "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}],
            "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}


def main(version):
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    files = [file_entry(p) for p in sorted(pathlib.Path(".").iterdir())
             if p.is_file() and p.name != "SHA256SUMS" and p.suffix not in (".log", ".part") and ".spdx." not in p.name]
    packages = [package("ganz", version, "MIT")] + [package(n, version_of(p), licence) for n, p, licence in LIBRARIES]
    links = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Package-ganz")]
    links += [("SPDXRef-Package-ganz", "DEPENDS_ON", p["SPDXID"]) for p in packages[1:]]
    links += [(f["SPDXID"], "GENERATED_FROM", "SPDXRef-Package-ganz") for f in files]
    together = hashlib.sha256("".join(f["checksums"][1]["checksumValue"] for f in files).encode()).hexdigest()
    json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"ganz-{version}",
               "documentNamespace": f"https://example.org/ganz/{version}/{together}",
               "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: ganz tools/sbom.py"]},
               "packages": packages, "files": files,
               "relationships": [{"spdxElementId": a, "relationshipType": r, "relatedSpdxElement": b} for a, r, b in links]},
              sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    main(parser.parse_args().version)
