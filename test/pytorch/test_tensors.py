"""Torch tensors as arguments and results: same memory, exact values."""

import ml_dtypes
import numpy as np
import pytest
from tensor_programs import bits, double, identity, tensor_of

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
