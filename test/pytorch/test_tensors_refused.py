"""Torch tensors with gradients, or whose values are elsewhere: a word, or one line."""

from collections.abc import Callable
from typing import Any

import pytest
from tensor_programs import double

import mlir_fp8

pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")
import torch  # pyright: ignore[reportMissingImports]


def test_gradients_end_with_a_word() -> None:
    tensor = torch.ones(2, requires_grad=True)
    with pytest.warns(mlir_fp8.DetachedWarning, match="argument 0 requires gradients") as caught:
        (result,) = double("2x")(tensor)
    assert caught[0].filename == __file__
    assert (result.tolist(), result.requires_grad) == ([2, 2], False)
    with pytest.warns(mlir_fp8.DetachedWarning, match="array requires gradients") as caught:
        mlir_fp8.cast(tensor, torch.float8_e5m2)
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("error")
def test_no_word_where_gradients_are_off_anyway() -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    for context in (torch.no_grad(), torch.inference_mode()):
        with context:
            assert double("2x")(parameter)[0].tolist() == [2, 2]
    with pytest.raises(mlir_fp8.DetachedWarning):
        double("2x")(parameter)
    with pytest.raises(mlir_fp8.DetachedWarning):
        mlir_fp8.cast(parameter, "f8E5M2")


def test_tangents_end_with_a_word() -> None:
    import torch.autograd.forward_ad as forward  # pyright: ignore[reportMissingImports]

    with forward.dual_level():
        dual = forward.make_dual(torch.ones(2), torch.ones(2))
        with pytest.warns(mlir_fp8.DetachedWarning, match="has a tangent"):
            assert double("2x")(dual)[0].tolist() == [2, 2]


class Plain(torch.Tensor):
    """With methods, and no memory but its own."""

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> Any:
        raise AssertionError("of no concern here")


def test_subclasses_of_plain_memory_are_taken() -> None:
    tensor = torch.ones(2).as_subclass(Plain)
    (result,) = double("2x")(tensor)
    assert (type(result), result.tolist()) == (torch.Tensor, [2, 2])


class Wrapper(torch.Tensor):
    """Values elsewhere, as quantized and distributed tensors have them."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    @classmethod
    def __torch_dispatch__(cls, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def _without_memory() -> torch.Tensor:
    tensor = torch.ones(2)
    tensor.untyped_storage().resize_(4)
    return tensor


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "meta": (lambda: torch.ones(2, device="meta"), "is on the meta device, without values"),
    "sparse": (lambda: torch.ones(2).to_sparse(), "is of layout torch.sparse_coo: .*to_dense"),
    "csr": (lambda: torch.ones(2, 2).to_sparse_csr(), "is of layout torch.sparse_csr"),
    "nested": (
        lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]),
        "is nested",
    ),
    "quantized": (
        lambda: torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.qint8),
        "is quantized .torch.qint8.: give tensor.dequantize",
    ),
    "wrapper": (lambda: Wrapper(torch.ones(2)), "is a Wrapper, which wraps others"),
    "complex32": (lambda: torch.zeros(2, dtype=torch.complex32), "is of torch.complex32"),
    "bits8": (lambda: torch.zeros(2, dtype=torch.uint8).view(torch.bits8), "is of torch.bits8"),
    "freed": (_without_memory, "has no memory"),
    "type": (lambda: torch.ones(2, dtype=torch.float64), "is tensor<2xf64>, declared"),
    "shape": (lambda: torch.ones(3), "is tensor<3xf32>, declared tensor<2xf32>"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_one_line(name: str) -> None:
    make, reason = REFUSED[name]
    with pytest.raises(mlir_fp8.Fp8Error, match=f"^argument 0 {reason}") as caught:
        double("2x")(make())
    assert "\n" not in str(caught.value)


def test_fake_tensors_are_refused() -> None:
    from torch._subclasses.fake_tensor import (  # pyright: ignore[reportMissingImports]
        FakeTensorMode,
    )

    with FakeTensorMode():
        fake = torch.ones(2)
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 0 is a FakeTensor, which wraps"):
        double("2x")(fake)


def test_traced_by_vmap() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"argument 0 is traced by torch.func"):
        torch.func.vmap(lambda x: double("2x")(x)[0])(torch.ones(3, 2))


def test_another_device_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "device", torch.device("cuda:1"))
    reason = r"argument 0 is on cuda:1, this runs on the CPU: give tensor.cpu\(\)"
    with pytest.raises(mlir_fp8.Fp8Error, match=reason):
        double("2x")(torch.ones(2))
