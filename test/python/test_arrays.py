"""Element types and dtypes, and float8 arrays in files."""

import io
from pathlib import Path

import numpy as np
import pytest

from mlir_fp8 import Fp8Error
from mlir_fp8.arrays.tensor_specs import (
    TensorSpec,
    adapt,
    element_dtype,
    readable,
    restored,
    spell,
    stored,
)
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS

ELEMENTS = [
    *FORMATS,
    *("i1", "i2", "i4", "i8", "i16", "i32", "i64"),
    *("ui2", "ui4", "ui8", "ui16", "ui32", "ui64"),
    *("complex<f32>", "complex<f64>"),
]


@pytest.mark.parametrize("element", ELEMENTS)
def test_spelling(element: str) -> None:
    assert spell(np.zeros((2, 3), element_dtype(element))) == f"tensor<2x3x{element}>"
    assert spell(np.zeros((), element_dtype(element))) == f"tensor<{element}>"
    assert str(TensorSpec((0, 4), element)) == f"tensor<0x4x{element}>"


def test_spelling_of_what_mlir_has_no_type_for() -> None:
    assert spell(np.zeros(2, ">f4")) == ">f4[2]"
    assert spell(np.zeros((), object)) == "object[]"


@pytest.mark.parametrize("element", ["i3", "index", "!quant.uniform<i8:f32, 1.0>", "f80"])
def test_no_dtype(element: str) -> None:
    with pytest.raises(Fp8Error, match=r"^element type .* has no numpy dtype"):
        element_dtype(element)


@pytest.mark.parametrize("element", ELEMENTS)
def test_through_an_npz(tmp_path: Path, element: str) -> None:
    dtype = element_dtype(element)
    array = (np.arange(6) % 2).astype(np.int8).astype(dtype).reshape(2, 3)
    key, kept = stored("res0", array)
    np.savez(tmp_path / "file.npz", allow_pickle=False, **{key: kept, "plain": np.zeros(1)})
    (name, back), plain = restored(np.load(tmp_path / "file.npz"))
    assert name == "res0"
    assert (back.dtype, back.shape, back.tobytes()) == (dtype, (2, 3), array.tobytes())
    assert plain[0] == "plain"


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_every_code_through_an_npz(tmp_path: Path, name: str) -> None:
    fmt = SMALL_FLOATS[name]
    codes = np.arange(1 << fmt.bits, dtype=np.uint8)
    key, kept = stored("arg3", codes.view(fmt.dtype))
    packed = {4: "x2", 6: "x4"}.get(fmt.bits, "")
    assert key == f"arg3@{name}{packed}"
    assert kept.nbytes == len(codes) * fmt.bits // 8
    np.savez(tmp_path / "file.npz", allow_pickle=False, **{key: kept})
    ((_, back),) = restored(np.load(tmp_path / "file.npz"))
    assert back.view(np.uint8).tobytes() == codes.tobytes()


@pytest.mark.parametrize("name", [*SMALL_FLOATS, "bf16"])
def test_codes_from_an_npy(tmp_path: Path, name: str) -> None:
    """As np.save leaves them, without their type, and as unsigned integers."""
    fmt = FORMATS[name]
    spec = TensorSpec((3,), name)
    array = np.array([1.0, 2.0, 4.0], fmt.dtype)
    np.save(tmp_path / "bare.npy", array)
    codes = array.view(f"uint{fmt.storage_bits}")
    bare = np.load(io.BytesIO(readable((tmp_path / "bare.npy").read_bytes())))
    for found in (bare, codes, array):
        adapted = adapt("argument 0", found, spec)
        assert adapted.dtype == fmt.dtype
        assert adapted.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("array", "spec", "message"),
    [
        (np.zeros(3, np.int8), TensorSpec((3,), "f8E5M2"), "it is tensor<3xi8>, declared"),
        (np.zeros(3, "V2"), TensorSpec((3,), "f8E5M2"), r"it is \|V2\[3\], declared"),
        (np.zeros(3, "V1"), TensorSpec((3,), "i8"), r"it is \|V1\[3\], declared tensor<3xi8>"),
        (np.zeros(3, np.uint16), TensorSpec((3,), "f16"), "it is tensor<3xui16>, declared"),
        (np.zeros(3, np.uint8), TensorSpec((4,), "f8E5M2"), "it is tensor<3xf8E5M2>, declared"),
        (np.zeros(3, ">f4"), TensorSpec((3,), "f32"), r"it is >f4\[3\], declared tensor<3xf32>"),
        (np.full(3, 64, np.uint8), TensorSpec((3,), "f6E2M3FN"), "it holds 0x40, which is no code"),
    ],
)
def test_not_what_is_declared(array: np.ndarray, spec: TensorSpec, message: str) -> None:
    with pytest.raises(Fp8Error, match=f"^{message}"):
        adapt("it", array, spec)


@pytest.mark.parametrize(
    ("key", "array", "message"),
    [
        ("arg0@f9", np.zeros(1, np.uint8), "no type that files hold as codes is named f9"),
        ("arg0@", np.zeros(1, np.uint8), "no type that files hold as codes is named $"),
        ("arg0@bf16", np.zeros(1, np.uint8), "holds uint8, not uint16"),
        ("arg0@f8E5M2", np.zeros(1, np.int8), "holds int8, not uint8"),
        ("arg0@i4", np.full(1, 0xF8, np.uint8), "holds 0xf8, which is no code of i4"),
        ("arg0@f4E2M1FN", np.full(1, 16, np.uint8), "holds 0x10, which is no code of f4E2M1FN"),
    ],
)
def test_bad_keys(key: str, array: np.ndarray, message: str) -> None:
    with pytest.raises(Fp8Error, match=f"^key '{key}'.*{message}"):
        list(restored({key: array}))
