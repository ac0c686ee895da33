"""`torch.compile(..., backend="mlir_fp8")`: eager's results, whatever TorchDynamo gives."""

import copy
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")

import torch
from torch import nn
from torch.utils import _pytree as pytree

import mlir_fp8
import mlir_fp8.torch
from mlir_fp8.torch.dynamo import backend as backend_module


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every native graph that is made in the test."""
    graphs: list[Any] = []
    build = backend_module._build

    def recorded(*args: Any) -> Any:
        graphs.append(build(*args))
        return graphs[-1]

    monkeypatch.setattr(backend_module, "_build", recorded)
    return graphs


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return torch.compile(function, backend="mlir_fp8", fullgraph=True, **options)


def distance(got: Any, expected: Any) -> float:
    """The largest relative L2 of the tensors, whose sizes, strides and dtypes must agree."""
    got, expected = pytree.tree_leaves(got), pytree.tree_leaves(expected)
    assert len(got) == len(expected)
    worst = 0.0
    for one, other in zip(got, expected, strict=True):
        if not isinstance(other, torch.Tensor):
            assert one == other
            continue
        assert (one.shape, one.stride(), one.dtype) == (other.shape, other.stride(), other.dtype)
        wide = torch.complex128 if other.is_complex() else torch.float64
        one, other = one.detach().to(wide), other.detach().to(wide)
        difference, size = (one - other).norm().item(), other.norm().item()
        worst = max(worst, difference / size if size else difference)
    return worst


def same(function: Callable[..., Any], *args: Any) -> None:
    """Eager's results, and what it writes in place."""
    own = pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, args)
    kept = [(x.shape, x.stride()) for x in pytree.tree_leaves(args) if isinstance(x, torch.Tensor)]
    got = compiled(function)(*args)
    assert distance(got, function(*_with_strides(own, kept))) <= 1e-6


def _with_strides(args: Any, kept: Any) -> Any:
    layouts = iter(kept)
    return pytree.tree_map(
        lambda x: x if not isinstance(x, torch.Tensor) else _laid_out(x, *next(layouts)), args
    )


def _laid_out(x: torch.Tensor, shape: Any, stride: Any) -> torch.Tensor:
    if 0 in stride:
        return x
    return torch.empty_strided(shape, stride, dtype=x.dtype).copy_(x)


def step(model: nn.Module, forward: Callable[..., Any], *args: torch.Tensor) -> list[Any]:
    """Results, gradients and buffers of one training step with a loss that is not degenerate."""
    torch.manual_seed(3)
    given = [x.clone().requires_grad_(x.is_floating_point()) for x in args]
    model.zero_grad()
    y = forward(*given)
    weights = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).reshape(y.shape)
    (y.sin() * weights).sum().backward()
    gradients = [x.grad for x in (*given, *model.parameters()) if x.grad is not None]
    return [y.detach(), *gradients, *model.buffers()]


def trains(model: nn.Module, *args: torch.Tensor) -> None:
    other = copy.deepcopy(model)
    assert distance(step(model, compiled(model), *args), step(other, other, *args)) <= 1e-6


MODELS: dict[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
    "mlp": lambda: (
        nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)),
        torch.randn(3, 4),
    ),
    "convolution": lambda: (
        nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU()),
        torch.randn(2, 3, 8, 8),
    ),
    "channels last": lambda: (
        nn.Conv2d(3, 8, 3).to(memory_format=torch.channels_last),
        torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last),
    ),
    "pooling": lambda: (
        nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.MaxPool2d(2)),
        torch.randn(2, 3, 8, 8),
    ),
    "transformer layer": lambda: (
        nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, norm_first=True),
        torch.randn(2, 5, 16),
    ),
    "dropout": lambda: (
        nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True),
        torch.randn(2, 5, 16),
    ),
    "embedding": lambda: (
        nn.Sequential(nn.Embedding(10, 8), nn.LayerNorm(8), nn.Linear(8, 10)),
        torch.randint(0, 10, (2, 5)),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_training_steps_are_eagers(name: str) -> None:
    trains(*MODELS[name]())


class Of(nn.Module):
    """A model that is called by a function of it."""

    def __init__(self, inner: nn.Module, function: Callable[..., Any]) -> None:
        super().__init__()
        self.inner = inner
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(self.inner, x)


def test_recomputed_dropout_has_the_mask_of_the_forward_pass() -> None:
    from torch.utils.checkpoint import checkpoint

    inner = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.GELU(), nn.Linear(8, 8))
    trains(Of(inner, lambda f, x: checkpoint(f, x, use_reentrant=False)), torch.randn(4, 8))


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode])
def test_inference(context: Any) -> None:
    model, x = MODELS["mlp"]()
    with context():
        assert distance(compiled(model.eval())(x), model(x)) <= 1e-6


