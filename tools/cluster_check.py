#!/usr/bin/env python3
"""The recipes of docs/PYTHON.md for clusters, run: PySpark in local-cluster mode with two executors, and Ray Data.

usage: cluster_check.py [spark] [ray] [--lines N]     (both when none is named; PYTHONPATH has ganz, or it is installed)

A text of short lines is translated in 1, 2 and 8 partitions, with Spark once more while an executor is killed. Each
time the multiset of translations must be that of one process. Exit code 77 where nothing could be run: the packages
(pyspark, pyarrow, pandas<3 and a Java; ray[data]) are not there.
"""
import argparse
import collections
import importlib.util
import os
import pathlib
import shutil
import signal
import sys
import threading
import time

try:
    import ganz
except ImportError as missing:
    sys.exit(f"cluster_check: {missing}")

TEXT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "tatoeba.en"


def translate_batches(batches):
    """Arrow batches in, Arrow batches out: what mapInArrow wants. One translator for each partition."""
    import ganz
    import pyarrow

    with ganz.Translator(beam=1, threads=1) as translator:
        for batch in batches:
            lines = batch.column("text").to_pylist()
            translations = [result.text for result in translator.translate_batch(lines)]
            yield pyarrow.RecordBatch.from_arrays([batch.column("text"), pyarrow.array(translations)],
                                                  names=["text", "translation"])


class Translate:
    """The same for Ray Data: an actor holds a translator."""

    def __init__(self):
        import ganz

        self.translator = ganz.Translator(beam=1, threads=1)

    def __call__(self, batch):
        batch["translation"] = [r.text for r in self.translator.translate_batch([str(t) for t in batch["text"]])]
        return batch


def executors():
    """Processes of our executors: they have inherited a variable from us."""
    found, mark = [], f"CLUSTER_CHECK={os.getpid()}".encode()
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (b"CoarseGrainedExecutorBackend" in (folder / "cmdline").read_bytes()
                    and mark in (folder / "environ").read_bytes().split(b"\0")):
                found.append(int(folder.name))
        except OSError:
            pass  # ended meanwhile, or of another user
    return found


def kill_one(after, done):
    time.sleep(after)
    running = executors()
    if running:
        os.kill(running[0], signal.SIGKILL)
        done.append(running[0])


def check_spark(lines, expected):
    from pyspark.sql import SparkSession

    os.environ["CLUSTER_CHECK"] = str(os.getpid())  # children have it, and so we find our executors
    os.environ["PYSPARK_PYTHON"] = sys.executable  # else executors take a Python without ganz
    spark = (SparkSession.builder.master("local-cluster[2,1,1024]").appName("ganz")
             .config("spark.ui.enabled", "false").config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
             .getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    table = spark.createDataFrame([(line,) for line in lines], "text string")
    bad = 0
    for partitions, kill in ((1, False), (2, False), (8, False), (8, True)):
        killed, started = [], time.monotonic()
        if kill:
            thread = threading.Thread(target=kill_one, args=(2, killed))
            thread.start()
            table = table.union(table).union(table)  # long enough to be hit
        rows = (table.repartition(partitions).mapInArrow(translate_batches, "text string, translation string")
                .collect())
        if kill:
            thread.join()
        times = 3 if kill else 1
        same = collections.Counter(r.translation for r in rows) == collections.Counter(
            {t: n * times for t, n in expected.items()})
        note = f", executor {killed[0]} killed" if killed else ", NO EXECUTOR KILLED" if kill else ""
        print(f"spark: {partitions} partitions{note}: {len(rows)} rows, "
              f"{'equal' if same else 'DIFFERENT'} ({time.monotonic() - started:.0f} s)", flush=True)
        bad += not same or (kill and not killed)
    spark.stop()
    return bad


def check_ray(lines, expected):
    import ray

    ray.init(num_cpus=3, include_dashboard=False, object_store_memory=200 << 20, logging_level="ERROR")
    bad = 0
    for partitions in (1, 2, 8):
        started = time.monotonic()
        data = ray.data.from_items([{"text": line} for line in lines]).repartition(partitions)
        rows = data.map_batches(Translate, concurrency=2, batch_size=256).take_all()
        same = collections.Counter(r["translation"] for r in rows) == expected
        print(f"ray: {partitions} partitions: {len(rows)} rows, {'equal' if same else 'DIFFERENT'} "
              f"({time.monotonic() - started:.0f} s)", flush=True)
        bad += not same
    ray.shutdown()
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs="*", choices=["spark", "ray", []])
    parser.add_argument("--lines", type=int, default=1000)
    options = parser.parse_args()
    there = {"spark": importlib.util.find_spec("pyspark") and importlib.util.find_spec("pyarrow") and shutil.which("java"),
             "ray": importlib.util.find_spec("ray")}
    chosen = [name for name in options.engines or there if there[name]]
    for name in there:
        if name not in chosen and (not options.engines or name in options.engines):
            print(f"{name}: skipped, it is not there")
    if not chosen:
        return 77
    lines = TEXT.read_text(encoding="utf-8").splitlines()[: options.lines]
    with ganz.Translator(beam=1, threads=1) as translator:
        expected = collections.Counter(r.text for r in translator.translate_batch(lines))
    return 1 if sum({"spark": check_spark, "ray": check_ray}[name](lines, expected) for name in chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
