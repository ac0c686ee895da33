"""A crash, a hang and an error of our own while torch-mlir lowers."""

import os
import time
from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from torch_programs import Of

import mlir_fp8
import mlir_fp8.torch
from mlir_fp8.torch import importing


def _lowers(monkeypatch: pytest.MonkeyPatch, what: Any, op: str = "aten.tan") -> None:
    """Let the passes do `what` on modules that hold `op`."""
    run = importing._run

    def patched(pipeline: str, module: Any) -> None:
        if op in str(module):
            what()
        run(pipeline, module)

    monkeypatch.setattr(importing, "_run", patched)


def test_a_crash_names_the_op_and_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    _lowers(monkeypatch, os.abort)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"programs\.py:\d+:0: 'aten\.tan'.*SIGABRT") as got:
        mlir_fp8.torch.export(Of(lambda x: torch.tan(x * 2) + 1), (torch.ones(2),))
    assert "\n" not in str(got.value)


def test_a_hang_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _lowers(monkeypatch, lambda: time.sleep(60))
    monkeypatch.setattr(importing, "_patience", lambda graph: 3.0)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'aten\.tan'.* did not answer in time"):
        mlir_fp8.torch.export(Of(torch.tan), (torch.ones(2),))


def test_a_crash_of_no_single_op_names_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def two(x: Any) -> Any:
        return torch.tan(torch.sin(x))

    run = importing._run

    def patched(pipeline: str, module: Any) -> None:
        if "aten.tan" in str(module) and "aten.sin" in str(module):
            os.abort()
        run(pipeline, module)

    monkeypatch.setattr(importing, "_run", patched)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"a program of aten\.sin, aten\.tan: .*SIGABRT"):
        mlir_fp8.torch.export(Of(two), (torch.ones(2),))


def test_an_error_of_ours_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise AssertionError("no")

    _lowers(monkeypatch, fails)
    with pytest.raises(mlir_fp8.InternalError, match="AssertionError: no"):
        mlir_fp8.torch.export(Of(torch.tan), (torch.ones(2),))
