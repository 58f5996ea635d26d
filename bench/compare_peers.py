#!/usr/bin/env python3
"""ganz and other translation systems on this machine, side by side in one run.

    bench/compare_peers.py --peer ctranslate2 --ganz build/release/cli/ganz

Every system gets a random model of the same shape (pre-norm, vocabulary 32,000), the same source lengths and the same
forced target length, so all decode the same number of tokens (Marian cannot force a length: the tokens it makes count).
A peer runs at each of its batch sizes first and its best counts. Then rounds alternate between the systems, and the
median of the rounds is reported. CPU time is that of all threads while they translate: where others use the machine,
compare it at one thread. Quality plays no part here: the weights are random.

Peers, and the packages that they need: {needs}
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import peers
from peers.kernels import products

AVX2 = {"GANZ_FORCE_ISA": "avx2"}
BUSY = 0.15  # of a core: more by others, and a round counts as disturbed


# ---- the worker: one process that runs a peer, so that its peak memory is its own ------------------------------------

def peak_mib():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def work(job):
    """Says "ready" once it has loaded and is warm, waits for a line, measures."""
    try:
        peer = peers.load(job["peer"])
    except ImportError as error:
        return print(json.dumps({"missing": str(error)}))
    if "build" in job:
        return peer.build(job["shape"], job["build"])
    if "probe" in job:
        return print(json.dumps({"name": peer.NAME, "batches": peer.BATCHES, "unit": peer.UNIT,
                                 "replicas": peer.REPLICAS,
                                 "avx2": peer.AVX2}))
    translator = peer.Translator(job["folder"], job["shape"], job["threads"], job["beam"], job["target"])
    sources = peers.sources(job["lengths"])
    translator.translate(sources[:8], job["batches"][0])
    print("ready", flush=True)
    sys.stdin.readline()
    results = []
    if job["single"]:
        times, tokens, cpu = [], 0, time.process_time()
        for source in sources:
            begun = time.time()
            tokens += translator.translate([source], job["batches"][0])
            times.append(time.time() - begun)
        times.sort()
        results.append({"tokens": tokens, "seconds": sum(times), "cpu_s": time.process_time() - cpu,
                        "p50_ms": 1000 * times[len(times) // 2], "p99_ms": 1000 * times[int(len(times) * 0.99)]})
    for batch in [] if job["single"] else job["batches"]:
        begun, cpu = time.time(), time.process_time()
        tokens = translator.translate(sources, batch)
        results.append({"tokens": tokens, "seconds": time.time() - begun, "cpu_s": time.process_time() - cpu})
    print(json.dumps([dict(result, peak_mib=peak_mib()) for result in results]), flush=True)


# ---- running workers and ganz ----------------------------------------------------------------------------------------

class Peer:
    def __init__(self, key, args, folder):
        self.key, self.args, self.folder = key, args, os.path.join(folder, key)
        self.environment = dict(os.environ)
        about = json.loads(self.start(probe=True).communicate()[0] or '{"missing": "it does not start"}')
        if "missing" in about:
            sys.exit("compare_peers: %s is not here for %s (%s); try: pip install %s" % (
                key, args.python, about["missing"], peers.PEERS[key][1]))
        self.name, self.unit, self.replicas = about["name"], about["unit"], about["replicas"]
        self.batches = args.batches or about["batches"]
        if args.avx2:
            self.environment.update(about["avx2"])
        os.makedirs(self.folder)
        if self.start(build=self.folder).wait():
            sys.exit("compare_peers: no model could be made for %s" % self.name)

    def start(self, **job):
        job.update(peer=self.key, shape=self.args.model)
        words = [self.args.python, "-W", "ignore", os.path.abspath(__file__), "--worker", json.dumps(job)]
        return subprocess.Popen(words, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment,
                                stderr=None if self.args.verbose else subprocess.DEVNULL)

    def run(self, lengths, threads, beam, batches, processes=1, single=False):
        """A result for each batch size. Several processes share the sentences and start together."""
        workers = [self.start(folder=self.folder, lengths=lengths[i::processes], threads=threads // processes,
                              beam=beam,
                              target=self.args.target, batches=batches, single=single) for i in range(processes)]
        if any(worker.stdout.readline() != "ready\n" for worker in workers):
            sys.exit("compare_peers: %s failed; --verbose shows what it says" % self.name)
        for worker in workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        parts = [json.loads(worker.communicate()[0]) for worker in workers]
        results = []
        for shares in zip(*parts):
            result = dict(shares[0])
            for key in ("tokens", "cpu_s", "peak_mib"):
                result[key] = sum(share[key] for share in shares)
            result["seconds"] = max(share["seconds"] for share in shares)
            results.append(result)
        return results

    def best(self, lengths, threads, beam):
        """The fastest way to use that many threads: (batch size, processes)."""
        tried = {}
        for processes in {1, threads} if self.replicas else {1}:
            for batch, result in zip(self.batches, self.run(lengths, threads, beam, self.batches, processes)):
                tried[batch, processes] = result["tokens"] / (result["cpu_s"] if threads == 1 else result["seconds"])
        return max(tried, key=tried.get)


def run_ganz(args, bits, lengths, threads, beam, single=False):
    with tempfile.NamedTemporaryFile("w", suffix=".lengths") as file:
        file.write("".join("%d\n" % n for n in lengths))
        file.flush()
        words = [args.ganz, "bench", "translate", "--random", args.model, "--vocab-size", str(peers.VOCABULARY),
                 "--bits", str(bits), "--threads", str(threads), "--beam", str(beam), "--force-length",
                 str(args.target),
                 "--lengths", file.name, "--json"] + (["--single"] if single else [])
        environment = dict(os.environ, **(AVX2 if args.avx2 else {}))
        return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout)


# ---- quiet: others may use the machine too ---------------------------------------------------------------------------

def machine_seconds():
    """CPU seconds that the whole machine worked, time stolen from it included."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def our_seconds():
    """CPU seconds of this process and of those that it started and that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class Quiet:
    """Measures while nobody else works, as far as `patience` seconds of waiting go."""

    def __init__(self, patience):
        self.patience, self.worst, self.disturbed, self.rounds = patience, 0.0, 0, 0

    def others(self, run):
        """What run() returns, and the share of a core that others took meanwhile."""
        begun, machine, ours = time.time(), machine_seconds(), our_seconds()
        result = run()
        return result, max(0.0, machine_seconds() - machine - (our_seconds() - ours)) / (time.time() - begun)

    def measure(self, run):
        while True:
            while self.patience > 0 and self.others(lambda: time.sleep(2))[1] > BUSY:
                self.patience -= 2
            begun = time.time()
            result, share = self.others(run)
            if share <= BUSY or self.patience <= 0:
                break
            self.patience -= time.time() - begun
        self.rounds += 1
        self.disturbed += share > BUSY
        self.worst = max(self.worst, share)
        return result


# ---- tables ----------------------------------------------------------------------------------------------------------

class Report:
    """Markdown on stdout, and in a file too."""

    def __init__(self, path):
        self.file = open(path, "w") if path else None

    def line(self, text=""):
        print(text, flush=True)
        if self.file:
            print(text, file=self.file, flush=True)

    def row(self, *cells):
        self.line("| " + " | ".join(cells) + " |")

    def head(self, *cells):
        self.line()
        self.row(*cells)
        self.line("|" + "---|" * len(cells))


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def rates(runs):
    """Tokens a second, and a second of CPU time."""
    return [statistics.median(run["tokens"] / run[key] for run in runs) for key in ("seconds", "cpu_s")]


def throughput(args, systems, quiet, report):
    report.head("threads", "beam", "system", "batch", "tokens/s", "ganz over it", "tokens/CPU s", "ganz over it",
                "peak MiB")
    for threads in args.threads:
        lengths = peers.lengths(args.sentences * threads)
        for beam in args.beams:
            ways = [peer.best(lengths, threads, beam) for peer in systems]
            theirs, ours = [[] for _ in systems], [[] for _ in args.bits]
            for _ in range(args.rounds):
                for peer, (batch, processes), runs in zip(systems, ways, theirs):
                    runs += quiet.measure(lambda: peer.run(lengths, threads, beam, [batch], processes))
                for bits, runs in zip(args.bits, ours):
                    runs.append(quiet.measure(lambda: run_ganz(args, bits, lengths, threads, beam)))
            best = rates(ours[0])
            rows = [(peer.name, "%d %s%s" % (batch, peer.unit, ", %d processes" % n if n > 1 else ""), runs)
                    for peer, (batch, n), runs in zip(systems, ways, theirs)]
            rows += [("ganz INT%d" % bits, "its own", runs) for bits, runs in zip(args.bits, ours)]
            for name, batch, runs in rows:
                wall, cpu = ("{:,.0f} | {:.2f}".format(rate, our / rate) for rate, our in zip(rates(runs), best))
                report.row("%d" % threads, "%d" % beam, name, batch, wall, cpu, "{:,.0f}".format(median(runs,
                                                                                                        "peak_mib")))


def latency(args, systems, quiet, report):
    report.head("beam", "system", "threads", "median ms", "99th percentile ms", "CPU ms")
    lengths = peers.lengths(args.single)
    for beam in args.beams:
        rows = []
        for peer in systems:
            for threads in args.threads if peer.replicas else [1]:
                run = quiet.measure(lambda: peer.run(lengths, threads, beam, peer.batches[-1:], single=True)[0])
                rows.append((peer.name, threads, run))
        for bits in args.bits:
            for threads in args.threads:
                run = quiet.measure(lambda: run_ganz(args, bits, lengths, threads, beam, single=True))
                rows.append(("ganz INT%d" % bits, threads, run))
        for name, threads, run in rows:
            times = (run["p50_ms"], run["p99_ms"], 1000 * run["cpu_s"] / len(lengths))
            report.row("%d" % beam, name, "%d" % threads, *("%.1f" % ms for ms in times))


def kernels(args, report):
    """GOP/s by shape and rows of each ISA, as bench_kernel measures them; in brackets the share of the peak."""
    for isa in args.kernel_isas:
        cells = products(args.bench_kernel, isa)
        if isinstance(cells, str):
            report.line("\n%s: %s" % (isa, cells))
            continue
        shapes, rows = (list(dict.fromkeys(c[key] for c in cells)) for key in ("shape", "rows"))
        cell = {(c["rows"], c["shape"]): "%.0f" % c["rate"] + ("" if c["of_peak"] == "-" else " (%s)" % c["of_peak"])
                for c in cells}
        report.line("\nKernels, %s, GOP/s:" % isa)
        report.head("rows", *shapes)
        for row in rows:
            report.row("%d" % row, *(cell[row, shape] for shape in shapes))


def processor():
    with open("/proc/cpuinfo") as file:
        name = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "a processor")
    return "%d cores of %s" % (os.cpu_count(), name)


def parse():
    needs = "".join("\n  %-12s %s" % (peer, packages) for peer, (_, packages) in peers.PEERS.items())
    parser = argparse.ArgumentParser(description=__doc__.format(needs=needs),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--peer", nargs="+", required=True, choices=peers.PEERS, metavar="PEER",
        help="systems beside ganz, of the above")
    add("--ganz", default=os.environ.get("GANZ"), metavar="FILE", help="the program ganz [$GANZ]")
    add("--python", default=sys.executable, metavar="FILE", help="the Python that has the peers' packages [this one]")
    add("--model", default="base", choices=peers.SHAPES, help="shape of the models [base]")
    add("--bits", type=int, nargs="+", default=[8], metavar="N", help="of ganz's integers; ratios are of the first [8]")
    add("--beams", type=int, nargs="+", default=[1, 4], choices=[1, 4], metavar="N", help="hypotheses: 1, 4 [1 4]")
    add("--threads", type=int, nargs="+", default=[1, 2], metavar="N", help="[1 2]")
    add("--batches", type=int, nargs="+", metavar="N", help="batch sizes of the peers [some that suit each]")
    add("--sentences", type=int, default=120, metavar="N", help="for each thread; 0: leave throughput out [120]")
    add("--target", type=int, default=27, metavar="N", help="tokens of every translation [27]")
    add("--rounds", type=int, default=3, metavar="N", help="measurements of each system, the median counts [3]")
    add("--single", type=int, default=60, metavar="N",
        help="sentences translated one at a time; 0: leave that out [60]")
    add("--avx2", action="store_true", help="hold every system to AVX2")
    add("--quiet", type=int, default=0, metavar="SECONDS",
        help="wait so long in all for others to leave the machine, and repeat disturbed rounds [0]")
    add("--bench-kernel", default=os.environ.get("BENCH_KERNEL"), metavar="FILE",
        help="the program bench_kernel, for kernel tables too [$BENCH_KERNEL]")
    add("--kernel-isas", nargs="+", default=["amx", "avx512vnni", "avx2"], metavar="ISA",
        help="instruction sets of those tables [amx avx512vnni avx2]")
    add("--output", metavar="FILE", help="write the tables to this file too")
    add("--verbose", action="store_true", help="show what the peers say")
    args = parser.parse_args()
    for program in (args.ganz, args.bench_kernel):
        if program and not os.access(program, os.X_OK):
            sys.exit("compare_peers: %s cannot be run" % program)
    if not args.ganz:
        parser.error("--ganz is needed, or $GANZ")
    return args


def main():
    if sys.argv[1:2] == ["--worker"]:
        return work(json.loads(sys.argv[2]))
    args = parse()
    with tempfile.TemporaryDirectory() as folder:
        systems, quiet, report = [Peer(key, args, folder) for key in args.peer], Quiet(args.quiet), Report(args.output)
        report.line("%s%s; models of shape %s, %d sentences a thread, %d tokens each, median of %d." % (
            processor(), ", held to AVX2" if args.avx2 else "", args.model, args.sentences, args.target, args.rounds))
        if args.sentences:
            throughput(args, systems, quiet, report)
        if args.single:
            report.line("\nOne sentence at a time:")
            latency(args, systems, quiet, report)
        report.line("\nOther work took up to %.2f of a core; %d of %d measurements had more than %.2f." % (
            quiet.worst, quiet.disturbed, quiet.rounds, BUSY))
        if args.bench_kernel:
            kernels(args, report)


if __name__ == "__main__":
    main()
