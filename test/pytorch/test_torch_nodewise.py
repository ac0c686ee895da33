"""Programs decomposed op by op: what a trace of the whole gives, or left to one."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")

import torch
from torch_programs import Of, agree

import mlir_fp8.torch
from mlir_fp8.torch import decompositions
from mlir_fp8.torch.decompositions import decompose, decompositions_now
from mlir_fp8.torch.graphs import prepare
from mlir_fp8.torch.importing import stablehlo_of
from mlir_fp8.torch.nodewise import decompose_nodes
from mlir_fp8.torch.program import Program, program_of

F = torch.nn.functional
X = torch.arange(24.0).reshape(2, 3, 4)
SAME: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "composites": (lambda x: F.gelu(x.reshape(6, 4) @ x[0].T).to(torch.bfloat16).sum(), (X,)),
    "several results": (lambda x: [y * 2 for y in x.split(2, 2)] + list(x.max(1)), (X,)),
    "the same twice": (lambda x, y: (torch.fmod(x, x + 1), torch.fmod(x, y + 1)), (X, X + 2)),
    "numbers that are equal": (lambda x: (x.fmod(1), x.fmod(1.0), x.fmod(True)), (X,)),
    "nothing left": (lambda x: x.to(torch.float32).contiguous(), (X,)),
    "attention": (lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), (X,)),
    "a norm": (lambda x: F.layer_norm(x, (4,)), (X,)),
    "made inside": (lambda x: x.new_ones(3, 4) + torch.arange(4) + x.diff(dim=1).mean(), (X,)),
}


def _exported(function: Callable[..., Any], *args: Any) -> torch.export.ExportedProgram:
    return torch.export.export(Of(function), args)


def _text(program: Program) -> str:
    prepare(program)
    return stablehlo_of(program.graph).operation.get_asm(enable_debug_info=True)


@pytest.mark.parametrize("name", SAME)
def test_it_is_what_a_whole_trace_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, args = SAME[name]
    made = decompose_nodes(program_of(_exported(function, *args)), decompositions_now())
    assert made is not None
    monkeypatch.setattr(decompositions, "decompose_nodes", lambda *_: None)
    assert _text(made) == _text(decompose(_exported(function, *args)))


def test_what_writes_is_left_to_a_whole_trace() -> None:
    norms = torch.nn.BatchNorm1d(3).train(), torch.nn.BatchNorm1d(3).eval()
    for model in (*norms, Of(lambda x: x.clone().mul_(2)), Of(lambda x: x.add_(1))):
        program = program_of(torch.export.export(model, (X.clone(),)))
        assert decompose_nodes(program, decompositions_now()) is None


class Stateful(torch.nn.Module):
    """A parameter, a buffer that no state dict holds, a constant; it may write the buffer."""

    def __init__(self, *, writes: bool) -> None:
        super().__init__()
        self.writes = writes
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.register_buffer("hidden", torch.full((3,), 2.0), persistent=False)

    def forward(self, x: Any) -> Any:
        if self.writes:
            self.hidden.add_(1)
        return x * self.weight + self.hidden - torch.tensor([1.0, 2.0, 3.0])


@pytest.mark.parametrize("writes", [False, True])
def test_arguments_are_in_the_order_of_the_program(*, writes: bool) -> None:
    exported = torch.export.export(Stateful(writes=writes), (torch.zeros(3),))
    module = mlir_fp8.torch.export(exported)
    assert module.arguments == program_of(exported).argument_names
    expected = torch.tensor([3.0, 3.0, 3.0]) - torch.tensor([1.0, 2.0, 3.0]) + float(writes)
    assert torch.equal(module(torch.ones(3)), expected)


@pytest.mark.parametrize(
    "norm", [torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.InstanceNorm2d]
)
@pytest.mark.parametrize("affine", [False, True])
def test_norms_of_batches(norm: Any, affine: bool) -> None:
    shape = (3, 4) if norm is torch.nn.BatchNorm1d else (3, 4, 5, 6)
    module = norm(4, affine=affine, track_running_stats=True)
    module(torch.randn(shape))
    x = torch.randn(shape)
    agree(mlir_fp8.torch.export(module.eval(), (x,))(x), module(x), 2e-6)
    trained = norm(4, affine=affine, track_running_stats=True)
    exported = mlir_fp8.torch.export(trained, (x,))
    expected = norm(4, affine=affine, track_running_stats=True)
    expected.load_state_dict(trained.state_dict())
    torch.testing.assert_close(exported(x), expected(x), rtol=2e-5, atol=2e-5)
    torch.testing.assert_close(trained.running_var, expected.running_var)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers(kind: str) -> None:
    layer, x = getattr(torch.nn, kind)(4, 3, batch_first=True).eval(), torch.randn(2, 5, 4)
    agree(mlir_fp8.torch.export(layer, (x,))(x), layer(x), 2e-6)
