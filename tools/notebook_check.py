#!/usr/bin/env python3
"""Runs examples/chain.ipynb again: every cell must run, and the integer model must audit clean and score at least 90 BLEU.

usage: notebook_check.py [--write] [NOTEBOOK]       (PYTHONPATH has ganz, or it is installed)

--write keeps what the cells printed and drew in the notebook. Exit code 77 where nbclient, ipykernel, matplotlib or ganz is
not there.
"""
import importlib.util
import pathlib
import re
import sys

NEEDED = ("nbclient", "nbformat", "ipykernel", "matplotlib", "ganz")


def printed(notebook):
    return "".join(output.get("text", "") for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs)


def pictures(notebook):
    return sum("image/png" in output.get("data", {}) for cell in notebook.cells if cell.cell_type == "code"
               for output in cell.outputs)


def main(arguments):
    missing = [name for name in NEEDED if not importlib.util.find_spec(name)]
    if missing:
        print(f"notebook_check: skipped, {', '.join(missing)} not there")
        return 77
    import nbclient
    import nbformat

    write = "--write" in arguments
    names = [a for a in arguments if a != "--write"]
    path = pathlib.Path(names[0] if names else pathlib.Path(__file__).resolve().parent.parent / "examples" / "chain.ipynb")
    notebook = nbformat.read(path, as_version=4)
    kept = pictures(notebook)
    try:
        nbclient.NotebookClient(notebook, timeout=1200, kernel_name="python3").execute()
    except nbclient.exceptions.CellExecutionError as error:
        print(f"notebook_check: {error}")
        return 1
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times, which differ each time
    notebook.metadata["language_info"] = {"name": "python"}
    text, drawn = printed(notebook), pictures(notebook)
    score = re.search(r"int8 +([0-9.]+) BLEU", text)
    good = "products in floating point: 0" in text and score and float(score[1]) >= 90 and drawn >= 2
    if write:
        nbformat.write(notebook, path)
        kept = drawn
    print(f"notebook_check: int8 {score[1] if score else '?'} BLEU, {drawn} pictures, {kept} kept")
    return 0 if good and kept == drawn else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
