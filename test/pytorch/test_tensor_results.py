"""Torch tensors as results: what is asked for, `out`, casts and other engines."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tensor_programs import bits, double

import mlir_fp8

pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")
import torch  # pyright: ignore[reportMissingImports]


def test_results_are_what_is_asked_for() -> None:
    module = double("2x")
    array, tensor = np.ones(2, np.float32), torch.ones(2)
    assert isinstance(module(array)[0], np.ndarray)
    assert isinstance(module(tensor)[0], torch.Tensor)
    assert isinstance(module(tensor, as_="numpy")[0], np.ndarray)
    assert isinstance(module(array, as_="torch")[0], torch.Tensor)
    with pytest.raises(mlir_fp8.Fp8Error, match="as_ is 'tensor': give one of numpy, torch, jax"):
        module(array, as_="tensor")  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_numpy_arrays_beside_tensors() -> None:
    type_ = "tensor<2xf32>"
    module = mlir_fp8.compile(
        f"func.func @main(%a: {type_}, %b: {type_}, %c: tensor<f32>) -> {type_} {{ "
        f"%0 = stablehlo.add %a, %b : {type_} return %0 : {type_} }}"
    )
    (result,) = module(np.ones(2, np.float32), torch.ones(2), 1.0)
    assert isinstance(result, torch.Tensor) and result.tolist() == [2, 2]


def test_results_are_not_kept_alive_by_their_module() -> None:
    (result,) = double("2x")(torch.ones(2))
    storage = weakref.ref(result)
    del result
    gc.collect()
    assert storage() is None


def test_out_takes_the_results() -> None:
    module, tensor = double("2x3x"), torch.arange(6, dtype=torch.float32).reshape(2, 3)
    wanted = [[0, 2, 4], [6, 8, 10]]
    for out in (torch.zeros(2, 3), torch.zeros(3, 2).t(), torch.zeros(4, 6)[::2, ::2]):
        assert module(tensor, out=[out])[0] is out
        assert out.tolist() == wanted
    array = np.zeros((2, 3), np.float32)
    assert module(tensor, out=array)[0] is array
    assert array.tolist() == wanted
    assert module(tensor, out=tensor)[0] is tensor  # what is read is what was there before
    assert tensor.tolist() == wanted


def test_out_that_overlaps_an_argument_in_part() -> None:
    type_ = "tensor<4xf32>"
    reverse = mlir_fp8.compile(
        f"func.func @main(%a: {type_}) -> {type_} {{ "
        f"%0 = stablehlo.reverse %a, dims = [0] : {type_} return %0 : {type_} }}"
    )
    whole = torch.arange(6, dtype=torch.float32)
    reverse(whole[:4], out=whole[2:])
    assert whole.tolist() == [0, 1, 3, 2, 1, 0]


def test_autograd_hears_of_out() -> None:
    saved = torch.ones(2)
    loss = (saved * torch.ones(2, requires_grad=True)).sum()
    double("2x")(torch.ones(2), out=saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


OUT_REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "count": (list, "out has 0 arrays for 1 results"),
    "type": (lambda: torch.zeros(2, 2, dtype=torch.float64), "out is tensor<2x2xf64>, the results"),
    "shape": (lambda: torch.zeros(2), "out is tensor<2xf32>, the results are tensor<2x2xf32>"),
    "grad": (lambda: torch.zeros(2, 2, requires_grad=True), "out requires gradients"),
    "expanded": (lambda: torch.zeros(2, 1).expand(2, 2), "out has elements that share memory"),
    "meta": (lambda: torch.zeros(2, 2, device="meta"), "out is on the meta device"),
    "read-only": (lambda: np.broadcast_to(np.float32(0), (2, 2)), "out is read-only"),
    "list": (lambda: [[0, 0]], "out 0 is a list: give a numpy array or a tensor"),
}


@pytest.mark.parametrize("name", OUT_REFUSED)
def test_out_that_is_refused(name: str) -> None:
    make, reason = OUT_REFUSED[name]
    with pytest.raises(mlir_fp8.Fp8Error, match=f"^{reason}"):
        double("2x2x")(torch.ones(2, 2), out=make())


def test_two_results_in_one_memory_are_refused() -> None:
    type_ = "tensor<2xf32>"
    module = mlir_fp8.compile(
        f"func.func @main(%a: {type_}) -> ({type_}, {type_}) {{ return %a, %a : {type_}, {type_} }}"
    )
    whole = torch.zeros(4)
    with pytest.raises(mlir_fp8.Fp8Error, match="out 0 and out 1 share memory"):
        module(torch.ones(2), out=(whole[1:3], whole[:2]))
    module(torch.ones(2), out=(whole[::2], whole[1::2]))
    assert whole.tolist() == [1, 1, 1, 1]
    with pytest.raises(mlir_fp8.Fp8Error, match="out and as_ are both given"):
        module(torch.ones(2), out=(whole[:2], whole[2:]), as_="torch")  # pyright: ignore


def test_casts() -> None:
    tensor = torch.tensor([[0.1, 300.0], [1e6, -2.0]])
    want = tensor.clamp(-448, 448).to(torch.float8_e4m3fn)
    for dtype in (torch.float8_e4m3fn, "f8E4M3FN", ml_dtypes.float8_e4m3fn):
        got = mlir_fp8.cast(tensor, dtype, saturate=True)
        assert (got.dtype, bits(got)) == (want.dtype, bits(want))
    got = mlir_fp8.cast(tensor.t(), torch.float8_e4m3fn, saturate=True)
    assert got.stride() == (1, 2) and bits(got) == bits(want.t())
    assert mlir_fp8.cast(want, torch.float32).tolist() == want.float().tolist()
    out = torch.zeros(2, 2, dtype=torch.float8_e4m3fn)
    assert mlir_fp8.cast(tensor, out.dtype, saturate=True, out=out) is out
    assert bits(out) == bits(want)
    assert mlir_fp8.cast(tensor.numpy(), out.dtype, out=out.zero_(), saturate=True) is out
    assert bits(out) == bits(want)
    array = mlir_fp8.cast(tensor.numpy(), torch.bfloat16)
    assert isinstance(array, np.ndarray) and array.dtype == ml_dtypes.bfloat16
    assert isinstance(mlir_fp8.cast(array, "f32", as_="torch"), torch.Tensor)
    assert isinstance(mlir_fp8.cast(tensor, "bf16", as_="numpy"), np.ndarray)
    packed = mlir_fp8.cast(tensor, torch.float4_e2m1fn_x2)
    assert packed.view(torch.uint8).tolist() == [[0x70], [0xC7]]
    into = torch.zeros(2, 1, dtype=torch.uint8).view(packed.dtype)
    mlir_fp8.cast(tensor, "f4E2M1FN", out=into)
    assert into.view(torch.uint8).tolist() == [[0x70], [0xC7]]


def test_casts_that_are_refused() -> None:
    for array, dtype, reason in (
        (torch.ones(2, device="meta"), "f8E5M2", "array is on the meta device"),
        (torch.ones(2), "f8E3M4", "result is float8_e3m4.*a type that torch has not"),
        (torch.ones(2), torch.complex32, "dtype is torch.complex32, which numpy has no type for"),
        (torch.ones(2, dtype=torch.bool), "f8E5M2", "array is bool: only floats and integers"),
        (torch.ones(3), "f4E2M1FN", "result is float4_e2m1fn.*in pairs only"),
    ):
        with pytest.raises(mlir_fp8.Fp8Error, match=reason):
            mlir_fp8.cast(array, dtype)


def test_other_engines_take_tensors() -> None:
    module = mlir_fp8.load(
        "func.func @main(%a: tensor<?xbf16>) -> tensor<?xbf16> { "
        "%0 = stablehlo.add %a, %a : tensor<?xbf16> return %0 : tensor<?xbf16> }"
    )
    tensor = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    (result,) = mlir_fp8.interpret(module, tensor)
    assert (result.dtype, result.tolist()) == (torch.bfloat16, [3, -4])
    assert isinstance(mlir_fp8.interpret(module, tensor, as_="numpy")[0], np.ndarray)
    verdict = mlir_fp8.compare(module, tensor, judges=("llvm", "interpreter"))
    assert verdict.is_good
    assert 4 in [each.after.amax for each in mlir_fp8.report(module, tensor).values]
    with pytest.raises(mlir_fp8.Fp8Error, match="the judges agree"):
        mlir_fp8.reduce(module, tensor, judges=("llvm", "interpreter"))
