"""The judge XLA on GPUs: its names, and where it runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.judging import judges
from mlir_fp8.judging.judge_names import are_judges, on_device
from mlir_fp8.tools._run_options import parse_arguments

ADD = """\
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def test_names() -> None:
    assert are_judges(["llvm", "xla-gpu"]) and are_judges(["xla", "xla-gpu", "xla-gpu:12"])
    for wrong in (["xla-gpu"], ["xla", "xla"], ["llvm", "gpu"], ["xla", "xla-gpu:01"], ["xla", ""]):
        assert not are_judges(wrong)


@pytest.mark.parametrize(
    ("names", "device", "moved"),
    [
        (("llvm", "xla"), "cpu", ("llvm", "xla")),
        (("llvm", "xla"), "gpu:1", ("llvm", "xla-gpu:1")),
        (("xla-gpu", "interpreter"), "gpu:1", ("xla-gpu:1", "interpreter")),
    ],
)
def test_device(names: Sequence[str], device: str, moved: Sequence[str]) -> None:
    assert on_device(names, device) == tuple(moved)
    options = parse_arguments(["x", f"--compare={','.join(names)}", f"--device={device}"])
    assert options is not None and options.compare == tuple(moved)


def test_the_judge_runs_on_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def run(
        _: Any, arrays: Sequence[np.ndarray], __: str, *, device: str
    ) -> tuple[np.ndarray, ...]:
        asked.append(device)
        return (2 * arrays[0],)

    monkeypatch.setattr(judges, "run_in_xla", run)
    given = np.ones(2, np.float32)
    verdict = mlir_fp8.compare(ADD, given, judges=("llvm", "xla-gpu", "xla-gpu:3"))
    assert asked == ["gpu", "gpu:3"]
    assert verdict.is_good and verdict.reference == "llvm"
    assert [each.judge for each in verdict.agreements] == ["xla-gpu", "xla-gpu:3"]


def test_without_a_gpu_it_says_so() -> None:
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "cpu":
        pytest.skip("there is a GPU")
    verdict = mlir_fp8.compare(ADD, np.ones(2, np.float32), judges=("llvm", "xla-gpu"))
    assert not verdict.is_comparison
    assert str(verdict.opinions[1].refusal).startswith("XLA: there is no gpu")
