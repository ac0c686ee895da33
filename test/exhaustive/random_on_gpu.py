"""Random products of all kinds that have kernels, made here, their values held to a CPU's there.

    python test/exhaustive/random_on_gpu.py make FOLDER [--count=1000] [--seed=0] [--most=200]
    python FOLDER/random_on_gpu.py run FOLDER [--workers=8] [--only=MODULE,...] [--under=COMMAND]

`make` needs this project: it puts 20 products into each module, and the numbers that the CPU's
compiler gives beside it. Most are sums without rounding, of which all bits count. Of what has an
activation that is no exact function, or codes at random, results are held to a bound. `run` needs
jax with CUDA, numpy and ml_dtypes alone; it starts processes that share the modules, runs each
module twice, and exits with 1 where a product is wrong, whose text it prints. `--under` is put
before the command of each process: "compute-sanitizer --tool memcheck --error-exitcode 9".
Not a test that pytest runs; test_random_on_gpu.py makes a few.
"""

import argparse
import json
import os
import select
import shlex
import shutil
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

IN_A_MODULE = 20
SILENCE = 240.0
"""Seconds after which a process that says nothing is ended: its module hangs."""
_STEP = {"f32": 0.0, "bf16": 2.0**-7, "f16": 2.0**-10, "f8e4m3fn": 2.0**-3, "f8e5m2": 2.0**-2}
"""From a number to the next of its type, at most, as a share of it."""
_LEAST = {"f32": 0.0, "bf16": 0.0, "f16": 2.0**-24, "f8e4m3fn": 2.0**-9, "f8e5m2": 2.0**-16}
"""From a subnormal number to the next."""
_FUNCTIONS = 2.0**-20
"""Of activations in f32, as a share of the largest result."""
_SUMS = 2.0**-11
"""Of the tensor core's sums, as a share of the sum of magnitudes."""
_GATED = 3
"""Steps of a gate's type by which its sigmoid, its SiLU and the product may round another way."""
_F16 = 65504.0
"""Beyond which a number may be infinite for one and not for the other."""


