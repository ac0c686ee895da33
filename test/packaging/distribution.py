"""What is shipped, and how it is built, for the tests beside this file."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = {"mlir_fp8": "python", "mlir_fp8/dialects": "dialects", "mlir_fp8/lowering": "lowering"}
STUBS = {
    f"torch_mlir-stubs/{file.relative_to(ROOT / 'typings/torch_mlir').as_posix()}"
    for file in (ROOT / "typings/torch_mlir").rglob("*")
    if file.is_file()
}
# What may lie in a source tree that was worked in, and none of it is to be shipped.
LITTER = (
    "python/__pycache__/context.cpython-311.pyc",
    "lowering/kernels/__pycache__/product.cpython-311.pyc",
    "lowering/kept.code",
    "python/tools/old.pyc",
    "build/lib/mlir_fp8/moved_away.py",
    "build/import/mlir_fp8/context.py",
    "test/test_layout.py",
    "docs/ops.md",
)


@dataclass(frozen=True)
class Distribution:
    sdist: Path
    wheel: Path


def run_python(*arguments: str, cwd: Path, **environment: str) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=kept | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


def copy_sources(to: Path) -> None:
    for folder in (*SOURCES.values(), "typings"):
        shutil.copytree(ROOT / folder, to / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, to)
    for name in LITTER:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_text("")
