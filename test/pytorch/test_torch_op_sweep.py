"""The record of PyTorch's table of ops, `OPS.json`, and parts of it run again."""

import importlib.util
import json
import random
from pathlib import Path
from typing import Any

import pytest

PARTS = 48
RECORD: dict[str, Any] = json.loads((Path(__file__).parent / "OPS.json").read_text())


def test_the_record_has_no_wrong_numbers() -> None:
    assert set(RECORD["ops"]) <= {"refused", "not exported"}
    for counts in RECORD["samples"].values():
        assert set(counts) <= {"agrees", "no sample", "refused", "not exported"}
        assert counts["agrees"] > 3 * counts["refused"]


@pytest.mark.exhaustive
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("dtype", RECORD["samples"])
def test_parts_are_as_recorded(dtype: str) -> None:
    import torch
    from op_samples import sweep

    if torch.__version__.split("+")[0] != RECORD["torch"].split("+")[0]:
        pytest.skip(f"the record is of PyTorch {RECORD['torch']}")
    known = {
        name for ops in RECORD["ops"].values() for name, words in ops.items() if dtype in words
    }
    part = random.Random(dtype).randrange(PARTS)
    for name, _, kind, word in sweep("", [dtype], 2, (part, PARTS)):
        assert kind not in ("differs", "failed"), f"{name}: {word}"
        if kind in ("refused", "not exported"):
            assert name in known, f"{name}: {word}"
