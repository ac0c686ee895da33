"""Models of the benchmark `pytorch`, small: results and gradients are eager's."""

import gc
from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from torch.utils import _pytree as pytree

import mlir_fp8.torch
from benchmarks.torch_programs import programs
from benchmarks.torch_programs.program import Loss, Program

QUICK = ("Llama 3.2 1B", "BERT base", "ViT base, patches of 16")
FLOOR = 1e-3
"""Of the largest gradient's norm, below which gradients are zero but for rounding."""
_PROGRAMS = list(programs())


def _marked(all_: list[Program]) -> list[Any]:
    return [
        pytest.param(each, id=each.name, marks=() if each.name in QUICK else pytest.mark.exhaustive)
        for each in all_
    ]


def _distance(got: torch.Tensor, want: torch.Tensor, least: float = 1e-30) -> float:
    if not want.is_floating_point():
        return 0.0 if torch.equal(got, want) else float("inf")
    exact = want.double()
    return float((got.double() - exact).norm() / exact.norm().clamp_min(least))


def test_the_table_is_of_twenty_programs_half_of_which_are_trained() -> None:
    assert len(_PROGRAMS) >= 20
    assert sum(each.trains for each in _PROGRAMS) * 2 >= len(_PROGRAMS)
    assert set(QUICK) <= {each.name for each in _PROGRAMS}


@pytest.mark.parametrize("program", _marked(_PROGRAMS))
@pytest.mark.filterwarnings("ignore")
def test_results_are_eagers(program: Program) -> None:
    if program.package:
        pytest.importorskip(program.package)
    made, eager = program.make(True), program.make(True)
    with torch.no_grad():
        module = mlir_fp8.torch.export(made.model, (), made.inputs)
        expected = pytree.tree_leaves(eager.model(**eager.inputs))
    results = pytree.tree_leaves(module(**made.inputs))
    for got, want in zip(results, expected, strict=True):
        assert _distance(got, want) <= program.tolerance
    state = zip(made.model.state_dict().values(), eager.model.state_dict().values(), strict=True)
    assert all(_distance(*each) <= program.tolerance for each in state)
    gc.collect()


@pytest.mark.parametrize("program", _marked([each for each in _PROGRAMS if each.trains]))
@pytest.mark.filterwarnings("ignore")
def test_gradients_are_eagers(program: Program) -> None:
    experimental = pytest.importorskip("torch.export.experimental")
    if program.package:
        pytest.importorskip(program.package)
    made, eager = program.make(True), program.make(True)
    ours, other = Loss(made.model), Loss(eager.model)
    inputs = {**made.inputs, **made.labels}
    loss = other(**inputs)
    loss.backward()
    for mine, parameter in zip(ours.parameters(), other.parameters(), strict=True):
        mine.requires_grad_(parameter.grad is not None)
    joint = experimental._export_forward_backward(torch.export.export(ours, (), inputs))
    assert _distance(mlir_fp8.torch.export(joint)(**inputs), loss.detach()) <= program.tolerance
    expected = [each.grad for each in other.parameters() if each.grad is not None]
    results = [each.grad for each in ours.parameters() if each.requires_grad]
    least = FLOOR * max(float(each.double().norm()) for each in expected)
    for got, want in zip(results, expected, strict=True):
        assert got is not None
        assert _distance(got, want, least) <= program.tolerance
    gc.collect()
