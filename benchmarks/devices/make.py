"""The programs before and after, as artifacts, what each device sends, and run.py beside them."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
from jax.sharding import AxisType, NamedSharding  # pyright: ignore[reportMissingImports]
from torch_mlir import ir

import mlir_fp8
from benchmarks.devices import run
from benchmarks.devices.programs import AXIS, SIZES, Program, programs
from mlir_fp8.artifacts.mhlo import bridge_version
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.fp8.collectives.quantize import bytes_of
from mlir_fp8.lowering.rewriting.collectives import COLLECTIVES
from mlir_fp8.passes.pass_pipeline import run_pipeline

PIPELINES = {
    # XLA:CPU widens an f8 collective to f16, and computes f8 dots in f32.
    "cpu": ["fp8-quantize-collectives{as-bits=true min-bytes=0}"],
    "gpu": [
        "fp8-quantize-collectives",
        "fp8-quantize-dots{recipe=current}",
        "fp8-canonicalize-for-xla-gpu{allow-reassociation=true allow-excess-precision=true}",
    ],
}
BOUND = 0.08
"""Relative L2: a rounding to E4M3 is 3 percent, the layer with two of them and a sum 6."""


def make(
    folder: Path, counts: Sequence[int], *, device: str = "cpu", quick: bool = False
) -> Iterator[str]:
    """Write all that run.py needs into `folder`; yields a line for each case.

    JAX has to have as many devices as the most of `counts`, of any kind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(__file__).parent / "run.py", folder / "run.py")
    index: list[dict[str, Any]] = []
    for count in counts:
        kinds = (AxisType.Auto,)
        mesh = jax.sharding.Mesh(jax.devices()[:count], (AXIS,), axis_types=kinds)
        for program in programs(count, SIZES["quick" if quick else device]):
            index.append(_written(program, mesh, count, folder, PIPELINES[device]))
            sent = ", ".join(f"{each['name']} {each['sent']}" for each in index[-1]["variants"])
            yield f"{program.name}, {count} devices: bytes each sends: {sent}"
    (folder / "index.json").write_text(json.dumps({"format": run.FORMAT, "cases": index}) + "\n")


def _written(
    program: Program, mesh: Any, count: int, folder: Path, pipeline: Sequence[str]
) -> dict[str, Any]:
    shardings = tuple(NamedSharding(mesh, each.spec) for each in program.arguments)
    given = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in program.arguments]
    jitted = jax.jit(program.on(mesh), in_shardings=shardings)
    exported = jax.export.export(jitted)(*given)
    module = mlir_fp8.load(exported.mlir_module_serialized)
    stem = "".join(each if each.isalnum() else "_" for each in f"{program.name}_{count}")
    variants = [_variant(module, "before", folder / f"{stem}.before.mlirbc")]
    run_pipeline(module, list(pipeline), name=program.name)
    variants.append(_variant(module, "after", folder / f"{stem}.after.mlirbc"))
    (result,) = exported.out_avals
    return {
        "name": program.name,
        "devices": count,
        "bound": BOUND,
        "arguments": [
            {
                "shape": each.shape,
                "dtype": jax.numpy.dtype(each.dtype).name,
                "std": each.std,
                "spec": list(each.spec),
            }
            for each in program.arguments
        ],
        "result": {"shape": result.shape, "dtype": result.dtype.name},
        "variants": variants,
    }


def _variant(module: ir.Module, name: str, file: Path) -> dict[str, Any]:
    file.write_bytes(mlir_fp8.serialize(module, bridge_version()))
    sent = sum(bytes_of(op) for op in operations(module.operation, *COLLECTIVES))
    return {"name": name, "file": file.name, "sent": sent}
