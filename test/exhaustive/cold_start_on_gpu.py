"""What a first call costs: the driver's compilation of PTX, cached or not, and kernels assembled.

    python test/exhaustive/cold_start_on_gpu.py make FOLDER
    python FOLDER/cold_start_on_gpu.py run FOLDER

`make` needs this project and `ptxas`: it writes kernels as PTX and as code of the chip. `run` needs
jax with CUDA, numpy and ml_dtypes alone. It starts a process for each way: PTX with the driver's
cache off, with a cache that is empty, with that cache again, and assembled with the cache off; and
prints seconds from the module to its first results for each kernel. It exits with 1 where two ways
give other numbers. Not a test that pytest runs; test_cold_start_on_gpu.py makes a folder.
"""

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

WAYS = {
    # What is loaded, and the driver's cache: off, a new folder, the same once more.
    "PTX, no cache": ("ptx", "off"),
    "PTX, empty cache": ("ptx", "on"),
    "PTX, cached": ("ptx", "on"),
    "assembled, no cache": ("cubin", "off"),
}


def kernels() -> Iterator[tuple[str, Any, str]]:
    """Names, what is computed, and as what."""
    from mlir_fp8.tuning.gated_works import GatedWork
    from mlir_fp8.tuning.grouped_works import GroupedWork
    from mlir_fp8.tuning.works import Work

    size = (1024, 1024, 1024)
    steps: dict[str, Any] = {"activation": "gelu_tanh", "amax": True, "quantized": True}
    yield "product", Work(*size), "product"
    yield "exact sums", Work(*size, fast_accum=False), "product"
    quantized = Work(*size, result="f8E4M3FN", turned=True, **steps)
    yield "GELU, amax, f8, transpose", quantized, "product"
    yield "scales of 1x128", Work(*size, blocks="1x128"), "product"
    yield "gate", GatedWork(*size), "gated"
    yield "groups", GroupedWork("forward", *size, (512, 512)), "grouped_product"
    yield "sums of groups", GroupedWork("dw", *size, (512, 512)), "grouped_product"
    yield "16 rows", Work(16, 4096, 4096), "few_rows"


def make(folder: Path) -> None:
    """Write each kernel twice."""
    import mlir_fp8
    from mlir_fp8.lowering.gpu.ptx.assembler import assembler
    from mlir_fp8.tuning import card
    from mlir_fp8.tuning.modules import chosen_form, with_kernels

    command = assembler()
    if command is None:
        raise SystemExit("error: ptxas is not installed: pip install nvidia-cuda-nvcc")
    folder.mkdir(parents=True, exist_ok=True)
    for script in (Path(card.__file__), Path(__file__)):
        shutil.copyfile(script, folder / script.name)
    index: list[dict[str, Any]] = []
    for number, (name, work, kernel) in enumerate(kernels()):
        _, shape = chosen_form(work, kernel)
        sizes = {}
        for kind, asked in (("ptx", ""), ("cubin", command)):
            data = mlir_fp8.serialize(with_kernels([(work, kernel, shape)], asked))
            sizes[kind] = len(data)
            (folder / f"{kind}{number}.mlirbc.gz").write_bytes(gzip.compress(data, 6))
        index.append({"name": name, "arguments": work.arguments(), "bytes": sizes})
        print(name, sizes, flush=True)
    (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n")


def run(folder: Path) -> int:
    """A table, one column for each way; how many kernels give other numbers in one of them."""
    index = json.loads((folder / "index.json").read_text())
    columns: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as cache:
        for way, (kind, mode) in WAYS.items():
            environment = {**os.environ, "CUDA_CACHE_PATH": cache}
            environment["CUDA_CACHE_DISABLE"] = str(int(mode == "off"))
            script = str(folder / Path(__file__).name)
            command = [sys.executable, script, "worker", str(folder), "--kind", kind]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            lines = [each for each in done.stdout.splitlines() if each.startswith("{")]
            columns[way] = [json.loads(each) for each in lines]
            if done.returncode:
                last = (done.stderr.strip().splitlines() or [""])[-1]
                print(f"{way}: the process ended with {done.returncode}: {last}")
    print(f"{'seconds to the first results':32}" + "".join(f"{each:>22}" for each in WAYS))
    wrong = 0
    for number, entry in enumerate(index):
        rows = [made[number] if number < len(made) else {} for made in columns.values()]
        times = (f"{each['seconds']:22.3f}" if "seconds" in each else f"{'-':>22}" for each in rows)
        digests = {each.get("digest") or each.get("error") for each in rows}
        wrong += len(digests) != 1
        said = "" if len(digests) == 1 else f"  OTHER NUMBERS: {digests}"
        print(f"{entry['name']:32}" + "".join(times) + said)
    return wrong


def work(folder: Path, kind: str) -> None:
    """What a process does: all kernels, one after the other."""
    import card  # pyright: ignore[reportMissingImports]

    device = card.Card("gpu")
    device.jax.block_until_ready(device.jax.numpy.zeros(1))
    for number, entry in enumerate(json.loads((folder / "index.json").read_text())):
        given = [device.put(each) for each in card.exact_arrays(entry["arguments"], number)]
        device.jax.block_until_ready(given)
        started = time.perf_counter()
        try:
            loaded = device.compile(folder / f"{kind}{number}.mlirbc.gz")
            results = device.jax.block_until_ready(loaded(given))
        except Exception as error:  # whatever XLA raises
            print(json.dumps({"error": str(error).splitlines()[0][:300]}), flush=True)
            continue
        seconds = time.perf_counter() - started
        found = card.digest([np.asarray(each) for each in results])
        print(json.dumps({"seconds": seconds, "digest": found}), flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("action", choices=("make", "run", "worker"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kind", choices=("ptx", "cubin"), default="ptx")
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    if options.action == "make":
        make(folder)
        return 0
    if options.action == "worker":
        work(folder, options.kind)
        return 0
    return min(run(folder), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
