"""Runs inside an old jaxlib's environment: reads and writes portable artifacts with that jaxlib.

`consumer.py` prints the versions as JSON. `consumer.py JOBS ANSWERS` does the jobs in the JSON file
JOBS and appends one JSON line for each to ANSWERS, before and after, so that the caller sees which
job a crash belongs to. Needs jaxlib, numpy and ml_dtypes only, of any age.
"""

import importlib
import importlib.metadata
import json
import sys
from pathlib import Path
from typing import Any

from jaxlib.mlir import ir

stablehlo: Any = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
# On bytes and text: the form on modules is overloaded with it at first, and named apart later.
serialize = getattr(
    stablehlo, "serialize_portable_artifact_str", stablehlo.serialize_portable_artifact
)
deserialize = getattr(
    stablehlo, "deserialize_portable_artifact_str", stablehlo.deserialize_portable_artifact
)
# Where func and the other upstream dialects have been registered from, over the years.
REGISTRARS = ("register_jax_dialects", "_jax_mlir_ext")


def versions() -> dict[str, str]:
    return {
        "jaxlib": importlib.metadata.version("jaxlib"),
        "current": stablehlo.get_current_version(),
        "minimum": stablehlo.get_minimum_version(),
    }


def own_text(module: bytes) -> str:
    """The module as this jaxlib prints it."""
    context = ir.Context()
    for name in REGISTRARS:
        try:
            registrar: Any = importlib.import_module(f"jaxlib.mlir._mlir_libs.{name}")
        except ImportError:
            continue
        registry = ir.DialectRegistry()
        registrar.register_dialects(registry)
        context.append_dialect_registry(registry)
    importlib.import_module("jaxlib.mlir.dialects.func")
    stablehlo.register_dialect(context)
    context.load_all_available_dialects()
    return str(ir.Module.parse(module, context))


def do(job: dict[str, str]) -> None:
    """Writes the job's `output`: its `source`, read and written again for its `version`.

    `kind` says how: `text` parses MLIR text, `artifact` reads an artifact, and `reprinted` reads an
    artifact, prints the module and parses that text.
    """
    source = Path(job["source"]).read_bytes()
    if job["kind"] == "text":
        module: str | bytes = source.decode()
    else:
        module = deserialize(source)
    if job["kind"] == "reprinted":
        assert isinstance(module, bytes)
        module = own_text(module)
    Path(job["output"]).write_bytes(serialize(module, job["version"]))


def main() -> None:
    if len(sys.argv) == 1:
        print(json.dumps(versions()))
        return
    jobs, answers = map(Path, sys.argv[1:])
    with answers.open("a") as file:
        for job in json.loads(jobs.read_text()):
            print(json.dumps({"started": job["output"]}), file=file, flush=True)
            try:
                do(job)
                answer = {"done": job["output"]}
            except Exception as error:  # whatever a jaxlib raises is the answer
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                answer = {"done": job["output"], "reason": reason[:300]}
            print(json.dumps(answer), file=file, flush=True)


if __name__ == "__main__":
    main()
