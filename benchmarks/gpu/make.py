"""`python -m benchmarks gpu make DIR`: the artifacts, their twins' results on a CPU, and run.py."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import mlir_fp8
from benchmarks.gpu import run
from benchmarks.gpu.cases import Case, Made, Variant, cases
from mlir_fp8.tuning import card

SCRIPTS = ("run.py", "torch_peers.py")
_STEPS = 3
"""After so many a delayed scale is what its tensor wants."""


def make(folder: Path, *, quick: bool, only: Sequence[str] = ()) -> Iterator[str]:
    """Writes everything a card needs into `folder`; yields a line for each case.

    `only` are parts of names, of which a case has one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for script in SCRIPTS:
        shutil.copyfile(Path(__file__).parent / script, folder / script)
    shutil.copyfile(card.__file__, folder / "card.py")
    index: list[dict[str, Any]] = []
    for case in cases(quick=quick):
        if only and not any(each in case.name for each in only):
            continue
        index.append(_written(case, folder))
        yield f"{case.name}: {', '.join(each.name for each in case.variants)}"
    content = {"format": run.FORMAT, "cases": index}
    (folder / "index.json").write_text(json.dumps(content, indent=1) + "\n")


def _written(case: Case, folder: Path) -> dict[str, Any]:
    twins = {} if case.twin is None else {each.name: each for each in case.twin.variants}
    variants = [
        _variant(case, variant, twins.get(variant.name), folder) for variant in case.variants
    ]
    return {"name": case.name, "group": case.group, "work": case.work, "variants": variants}


def _variant(case: Case, variant: Variant, twin: Variant | None, folder: Path) -> dict[str, Any]:
    stem = _file_name(f"{case.name} {variant.name}")
    made = variant.make()
    entry = {
        "name": variant.name,
        "bound": variant.bound,
        **_module(made, folder / f"{stem}.mlirbc"),
    }
    if twin is not None:
        small = twin.make()
        entry["twin"] = _module(small, folder / f"{stem}.twin.mlirbc")
        np.savez(folder / f"{stem}.twin.npz", allow_pickle=False, **_computed(small))
    return entry


def _file_name(text: str) -> str:
    return "".join(each if each.isalnum() else "_" for each in text).strip("_")


def _module(made: Made, file: Path) -> dict[str, Any]:
    file.write_bytes(mlir_fp8.serialize(made.module))
    return {"file": file.name, "arguments": list(made.arguments), "state": made.state}


def _computed(made: Made) -> dict[str, np.ndarray]:
    """The arguments and results of a step by our own compiler, all as bytes."""
    compiled = mlir_fp8.compile(made.module, threads=1)
    arguments = [card.host_array(spec, seed) for seed, spec in enumerate(made.arguments)]
    results: Sequence[np.ndarray] = ()
    for step in range(_STEPS if made.state else 1):
        if step:
            arguments[-made.state :] = [np.array(each) for each in results[-made.state :]]
        results = compiled(*arguments)
    held = {f"argument{index}": each for index, each in enumerate(arguments)}
    held |= {f"result{index}": np.asarray(each) for index, each in enumerate(results)}
    return {name: card.as_bytes(each) for name, each in held.items()}