def test_autocast() -> None:
    model, x = MODELS["mlp"]()
    with torch.autocast("cpu", torch.bfloat16):
        got, expected = compiled(model)(x), model(x)
    got.float().sum().backward()
    assert got.dtype == torch.bfloat16
    assert distance(got, expected) <= 2**-7
    assert model[0].weight.grad.dtype == torch.float32


def test_results_of_every_kind() -> None:
    def function(x: Any, n: int) -> Any:
        rest = {"a": x.expand(2, 3, 4), "b": (x * 2).expand(2, 3, 4), "c": torch.zeros(0, 3) + 1}
        return x, x * 2, None, n, x.t(), (x * 3).t(), x[0], x[:, 1:], rest

    x = torch.randn(3, 4)
    got, expected = compiled(function)(x, 5), function(x, 5)
    for one, other in zip(got[:8], expected, strict=False):
        assert distance(one, other) == 0
    assert got[0] is x
    assert got[4].data_ptr() == got[6].data_ptr() == x.data_ptr()
    for name, other in expected[8].items():
        assert torch.equal(got[8][name], other)


def test_results_that_are_not_computed_are_not_copied(made: list[Any]) -> None:
    """Backward's weights are the forward pass's own, and views of them."""
    model = nn.Linear(4, 4)
    compiled(model)(torch.randn(2, 4, requires_grad=True)).sum().backward()
    forward, _ = made
    assert len(forward._made) == 1  # of the results, what is kept for backward is not computed


@pytest.mark.parametrize(
    "function",
    [lambda x: x.clone(), lambda x: torch.tensor([1.0, 2.0]), lambda x: x.flip(0).flip(0)],
)
def test_copies_and_constants_are_the_callers_own(function: Callable[..., Any]) -> None:
    x = torch.tensor([1.0, 2.0])
    ours = compiled(function)
    for _ in range(2):
        result = ours(x)
        assert result.tolist() == [1, 2]
        result.add_(100)
    assert x.tolist() == [1, 2]


def test_no_results_and_writes_in_place() -> None:
    def count(x: Any) -> None:
        x.add_(1)

    x = torch.zeros(3)
    assert compiled(count)(x) is None
    assert x.tolist() == [1, 1, 1]

    def views(x: Any) -> Any:
        x[1:].mul_(2)
        y = x.view(-1)
        y.add_(1)
        return y

    x = torch.randn(3, 4)
    other = x.clone()
    got = compiled(views)(x)
    assert torch.equal(got, views(other))
    assert torch.equal(x, other)
    assert got.data_ptr() == x.data_ptr()


@pytest.mark.parametrize(
    "x",
    [
        torch.arange(24.0).reshape(4, 6).t(),
        torch.arange(64.0).reshape(8, 8)[::2, 1::2],
        torch.arange(3.0).reshape(3, 1).expand(3, 4),
        torch.arange(8.0).reshape(1, 2, 1, 4).permute(3, 0, 1, 2),
        torch.zeros(0, 3),
        torch.tensor(2.0),
    ],
    ids=lambda x: f"{tuple(x.shape)}{x.stride()}",
)
def test_arguments_of_any_layout(x: torch.Tensor) -> None:
    got = compiled(lambda x: (x * 2 + 1, x.sum()))(x)
    assert distance(got[0].contiguous(), (x * 2 + 1).contiguous()) == 0
    assert distance(got[1], x.sum()) <= 1e-6


def test_arguments_in_odd_places() -> None:
    octets = torch.zeros(17, dtype=torch.uint8)
    x = torch.frombuffer(bytearray(octets.tolist()), dtype=torch.float32, count=4, offset=1)
    x.copy_(torch.arange(4.0))
    assert compiled(lambda x: x + 1)(x).tolist() == [1, 2, 3, 4]


def test_complex_views_of_other_values() -> None:
    z = torch.randn(3, dtype=torch.complex64)
    for x in (z, z.conj()):
        same(lambda x: (x.abs(), -x), x)
    got = compiled(lambda x: x + 1)(z.conj().imag)
    assert torch.equal(got, z.conj().imag + 1)


