"""The published types: pyright on a user's program of the whole public API."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mlir_fp8

USER_PROGRAM = Path(__file__).parent / "Inputs" / "user_program.py"


def test_program_uses_every_public_name() -> None:
    tree = ast.parse(USER_PROGRAM.read_text())
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "mlir_fp8"
    }
    assert sorted(set(mlir_fp8.__all__) - used) == []


def _pyright(program: str, python: Path, folder: Path) -> list[str]:
    """What pyright says of `program` in an environment, by rule; its own settings, not ours."""
    pytest.importorskip("basedpyright", reason="pip install '.[lint]'")
    (folder / "program.py").write_text(program)
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    run = subprocess.run(
        [
            *(sys.executable, "-m", "basedpyright", "--outputjson"),
            *(f"--pythonpath={python}", f"--project={folder}"),
        ],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return [
        f"{each['range']['start']['line'] + 1}: {each.get('rule')}: {each['message']}"
        for each in json.loads(run.stdout)["generalDiagnostics"]
    ]


@pytest.mark.exhaustive
def test_program_has_its_types(installed: Path, tmp_path: Path) -> None:
    assert _pyright(USER_PROGRAM.read_text(), installed / "bin" / "python", tmp_path) == []


@pytest.mark.exhaustive
def test_mistakes_are_found(installed: Path, tmp_path: Path) -> None:
    program = """import mlir_fp8
mlir_fp8.compil("dot.mlir")
mlir_fp8.compile("dot.mlir", rounding=1)
mlir_fp8.quantize("dot.mlir", 3)
mlir_fp8.serialize("dot.mlir")
"""
    found = _pyright(program, installed / "bin" / "python", tmp_path)
    errors = [each for each in found if "Unknown" not in each.split(": ")[1]]
    assert [each.split(": ")[:2] for each in errors] == [
        ["2", "reportAttributeAccessIssue"],
        ["3", "reportArgumentType"],
        ["4", "reportArgumentType"],
        ["5", "reportArgumentType"],
    ]
