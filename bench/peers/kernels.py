"""What bench_kernel prints."""
import os
import subprocess


def products(program, isa=None):
    """Lines of its products with the same weights in every call: a list of dicts, or the sentence it ends with."""
    env = dict(os.environ, GANZ_FORCE_ISA=isa) if isa else None
    run = subprocess.run([program, "--spread", "10", "--quick"], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=env)
    if run.returncode:
        return run.stderr.strip() or "%s fails" % program
    cells = (line.split("\t") for line in run.stdout.splitlines())
    return [{"rows": int(c[4]), "shape": c[5], "rate": float(c[6]), "of_peak": c[8]} for c in cells
            if c[0] == "gemm" and c[3] == "hot"]