def make(folder: Path, count: int, seed: int, most: int) -> None:
    """Write modules, operands' descriptions and results."""
    from mlir_fp8.tuning import card
    from mlir_fp8.tuning.random_works import random_pieces

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.json").unlink(missing_ok=True)  # what is cut short is no folder
    for script in (Path(card.__file__), Path(__file__)):
        shutil.copyfile(script, folder / script.name)
    index: list[dict[str, Any]] = []
    pieces = list(random_pieces(count, seed, most))
    for first in range(0, count, IN_A_MODULE):
        entries = _make(folder, first, pieces[first : first + IN_A_MODULE])
        index.append({"module": first // IN_A_MODULE, "products": entries})
        print(f"{first + len(entries)} of {count}", flush=True)
    (folder / "index.json").write_text(json.dumps(index) + "\n")


def _make(folder: Path, first: int, pieces: Sequence[Any]) -> list[dict[str, Any]]:
    """One module and its results; what `run` is to know of each product."""
    import gzip

    import mlir_fp8
    from mlir_fp8.tuning.modules import parsed, with_kernels
    from mlir_fp8.tuning.pieces import text_of

    works = [work for work, *_ in pieces]
    entries = [
        _entry(first + at, work, kernel, form) for at, (work, kernel, _, form) in enumerate(pieces)
    ]
    module = with_kernels([(work, kernel, shape) for work, kernel, shape, _ in pieces])
    data = gzip.compress(mlir_fp8.serialize(module), 6)
    (folder / f"module{first // IN_A_MODULE}.mlirbc.gz").write_bytes(data)
    plain = mlir_fp8.compile(parsed(text_of(works)), threads=1)
    given = [array for each in entries for array in arrays_of(each)]
    wanted = _listed(plain(*given))
    sums = _listed(plain(*(_magnitudes(each) for each in given)))
    held: dict[str, np.ndarray] = {}
    at = 0
    for entry in entries:
        for result in range(len(entry["results"])):
            name = f"{entry['number']}_{result}"
            array = np.asarray(wanted[at])
            if entry["how"] == "exact":
                held[name] = checksums(array)
            else:
                held[name] = array.astype(np.float32)
            if entry["how"] == "sums":
                held[f"{name}_sums"] = np.asarray(sums[at]).astype(np.float32)
            at += 1
    np.savez_compressed(folder / f"module{first // IN_A_MODULE}.npz", allow_pickle=False, **held)
    return entries


def _listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (tuple, list)) else [results]


def _magnitudes(array: np.ndarray) -> np.ndarray:
    if array.dtype == np.int32:
        return array
    return np.abs(array.astype(np.float32)).astype(array.dtype)


def _entry(number: int, work: Any, kernel: str, form: str) -> dict[str, Any]:
    activation = getattr(work, "activation", "silu" if kernel == "gated" else "none")
    how = "exact" if activation in ("none", "relu") else "function"
    steps = (getattr(work, name, "") for name in ("bias", "c", "quantized", "amax"))
    if how == "exact" and activation == "none" and not any(steps) and number % 3 == 0:
        how = "sums"
    arguments = work.arguments()
    if how == "sums":  # which are to fit into f16
        arguments = [{**each, "std": 1.0} if "std" in each else each for each in arguments]
    types = [each.rpartition("x")[2].rstrip(">").lower() for each in work.results()]
    types = [each.removeprefix("tensor<") for each in types]
    return {
        "number": number,
        "name": f"{kernel} {work}, form {form}",
        "how": how,
        "gate": work.type if kernel == "gated" else "",
        "arguments": arguments,
        "results": types,
        "text": work.text(),
    }


def arrays_of(entry: dict[str, Any]) -> list[np.ndarray]:
    """The operands of a product, by its number."""
    import card  # pyright: ignore[reportMissingImports]

    number, specs = entry["number"], entry["arguments"]
    if entry["how"] != "sums":
        return card.exact_arrays(specs, number)
    exact = card.exact_arrays(specs, number)
    return [
        card.host_array(spec, 100 * number + i) if spec["kind"] in ("codes", "normal") else array
        for i, (spec, array) in enumerate(zip(specs, exact, strict=True))
    ]


def checksums(array: np.ndarray) -> np.ndarray:
    """Of each row of the last dimension as f32, where -0 is 0 and NaN is one NaN."""
    rows = array.reshape(-1, array.shape[-1] if array.ndim else 1).astype(np.float32) + np.float32(
        0
    )
    rows = np.where(np.isnan(rows), np.float32(np.nan), rows)
    return np.array([zlib.crc32(np.ascontiguousarray(each).tobytes()) for each in rows], np.uint32)


def fault_of(entry: dict[str, Any], held: Any, results: Sequence[np.ndarray]) -> str:
    """What is wrong with the results of a product, or nothing."""
    for at, (array, type_) in enumerate(zip(results, entry["results"], strict=True)):
        name = f"{entry['number']}_{at}"
        wanted = held[name]
        if entry["how"] == "exact":
            found = checksums(array)
            wrong = np.nonzero(found != wanted)[0]
            if len(wrong):
                listed = ", ".join(map(str, wrong[:12]))
                return f"result {at}: {len(wrong)} of {len(wanted)} rows are wrong: {listed}"
            continue
        numbers = array.astype(np.float64)
        if type_ == "f16":
            numbers, wanted = (np.clip(each, -_F16, _F16) for each in (numbers, wanted))
        share = _STEP[type_] + _GATED * _STEP.get(entry["gate"], 0.0)
        bound = share * np.abs(wanted) + _LEAST[type_]
        if entry["how"] == "sums":
            bound = bound + _SUMS * held[f"{name}_sums"]
        else:
            finite = np.abs(wanted[np.isfinite(wanted)])
            bound = bound + _FUNCTIONS * (finite.max() if finite.size else 0.0)
        with np.errstate(invalid="ignore"):
            far = np.where(numbers == wanted, 0, np.abs(numbers - wanted))
        wrong = ~((far <= bound) | (np.isnan(numbers) & np.isnan(wanted)))
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            return (
                f"result {at}: {int(wrong.sum())} of {wrong.size} numbers are off, that at {place} "
                f"is {numbers[place]}, not {wanted[place]} within {bound[place]:.3g}"
            )
    return ""


def run(folder: Path, workers: int, only: Sequence[int], under: str) -> int:
    """How many products are wrong; needs no part of this project."""
    started = time.perf_counter()
    index = json.loads((folder / "index.json").read_text())
    modules = [each["module"] for each in index if not only or each["module"] in only]
    said: list[dict[str, Any]] = []
    threads = [
        threading.Thread(target=_work, args=(folder, modules[i::workers], under, said))
        for i in range(min(workers, len(modules)))
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    texts = {each["number"]: each for part in index for each in part["products"]}
    wrong = [each for each in said if each.get("fault")]
    for each in wrong:
        told = texts.get(each.get("number", -1), {})
        print(f"\nWRONG {each.get('number', '')} {told.get('name', '')}: {each['fault']}")
        print(told.get("text", ""))
    right = [each for each in said if "number" in each and not each["fault"]]
    ways: dict[str, int] = {}
    for each in right:
        how = f"{texts[each['number']]['name'].split()[0]} {texts[each['number']]['how']}"
        ways[how] = ways.get(how, 0) + 1
    print(", ".join(f"{how} {count}" for how, count in sorted(ways.items())))
    asked = sum(len(each["products"]) for each in index if each["module"] in modules)
    compiled = sum(each.get("compiled", 0.0) for each in said)
    print(
        f"{len(right)} of {asked} products are right, {len(wrong)} faults; "
        f"{compiled:.0f} s of compilation, {time.perf_counter() - started:.0f} s in all"
    )
    return asked - len(right) + len(wrong)


def _work(folder: Path, modules: list[int], under: str, said: list[dict[str, Any]]) -> None:
    """A process for `modules`; behind one that ends it, another."""
    left = list(modules)
    while left:
        command = [*shlex.split(under), sys.executable, str(folder / Path(__file__).name)]
        command += ["worker", str(folder), "--only", ",".join(map(str, left))]
        environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        reason = "its process is silent: ended"
        for line in _lines(child):
            if line is None:
                child.kill()
                break
            if not line.startswith("{"):
                print(line, flush=True)
                continue
            told = json.loads(line)
            said.append(told)
            if "done" in told:
                left.remove(told["done"])
        else:
            reason = f"its process ended with {child.wait()}"
            if not left and child.returncode == 0:
                return
        child.wait()
        said.append({"fault": f"module {left[0] if left else modules[-1]}: {reason}"})
        left = left[1:]


def _lines(child: subprocess.Popen[str]) -> Iterator[str | None]:
    """Of what a process prints; None, at the end, where it was silent for too long."""
    assert child.stdout is not None
    os.set_blocking(child.stdout.fileno(), False)
    rest = ""
    while True:
        if not select.select([child.stdout], [], [], SILENCE)[0]:
            yield None
            return
        text = child.stdout.read()
        if not text:
            return
        *whole, rest = (rest + text).split("\n")
        yield from whole


def work(folder: Path, only: Sequence[int]) -> None:
    """What a process does: says of each product whether it is right, of each module that it ran."""
    import card  # pyright: ignore[reportMissingImports]

    device = card.Card("gpu")
    index = {each["module"]: each["products"] for each in json.loads(
        (folder / "index.json").read_text())}  # fmt: skip
    for module in only:
        entries = index[module]
        given = [device.put(array) for each in entries for array in arrays_of(each)]
        loaded = device.compile(folder / f"module{module}.mlirbc.gz")
        faults = [""] * len(entries)
        held = np.load(folder / f"module{module}.npz")
        for call in range(2):
            results = [np.asarray(each) for each in loaded(given)]
            for at, entry in enumerate(entries):
                mine, results = results[: len(entry["results"])], results[len(entry["results"]) :]
                if not faults[at] and (fault := fault_of(entry, held, mine)):
                    faults[at] = f"call {call}, {fault}"
        for entry, fault in zip(entries, faults, strict=True):
            print(json.dumps({"number": entry["number"], "fault": fault}), flush=True)
        print(json.dumps({"done": module, "compiled": loaded.seconds}), flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("action", choices=("make", "run", "worker"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=200, help="about the largest size")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--only", default="", help="numbers of modules, with commas between")
    parser.add_argument("--under", default="", help="what each process is started by")
    options = parser.parse_args(arguments)
    only = [int(each) for each in options.only.split(",") if each]
    if options.action == "make":
        from mlir_fp8.tuning import card

        sys.path.insert(0, str(Path(card.__file__).parent))
        make(options.folder, options.count, options.seed, options.most)
        return 0
    if options.action == "worker":
        work(options.folder.resolve(), only)
        return 0
    return min(run(options.folder.resolve(), options.workers, only, options.under), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
