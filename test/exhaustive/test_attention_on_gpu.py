"""attention_on_gpu.py and attention_backward_on_gpu.py as far as they go without a card."""

from pathlib import Path

import attention_backward_on_gpu
import attention_on_gpu
import numpy as np
import pytest


@pytest.mark.exhaustive
def test_a_case_is_made_and_its_bound_tells_right_from_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    attention_on_gpu.make(tmp_path, "zero")
    assert (tmp_path / "zero.mlirbc").read_bytes().startswith(b"ML\xefR")
    held = np.load(tmp_path / "zero.npz")
    found = held["wanted"].astype(np.float32)
    assert (found == 0).all(-1).any()  # queries that see no key
    monkeypatch.setattr(attention_on_gpu, "on_card", lambda file, operands: [[found]] * 2)
    assert attention_on_gpu.run(tmp_path) == 0
    found[0, 0, 5] += 2 * held["bound"].max()
    assert attention_on_gpu.run(tmp_path) == 1
    assert "WRONG" in capsys.readouterr().out


@pytest.mark.exhaustive
def test_gradients_are_made_and_their_bound_tells_right_from_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    attention_backward_on_gpu.make(tmp_path, "few")
    assert (tmp_path / "few.mlirbc").read_bytes().startswith(b"ML\xefR")
    held = np.load(tmp_path / "few.npz")
    found = [held[each].astype(np.float32) for each in ("dq", "dk", "dv")]
    monkeypatch.setattr(attention_on_gpu, "on_card", lambda file, operands: [found, found])
    assert attention_backward_on_gpu.run(tmp_path) == 0
    found[1][0, 0, 5] += 2 * held["dk_bound"].max()
    assert attention_backward_on_gpu.run(tmp_path) == 1
    assert "WRONG" in capsys.readouterr().out
