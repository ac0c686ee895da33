"""FP8 in `torch.compile`: recipes of ours with their state, and torchao's models."""

import copy
import importlib.util
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")

import torch
from torch import nn

import mlir_fp8
import mlir_fp8.torch
from mlir_fp8.torch.dynamo import backend as backend_module
from mlir_fp8.torch.dynamo import building


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


@pytest.fixture
def quantized(monkeypatch: pytest.MonkeyPatch) -> list[mlir_fp8.Quantized]:
    """What each graph of the test was made of."""
    found: list[mlir_fp8.Quantized] = []

    def recorded(*args: Any, **options: Any) -> mlir_fp8.Quantized:
        found.append(mlir_fp8.quantize(*args, **options))
        return found[-1]

    monkeypatch.setattr(building, "quantize", recorded)
    return found


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The state of each graph, in the order in which they were compiled."""
    found: list[Any] = []
    build = backend_module._build

    def recorded(*args: Any) -> Any:
        if args[-1] not in found:
            found.append(args[-1])
        return build(*args)

    monkeypatch.setattr(backend_module, "_build", recorded)
    return found


def relative(got: torch.Tensor, expected: torch.Tensor) -> float:
    return ((got - expected).norm() / expected.norm()).item()


class Net(nn.Module):
    """Two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(16, 32), nn.Linear(32, 8)

    def forward(self, x: Any) -> Any:
        return self.last(nn.functional.gelu(self.first(x)))


def losses(model: nn.Module, options: dict[str, Any], steps: int = 30) -> list[float]:
    model = copy.deepcopy(model)
    function = torch.compile(model, backend="mlir_fp8", options=options)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    random = torch.Generator().manual_seed(1)
    x, target = torch.randn(64, 16, generator=random), torch.randn(64, 8, generator=random)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (function(x) - target).square().mean()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


RECIPES = [
    "delayed",
    *(
        pytest.param(recipe, marks=pytest.mark.exhaustive)
        for recipe in (
            "current",
            "transformer_engine",
            mlir_fp8.DelayedScaling(history=4, algorithm="most_recent"),
            mlir_fp8.CurrentScaling(margin=1),
        )
    ),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_training_follows_the_curve_of_f32(recipe: Any) -> None:
    model = Net()
    wide, narrow = losses(model, {}), losses(model, {"quantize": recipe})
    assert wide[-1] < 0.9 * wide[0]
    assert narrow != wide
    assert np.allclose(narrow, wide, rtol=0.02)


def test_gradients_are_in_the_backward_format(quantized: list[mlir_fp8.Quantized]) -> None:
    losses(Net(), {"quantize": "current"}, steps=1)
    forward, backward = ([each.gradient for each in graph.decisions] for graph in quantized)
    assert forward == ["none", "none"]
    assert len(backward) == 3  # the input has no gradient
    assert set(backward) <= {"lhs", "rhs"}
    for each in quantized[1].decisions:
        assert each.formats is not None
        assert sorted(each.formats) == ["f8E4M3FN", "f8E5M2"]
        assert each.formats[each.gradient == "rhs"] == "f8E5M2"


def test_products_of_recomputed_values_have_no_gradient(
    quantized: list[mlir_fp8.Quantized],
) -> None:
    from torch.utils.checkpoint import checkpoint

    inner = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16), nn.GELU())

    def function(x: Any) -> Any:
        return checkpoint(inner, x, use_reentrant=False)

    made = torch.compile(function, backend="mlir_fp8", options={"quantize": "current"})
    made(torch.randn(32, 16)).sum().backward()
    kinds = [each.gradient for each in quantized[1].decisions]
    assert kinds.count("none") == 2
    assert len(kinds) == 5


def test_state_is_kept_between_calls(states: list[Any]) -> None:
    """With flax's order the second step is scaled by the amax of the first."""
    model = nn.Linear(16, 16, bias=False)
    options = {"quantize": mlir_fp8.DelayedScaling(history=2)}
    function = torch.compile(model, backend="mlir_fp8", options=options)
    x = torch.randn(16, 16)
    with torch.no_grad():
        for factor in (1.0, 4.0, 2.0):
            function(x * factor)
    (state,) = states
    largest = x.abs().max().item()
    assert set(state.arrays) == {
        f"dot0.{side}.{what}" for side in ("lhs", "rhs") for what in ("scale", "amax_history")
    }
    histories = [state.arrays[f"dot0.{side}.amax_history"] for side in ("lhs", "rhs")]
    amax = model.weight.abs().max().item()
    (of_x,) = [each for each in histories if not np.allclose(each, amax)]
    assert np.allclose(sorted(of_x), [2 * largest, 4 * largest])
    scales = sorted(state.arrays[f"dot0.{side}.scale"].item() for side in ("lhs", "rhs"))
    assert np.isclose(scales[1], 4 * largest / 448)


