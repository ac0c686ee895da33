"""Torch tensors as arguments and results: same memory, exact values, or one line."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.torch.tensors import to_numpy, to_torch

pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")
import torch  # pyright: ignore[reportMissingImports]

ELEMENTS = {
    "bool": "i1",
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"ui{bits}" for bits in (8, 16, 32, 64)},
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
}
SHORT = {"int4": ("i4", [-8, 7, -1, 0]), "uint4": ("ui4", [0, 15, 8, 7]),
         "int2": ("i2", [-2, 1, -1, 0]), "uint2": ("ui2", [0, 3, 2, 1])}  # fmt: skip
F4 = np.dtype(ml_dtypes.float4_e2m1fn)


def identity(shape: str, element: str) -> mlir_fp8.CompiledModule:
    type_ = f"tensor<{shape}{element}>"
    return mlir_fp8.compile(f"func.func @main(%a: {type_}) -> {type_} {{ return %a : {type_} }}")


def double(shape: str) -> mlir_fp8.CompiledModule:
    type_ = f"tensor<{shape}f32>"
    return mlir_fp8.compile(
        f"func.func @main(%a: {type_}) -> {type_} {{ %0 = stablehlo.add %a, %a : {type_} "
        f"return %0 : {type_} }}"
    )


def tensor_of(name: str, shape: tuple[int, ...]) -> torch.Tensor:
    """Elements whose bytes are 1, 0, 1, 0, ...: a value of every type."""
    dtype = getattr(torch, name)
    count = int(np.prod(shape)) * dtype.itemsize
    return (1 - torch.arange(count) % 2).to(torch.uint8).view(dtype).reshape(shape)


def bits(tensor: torch.Tensor) -> bytes:
    if not tensor.numel():
        return b""
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("name", "element"), ELEMENTS.items())
def test_types_there_and_back_in_one_memory(name: str, element: str) -> None:
    tensor = tensor_of(name, (4, 6))
    array = to_numpy(tensor)
    assert array.ctypes.data == tensor.data_ptr()
    back = to_torch(array)
    assert (back.data_ptr(), back.dtype, back.shape) == (tensor.data_ptr(), tensor.dtype, (4, 6))
    (result,) = identity("4x6x", element)(tensor)
    assert (type(result), result.dtype) == (torch.Tensor, tensor.dtype)
    assert bits(result) == bits(tensor)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e4m3fn", "bool", "complex64"])
def test_strides_are_kept(name: str) -> None:
    whole = tensor_of(name, (5, 6))
    for tensor in (whole.t(), whole[::2, 1::3], whole[1], whole[:, :1].expand(5, 3), whole[2, 3]):
        array = to_numpy(tensor)
        assert array.ctypes.data == tensor.data_ptr()
        assert array.shape == tuple(tensor.shape)
        assert array.strides == tuple(step * tensor.itemsize for step in tensor.stride())
        assert bits(to_torch(array)) == bits(tensor)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e5m2", "int64"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_without_dimensions_and_without_elements(name: str, shape: tuple[int, ...]) -> None:
    tensor = tensor_of(name, shape) if shape else tensor_of(name, (1,)).reshape(())
    array = to_numpy(tensor)
    assert array.shape == shape
    sizes = "".join(f"{size}x" for size in shape)
    (result,) = identity(sizes, ELEMENTS[name])(tensor)
    assert (result.shape, result.dtype, bits(result)) == (shape, tensor.dtype, bits(tensor))


def test_a_tensor_that_is_not_contiguous_is_an_argument() -> None:
    tensor = torch.arange(6, dtype=torch.float32).reshape(3, 2).t()
    (result,) = double("2x3x")(tensor)
    assert result.tolist() == [[0, 4, 8], [2, 6, 10]]


@pytest.mark.parametrize(("name", "element", "numbers"), [(k, *v) for k, v in SHORT.items()])
def test_short_integers_hold_a_number_per_byte(name: str, element: str, numbers: list[int]) -> None:
    bytes_ = torch.uint8 if name.startswith("u") else torch.int8
    tensor = torch.tensor(numbers, dtype=bytes_).view(getattr(torch, name))
    assert to_numpy(tensor).astype(int).tolist() == numbers
    (result,) = identity("4x", element)(tensor)
    assert result.dtype == tensor.dtype
    assert result.view(bytes_).tolist() == numbers
    beyond = torch.tensor([16], dtype=torch.uint8).view(getattr(torch, name))
    with pytest.raises(mlir_fp8.Fp8Error, match=f"tensor holds 16, which is no {element}"):
        to_numpy(beyond)


def test_f4_comes_in_pairs_the_first_one_low() -> None:
    pairs = torch.tensor([[0x21, 0x43], [0xF7, 0x08]], dtype=torch.uint8)
    tensor = pairs.view(torch.float4_e2m1fn_x2)
    # Codes 1, 2, 3, ... are 0.5, 1, 1.5, 2, 3, 4, 6; 8 has the sign.
    assert to_numpy(tensor).astype(float).tolist() == [[0.5, 1, 1.5, 2], [6, -6, -0.0, 0]]
    module = identity("2x4x", "f4E2M1FN")
    (result,) = module(tensor)
    assert result.dtype == tensor.dtype
    assert result.view(torch.uint8).tolist() == pairs.tolist()
    out = torch.zeros(2, 2, dtype=torch.uint8).view(tensor.dtype)
    assert module(tensor, out=out)[0] is out
    assert out.view(torch.uint8).tolist() == pairs.tolist()
    text = "func.func @main(%a: tensor<?x?xf4E2M1FN>) -> tensor<?x?xf4E2M1FN> " \
           "{ return %a : tensor<?x?xf4E2M1FN> }"  # fmt: skip
    assert mlir_fp8.compile(text, shapes=[tensor]).arguments[0].shape == (2, 4)


def test_f4_of_an_odd_size_is_named_before_the_run() -> None:
    array = np.zeros((2, 3), F4)
    reason = r"result 0 is float4_e2m1fn\[2, 3\]: torch has f4 in pairs only.*as_='numpy'"
    with pytest.raises(mlir_fp8.Fp8Error, match=reason):
        identity("2x3x", "f4E2M1FN")(array, as_="torch")


@pytest.mark.parametrize("element", ["f8E3M4", "f8E4M3", "f8E4M3B11FNUZ", "f6E2M3FN"])
def test_types_that_torch_has_not(element: str) -> None:
    module = mlir_fp8.compile(
        f"func.func @main(%a: tensor<2xf32>) -> tensor<2x{element}> {{ "
        f"%0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2x{element}> "
        f"return %0 : tensor<2x{element}> }}"
    )
    with pytest.raises(mlir_fp8.Fp8Error, match=r"result 0 is .*\[2\], a type that torch has not"):
        module(torch.ones(2))
    (result,) = module(torch.ones(2), as_="numpy")
    assert result.astype(float).tolist() == [1, 1]


def test_conjugate_and_negative_bits() -> None:
    tensor = torch.tensor([1 + 2j, -3j])
    module = identity("2x", "complex<f32>")
    assert module(tensor.conj())[0].tolist() == [1 - 2j, 3j]
    assert tensor.conj().is_conj()
    assert identity("2x", "f32")(tensor.conj().imag)[0].tolist() == [-2, 3]
    assert tensor.conj().imag.is_neg()
    for out in (tensor.conj(), tensor.conj().imag):
        element = "complex<f32>" if out.is_complex() else "f32"
        with pytest.raises(mlir_fp8.Fp8Error, match="out is a view with other values"):
            identity("2x", element)(out.clone(), out=out)


def test_zero_tensors_have_no_memory() -> None:
    zeros = torch._efficientzerotensor((3,))
    assert double("3x")(zeros)[0].tolist() == [0, 0, 0]


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


def test_arrays_that_torch_cannot_share_are_copied() -> None:
    array = np.arange(6, dtype=np.float32)
    array.flags.writeable = False
    for each in (array, array[::-1], np.arange(6.0)[::-2], np.zeros(9, np.uint8)[1:].view("f8")):
        tensor = to_torch(each)
        assert tensor.tolist() == each.tolist()
        tensor += 1
    assert array.tolist() == [0, 1, 2, 3, 4, 5]
    pairs = np.zeros(3, [("a", np.float32), ("b", np.int8)])["a"]
    assert to_torch(pairs).tolist() == [0, 0, 0]
