"""random_on_gpu.py as far as it goes without a card."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import random_on_gpu

import mlir_fp8
from mlir_fp8.tuning import card
from mlir_fp8.tuning.modules import parsed


@pytest.mark.exhaustive
def test_products_are_made_and_faults_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "card", card)
    random_on_gpu.make(tmp_path, 20, 1, 40)
    entries = json.loads((tmp_path / "index.json").read_text())[0]["products"]
    assert (tmp_path / "module0.mlirbc.gz").read_bytes().startswith(b"\x1f\x8b")
    assert {each["how"] for each in entries} == {"exact", "function", "sums"}
    results: list[np.ndarray] = []
    for each in entries:
        made = mlir_fp8.compile(parsed(each["text"]), threads=1)(*random_on_gpu.arrays_of(each))
        results += [np.array(x) for x in (made if isinstance(made, (tuple, list)) else [made])]

    def loaded(given: Sequence[Any]) -> list[np.ndarray]:
        return results

    loaded.seconds = 0.0  # pyright: ignore[reportFunctionMemberAccess]
    fake = SimpleNamespace(put=lambda x: x, compile=lambda file: loaded)
    monkeypatch.setattr(card, "Card", lambda name: fake)
    random_on_gpu.work(tmp_path, [0])
    assert _faults(capsys) == [""] * 20
    for each in results:  # the largest number of every result is another
        flat = each.reshape(-1)
        at = int(np.argmax(np.nan_to_num(np.abs(flat.astype(np.float32)), posinf=0)))
        number = float(flat[at])
        flat[at] = -number - (16 if number >= 0 else -16)
    random_on_gpu.work(tmp_path, [0])
    assert [
        each["name"] for each, fault in zip(entries, _faults(capsys), strict=True) if not fault
    ] == []


def _faults(capsys: pytest.CaptureFixture[str]) -> list[str]:
    said = [each for each in capsys.readouterr().out.splitlines() if each.startswith("{")]
    return [each["fault"] for each in map(json.loads, said) if "number" in each]