def test_sizes_share_the_state(states: list[Any]) -> None:
    function = torch.compile(
        nn.Linear(16, 16), backend="mlir_fp8", dynamic=True, options={"quantize": "delayed"}
    )
    with torch.no_grad():
        for rows in (20, 24, 32):
            function(torch.full((rows, 16), float(rows)))
    (state,) = states
    history = max(
        (each for name, each in state.arrays.items() if name.endswith("history")),
        key=lambda each: each.max(),
    )
    assert sorted(history[history > 0]) == [20, 24, 32]


def test_small_products_are_left(quantized: list[mlir_fp8.Quantized]) -> None:
    options = {"quantize": "current", "min_size": 16}
    with torch.no_grad():
        torch.compile(Net(), backend="mlir_fp8", options=options)(torch.randn(64, 16))
    first, last = quantized[0].decisions
    assert first.formats == ("f8E4M3FN", "f8E4M3FN")
    assert last.formats is None


def test_named_ops_and_skipped_ones() -> None:
    x, options = torch.randn(64, 16), {"quantize": "current", "skip_first": 1, "skip_last": 1}
    model = Net()
    with torch.no_grad():
        left = torch.compile(model, backend="mlir_fp8", options=options)
        assert relative(left(x), model(x)) <= 1e-6
        ops = {"quantize": "current", "ops": "stablehlo.tanh"}
        rounded = torch.compile(torch.tanh, backend="mlir_fp8", options=ops)(x)
    assert 1e-3 < relative(rounded, x.tanh()) < 0.1
    with pytest.raises(Exception, match="skip_first counts the products of one graph") as raised:
        left(x)
    assert isinstance(raised.value.inner_exception, mlir_fp8.Fp8Error)


def test_an_unknown_recipe_is_refused() -> None:
    function = torch.compile(nn.Linear(2, 2), backend="mlir_fp8", options={"quantize": "mx"})
    with pytest.raises(Exception, match="'mx' is no recipe: it is one of delayed, flax"):
        function(torch.ones(2, 2))


torchao_needed = pytest.mark.skipif(
    importlib.util.find_spec("torchao") is None, reason="pip install torchao"
)


@torchao_needed
@pytest.mark.parametrize(
    "recipe",
    [
        "tensorwise",
        *(
            pytest.param(name, marks=pytest.mark.exhaustive)
            for name in ("rowwise", "rowwise_with_gw_hp")
        ),
    ],
)
def test_training_of_torchao(recipe: str) -> None:
    from torchao.float8 import Float8LinearConfig, convert_to_float8_training

    wide = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
    config = Float8LinearConfig.from_recipe_name(recipe)
    model = convert_to_float8_training(copy.deepcopy(wide), config=config)
    eager = copy.deepcopy(model)
    x = torch.randn(32, 16)
    results = []
    for function, own in ((torch.compile(model, backend="mlir_fp8"), model), (eager, eager)):
        y = function(x)
        y.sin().sum().backward()
        results.append((y, *(each.grad for each in own.parameters())))
    for got, expected in zip(*results, strict=True):
        assert relative(got, expected) <= 1e-5
    assert 1e-3 < relative(results[0][0], wide(x)) < 0.1


@torchao_needed
def test_inference_of_torchao() -> None:
    from torchao import quantization as ao

    wide = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 16)).bfloat16().eval()
    x = torch.randn(32, 32, dtype=torch.bfloat16)
    dynamic = ao.Float8DynamicActivationFloat8WeightConfig
    configs = [ao.Float8WeightOnlyConfig(), dynamic(), dynamic(granularity=ao.PerRow())]
    with pytest.raises(AssertionError, match="Float8 dynamic quantization requires"):
        ao.quantize_(copy.deepcopy(wide), dynamic())
    for config in configs:
        model = copy.deepcopy(wide)
        with mlir_fp8.torch.torchao_on_cpu():
            ao.quantize_(model, config)
        with torch.no_grad():
            got = torch.compile(model, backend="mlir_fp8")(x)
            assert relative(got.float(), model(x).float()) <= 2**-8
            assert 1e-3 < relative(got.float(), wide(x).float()) < 0.1
    with pytest.raises(AssertionError):  # the check is back
        ao.quantize_(copy.deepcopy(wide), dynamic())


@torchao_needed
def test_export_of_torchao_training_says_the_way_out() -> None:
    from torchao.float8 import convert_to_float8_training

    model = convert_to_float8_training(nn.Sequential(nn.Linear(16, 32)))
    with pytest.raises(mlir_fp8.Fp8Error, match=r"torch.compile\(backend='mlir_fp8'\)"):
        mlir_fp8.torch.export(model, (torch.randn(32, 16),))