def test_booleans_of_other_bytes_are_refused() -> None:
    mask = torch.tensor([0, 2, 1], dtype=torch.uint8).view(torch.bool)
    with pytest.raises(mlir_fp8.Fp8Error, match="other bytes than 0 and 1"):
        compiled(lambda m: ~m)(mask)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64, torch.int8])
def test_types(dtype: torch.dtype) -> None:
    same(lambda x: x * 2 + x, torch.arange(-8, 8).to(dtype))


def test_float8() -> None:
    x = torch.randn(40)
    got = compiled(lambda x: x.to(torch.float8_e4m3fn))(x)
    assert torch.equal(got.view(torch.uint8), x.to(torch.float8_e4m3fn).view(torch.uint8))


def test_constants_and_numbers() -> None:
    held = torch.randn(3)
    same(lambda x: x + torch.tensor([1.0, 2.0, 3.0]) + held + torch.arange(3), torch.ones(3))
    function = compiled(lambda x, s: x * s + 1)
    for number in (1, 2, 3, 4, 1.5, 2.5):
        assert torch.equal(function(torch.ones(2), number), torch.ones(2) * number + 1)


def test_sizes_are_compiled_as_they_come(made: list[Any]) -> None:
    model, _ = MODELS["mlp"]()
    function = compiled(model)
    for rows in (3, 5, 7, 3, 5):
        x = torch.randn(rows, 4)
        assert distance(step(model, function, x), step(model, model, x)) <= 1e-6
    assert len(made) == 8  # forward and backward of 3, then of open sizes at 5, 7 and 3
    static = compiled(lambda x: x * 2, dynamic=False)
    assert [static(torch.ones(n)).sum().item() for n in (2, 3)] == [4, 6]


def test_graph_breaks() -> None:
    def function(x: Any) -> Any:
        y = x * 2
        torch._dynamo.graph_break()
        return y + y.sum()

    x = torch.randn(3)
    assert distance(torch.compile(function, backend="mlir_fp8")(x), function(x)) <= 1e-6


def test_control_flow_and_transforms() -> None:
    def branch(x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))

    for x in (torch.ones(3), -torch.ones(3)):
        same(branch, x)
    x = torch.ones(3, requires_grad=True)
    compiled(branch)(x).sum().backward()
    assert torch.allclose(x.grad, torch.ones(3).cos())
    same(lambda x: torch.func.vmap(lambda x: x.sin() @ x)(x), torch.randn(3, 4))
    same(lambda x: torch.func.grad(lambda x: x.sin().sum())(x), torch.randn(3))


def test_an_optimizer_in_the_compiled_function() -> None:
    x, model = torch.randn(8, 4), nn.Linear(4, 2)
    other = copy.deepcopy(model)

    def train(model: nn.Module, optimizer: torch.optim.Optimizer) -> Any:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    ours = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    eagers = torch.optim.SGD(other.parameters(), lr=0.1, momentum=0.9)
    function = torch.compile(train, backend="mlir_fp8")
    for _ in range(3):
        assert distance(function(model, ours), train(other, eagers)) <= 1e-6
    assert distance(model.weight, other.weight) <= 1e-6
    adam = torch.optim.AdamW(model.parameters(), lr=0.1)
    torch.compile(adam.step, backend="mlir_fp8")()
    torch.optim.AdamW(other.parameters(), lr=0.1).step()
    assert distance(model.weight, other.weight) <= 1e-5  # PyTorch's own, of other formulas


def test_random_numbers_are_pytorchs_and_new_in_each_call() -> None:
    def function(x: Any) -> Any:
        y = torch.rand(4) + torch.randn_like(x) + torch.randint(0, 10, (4,)) + torch.randperm(4)
        y = y + torch.empty(4).uniform_(2, 3) + torch.normal(x, 1.0)
        return y + nn.functional.dropout(x, 0.5)

    x, ours = torch.randn(4), compiled(function)
    torch.manual_seed(7)
    got = [ours(x), ours(x)]
    torch.manual_seed(7)
    assert distance(got, [function(x), function(x)]) <= 1e-6
    assert not torch.equal(*got)


def test_random_numbers_by_a_tensor_of_chances() -> None:
    """They have the distribution; which are drawn is not eager's choice."""
    chances = torch.linspace(0, 1, 5).repeat(2000, 1)
    drawn = compiled(torch.bernoulli)(chances)
    assert set(drawn.unique().tolist()) == {0.0, 1.0}
    assert torch.allclose(drawn.mean(0), chances[0], atol=0.05)


