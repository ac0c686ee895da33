"""What arguments may be to each other: one tensor twice, written ones, numbers, structures."""

from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from torch_programs import Of, check

import mlir_fp8
import mlir_fp8.torch


class Writes(torch.nn.Module):
    """Writes to its first argument."""

    def forward(self, a: Any, b: Any) -> Any:
        a.add_(b)
        return a.sum()


def test_a_tensor_that_is_given_twice_is_two_arguments() -> None:
    ones = torch.ones(2)
    module = mlir_fp8.torch.export(Of(lambda a, b: a + 10 * b["b"]), (ones, {"b": ones}))
    assert module(ones, {"b": ones * 2}).tolist() == [21, 21]


def test_what_is_written_is_no_other_argument() -> None:
    module = mlir_fp8.torch.export(Writes(), (torch.ones(2, 2), torch.ones(2, 2)))
    a = torch.ones(2, 2)
    assert module(a, torch.ones(2, 2)) == 8
    assert a.tolist() == [[2, 2], [2, 2]]
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^'a' is written, and 'b' has its memory"):
        module(a, a)
    with pytest.raises(mlir_fp8.Fp8Error, match="several of its elements are one"):
        module(torch.ones(1, 2).expand(2, 2), torch.ones(2, 2))
    whole = torch.ones(4, 2)
    assert module(whole[:2], whole[2:]) == 8


def test_zeros_of_two_signs_are_two_numbers() -> None:
    module = mlir_fp8.torch.export(Of(lambda a, b: a * b), (torch.ones(2), 0.0))
    with pytest.raises(mlir_fp8.Fp8Error, match=r"is -0\.0, exported for 0\.0"):
        module(torch.ones(2), -0.0)
    nan = float("nan")
    module = mlir_fp8.torch.export(Of(lambda a, b: a * b), (torch.ones(2), nan))
    assert module(torch.ones(2), nan).isnan().all()


def test_other_structures_are_refused_in_one_line() -> None:
    module = mlir_fp8.torch.export(Of(lambda a: a), (torch.ones(2),))
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        module([torch.ones(2)])
    assert "another structure" in str(caught.value) and "\n" not in str(caught.value)


def test_views_of_what_is_around_a_tensor_are_refused() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'aten\.as_strided' .*outside of the tensor"):
        check(lambda x: torch.as_strided(x, (2, 2), (2, 1), 1), torch.ones(4))
    check(lambda x: torch.as_strided(x, (2, 2), (2, 1), 0), torch.arange(4.0))


def test_booleans_are_bounded() -> None:
    x, y = torch.tensor([True, False, True]), torch.tensor([True, True, False])
    check(
        lambda x, y: (
            *(torch.clamp_max(x, y), torch.clamp_min(x, y), x.min(), x.max(), x.amin(), x.amax()),
            *(x.min(0), x.max(0), y.min(-1, True), torch.aminmax(y), y[0].min(0), x.isinf()),
        ),
        x,
        y,
    )


def test_nan_is_not_equal_to_itself() -> None:
    x = torch.tensor([float("nan"), 1.0])
    check(lambda x: (x == x, x == x.clone(), x.isclose(x), torch.where(x == x, x, 0.0)), x)


def test_slices_of_nothing() -> None:
    x = torch.ones(3, 4)
    check(
        lambda x: (
            *(x[3:1].sum(0), torch.cat([x[:0], x]), torch.cat([x[:0], x[:0]]), x[:, 4:2]),
            *(torch.cat([torch.zeros(0), x]), torch.cat([x[:0].double(), x[:1]])),
        ),
        x,
    )


@pytest.mark.parametrize("weights", [["*"], ["weight"], ["w*", "bia?"]])
def test_patterns_of_weights_are_of_the_state(weights: list[str]) -> None:
    module = mlir_fp8.torch.export(torch.nn.Linear(6, 3), (torch.randn(4, 6),))
    made = module.quantize("weight_only", weights=weights, wide=[])
    assert made.state["weight"].dtype == torch.float8_e4m3fn
    assert made(torch.ones(4, 6)).shape == (4, 3)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^weights: 'nope\*' matches no tensor"):
        module.quantize("weight_only", weights=["nope*"])


def test_indices_of_compiled_functions_count_from_the_end() -> None:
    x, places = torch.arange(24.0).reshape(4, 6).requires_grad_(), torch.tensor([-1, 0])

    def program(x: Any, places: Any) -> Any:
        written = x.clone()
        written[places, -1] = 5.0
        return (
            x[places] * 2,
            x[[-1, 0], [0, -1]],
            written,
            x.index_put((places,), x[1], accumulate=True),
        )

    compiled = torch.compile(program, backend="mlir_fp8")
    results = []
    for function in (program, compiled):
        x.grad = None
        made = function(x, places)
        sum(each.sum() for each in made).backward()
        assert x.grad is not None
        results.append((*made, x.grad))
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("name", ["weights", "wide", "scales", "donate"])
def test_options_of_prepared_modules_are_not_the_backends(name: str) -> None:
    compiled = torch.compile(torch.sin, backend="mlir_fp8", options={name: ["x"]})
    with pytest.raises(Exception, match=f"no option '{name}'"):
        compiled(torch.ones(2))
