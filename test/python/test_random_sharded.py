"""Random sharded programs: XLA on eight devices of the CPU and our simulation agree to the bit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")

QUICK = range(6)
REST = range(6, 500)
SCRIPT = Path(__file__).parent / "random_sharded.py"


def differences(seeds: range) -> str:
    run = subprocess.run(
        [sys.executable, SCRIPT, str(seeds.start), str(len(seeds))],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_some_random_programs() -> None:
    assert differences(QUICK) == ""


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", range(REST.start, REST.stop, 38))
def test_more_random_programs(start: int) -> None:
    assert differences(range(start, min(start + 38, REST.stop))) == ""