def test_threads() -> None:
    function, x = compiled(lambda x: (x @ x).sum()), torch.randn(32, 32)
    expected = function(x).item()
    got: list[float] = []
    threads = [
        threading.Thread(target=lambda: got.extend(function(x).item() for _ in range(50)))
        for _ in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert got == [expected] * 200


def test_forks_and_copies() -> None:
    model, x = MODELS["mlp"]()
    function = compiled(model)
    expected = function(x)
    assert torch.equal(copy.deepcopy(function)(x), expected)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # which must not return into pytest
        os.write(writing, b"1" if torch.equal(function(x), expected) else b"0")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 1) == b"1"


def test_double_backward_is_refused() -> None:
    x = torch.randn(2, 3, requires_grad=True)
    y = compiled(nn.Linear(3, 1))(x).sin().sum()
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    with pytest.raises(RuntimeError, match="does not currently support double backward"):
        gradient.sum().backward()


def refused(function: Callable[..., Any], *args: Any, **options: Any) -> str:
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as raised:
        compiled(function, **options)(*args)
    error = raised.value.inner_exception
    assert isinstance(error, mlir_fp8.Fp8Error)
    assert not isinstance(error, mlir_fp8.InternalError)
    assert "\n" not in str(error)
    return str(error)


def test_refusals_name_the_op_and_the_line(capfd: pytest.CaptureFixture[str]) -> None:
    told = refused(lambda x: torch.linalg.eig(x)[0], torch.ones(2, 2))
    assert "test_torch_compile.py:" in told
    assert "'aten.linalg_eig' has no lowering" in told
    told = refused(lambda x: torch.multinomial(x, 2, True), torch.ones(3))
    assert "'aten.multinomial' draws random numbers" in told
    assert capfd.readouterr().err == ""


def test_places_are_drawn_as_eager_draws_them() -> None:
    weights = torch.tensor([[0.1, 0.0, 0.6, 0.3], [5.0, 1.0, 2.0, 3.0]])

    def draws(w: Any) -> Any:
        return torch.multinomial(w, 1, True), torch.multinomial(w, 3)

    function = compiled(draws)
    torch.manual_seed(3)
    expected = [draws(weights) for _ in range(4)]
    torch.manual_seed(3)
    for once in expected:
        assert all(map(torch.equal, function(weights), once))


def test_what_only_backward_cannot_is_refused_there() -> None:
    x = torch.rand(3, 3, requires_grad=True)
    result = compiled(torch.pdist)(x)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'aten\._pdist_backward' has no lowering"):
        result.sum().backward()


def test_devices_are_refused_by_name() -> None:
    told = refused(lambda x: x + 1, torch.empty(3, device="meta"))
    assert told.startswith("L['x'] is on meta, the backend mlir_fp8 runs on the CPU")
    told = refused(lambda x: x.sum() + torch.ones(3, device="meta").sum().cpu(), torch.ones(3))
    assert "'aten." in told
    assert "is on meta" in told


def test_fallback_is_pytorchs_own_with_a_warning() -> None:
    function = compiled(lambda x: torch.linalg.eig(x)[0].real * 2, options={"fallback": True})
    with pytest.warns(UserWarning, match=r"'aten\.linalg_eig' .*PyTorch runs the graph"):
        got = function(torch.eye(2))
    assert torch.allclose(got, torch.full((2,), 2.0))


def test_unknown_options_are_refused() -> None:
    told = refused(lambda x: x + 1, torch.ones(1), options={"quantise": "current"})
    assert told.startswith("the backend mlir_fp8 has no option 'quantise': there are quantize, ")
    assert "skip_batched" in told
    assert "opt_level" in told
    told = refused(lambda x: x + 1, torch.ones(1), options={"min_size": 4})
    assert told == "'min_size' says what to quantize: give a recipe, quantize="
    told = refused(lambda x: x + 1, torch.ones(1), mode="max-autotune")
    assert told == "mode is 'max-autotune': the backend mlir_fp8 has options, and no modes"


def test_options_of_compile_are_taken() -> None:
    x = torch.tensor([1e6])
    saturating = compiled(lambda x: x.to(torch.float8_e5m2), options={"saturate": True})
    assert saturating(x).float().item() == 57344


def test_the_backend_is_found_by_name_and_as_a_function() -> None:
    code = (
        "import sys, torch; f = torch.compile(lambda x: x + 1, backend='mlir_fp8');"
        "assert f(torch.ones(1)).item() == 2"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    function = torch.compile(lambda x: x + 1, backend=mlir_fp8.torch.backend)
    assert function(torch.ones(1)).item() == 2
