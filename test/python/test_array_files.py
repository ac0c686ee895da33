"""Arrays in files: `load_arrays` and `save_arrays`, safetensors judged by the package itself."""

import json
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.dialects.float_formats import FORMATS

safetensors: Any = pytest.importorskip("safetensors", reason="pip install 'mlir-fp8[torch]'")

TYPES = {
    "BOOL": "i1",
    "U8": "ui8",
    "I8": "i8",
    "F8_E5M2": "f8E5M2",
    "F8_E4M3": "f8E4M3FN",
    "F8_E8M0": "f8E8M0FNU",
    "F8_E4M3FNUZ": "f8E4M3FNUZ",
    "F8_E5M2FNUZ": "f8E5M2FNUZ",
    "I16": "i16",
    "U16": "ui16",
    "F16": "f16",
    "BF16": "bf16",
    "I32": "i32",
    "U32": "ui32",
    "F32": "f32",
    "C64": "complex<f32>",
    "F64": "f64",
    "I64": "i64",
    "U64": "ui64",
}
CODED = ("i4", "ui4", "i2", "ui2", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3B11FNUZ")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def raw(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def one(dtype: str, shape: list[int], size: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}


def array_of(element: str, shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    """The codes 1, 0, 1, 0, ..."""
    dtype = element_dtype(element)
    count = int(np.prod(shape)) * dtype.itemsize
    return (1 - np.arange(count, dtype=np.uint8) % 2).view(dtype).reshape(shape)


def same(got: np.ndarray, want: np.ndarray) -> bool:
    is_alike = got.dtype == want.dtype and got.shape == want.shape
    return is_alike and got.tobytes() == want.tobytes()


@pytest.mark.parametrize(("name", "element"), TYPES.items())
def test_every_type_is_read(folder: Path, name: str, element: str) -> None:
    array = array_of(element)
    (folder / "x.safetensors").write_bytes(
        raw({"x": one(name, [2, 3], array.nbytes)}, array.tobytes())
    )
    (got,) = mlir_fp8.load_arrays("x.safetensors").values()
    assert same(got, array)


@pytest.mark.parametrize(("name", "element"), TYPES.items())
def test_every_type_is_written(folder: Path, name: str, element: str) -> None:
    array = array_of(element)
    mlir_fp8.save_arrays("x.safetensors", {"x": array})
    data = (folder / "x.safetensors").read_bytes()
    assert json.loads(data[8 : 8 + data[0]]) == {"x": one(name, [2, 3], array.nbytes)}
    assert data.endswith(array.tobytes())


@pytest.mark.parametrize("element", CODED)
def test_types_that_the_format_lacks_are_codes(folder: Path, element: str) -> None:
    array = array_of(element, (3,))
    mlir_fp8.save_arrays("x.safetensors", {"x": array})
    with safetensors.safe_open("x.safetensors", framework="np") as file:
        assert list(file.keys()) == [f"x@{element}"]
        assert file.get_tensor(f"x@{element}").tolist() == array.view(np.uint8).tolist()
    assert same(mlir_fp8.load_arrays("x.safetensors")["x"], array)


@pytest.mark.parametrize("element", ["f6E2M3FN", "f6E3M2FN", "f4E2M1FN"])
def test_short_floats_lie_in_files_without_gaps(folder: Path, element: str) -> None:
    fmt = FORMATS[element]
    codes = np.stack([np.roll(np.arange(1 << fmt.bits, dtype=np.uint8), i) for i in range(3)])
    array = codes.view(fmt.dtype)
    bits = (codes[..., None] >> np.arange(fmt.bits, dtype=np.uint8)) & 1
    held = np.packbits(bits.reshape(3, -1), axis=-1, bitorder="little")
    mlir_fp8.save_arrays("x.safetensors", {"x": array})
    name = {"f4E2M1FN": "F4", "f6E2M3FN": "F6_E2M3", "f6E3M2FN": "F6_E3M2"}[element]
    with safetensors.safe_open("x.safetensors", framework="np") as file:
        part = file.get_slice("x")
        assert (part.get_dtype(), part.get_shape()) == (name, [*codes.shape])
    assert (folder / "x.safetensors").read_bytes().endswith(held.tobytes())
    mlir_fp8.save_arrays("x.npz", {"x": array})
    with np.load("x.npz") as archive:
        (key,) = archive.files
        np.testing.assert_array_equal(archive[key], held)
    for path in ("x.safetensors", "x.npz"):
        assert same(mlir_fp8.load_arrays(path)["x"], array)
    as_it_lies = mlir_fp8.load_arrays("x.safetensors", packed=True)["x"]
    assert as_it_lies.dtype == np.uint8
    np.testing.assert_array_equal(as_it_lies, held)


def test_rows_that_are_no_whole_bytes_are_codes(folder: Path) -> None:
    array = np.arange(10, dtype=np.uint8).view(FORMATS["f6E2M3FN"].dtype)
    mlir_fp8.save_arrays("x.safetensors", {"x": array})
    mlir_fp8.save_arrays("x.npz", {"x": array})
    for path in ("x.safetensors", "x.npz"):
        assert same(mlir_fp8.load_arrays(path)["x"], array)
        assert same(mlir_fp8.load_arrays(path, packed=True)["x"], array)
    with pytest.raises(Fp8Error, match="rows of 4 bytes, no multiple of 3"):
        damaged: Any = {"x@f6E2M3FNx4": np.zeros(4, np.uint8)}
        np.savez("y.npz", **damaged)
        mlir_fp8.load_arrays("y.npz")


def test_f4_is_packed_the_first_one_low(folder: Path) -> None:
    codes = np.array([[1, 2, 3], [4, 15, 8]], np.uint8)
    array = codes.view(ml_dtypes.float4_e2m1fn)
    mlir_fp8.save_arrays("x.safetensors", {"x": array, "odd": array[0]})
    data = (folder / "x.safetensors").read_bytes()
    header = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    assert header["x"] == {"dtype": "F4", "shape": [2, 3], "data_offsets": [3, 6]}
    assert header["odd@f4E2M1FN"]["dtype"] == "U8"
    assert data[-3:] == bytes([0x21, 0x43, 0x8F])
    loaded = mlir_fp8.load_arrays("x.safetensors")
    assert same(loaded["x"], array) and same(loaded["odd"], array[0])


def test_shapes_and_layouts(folder: Path) -> None:
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    arrays = {
        "scalar": np.array(2.5, np.float32),
        "empty": np.empty((0, 3), ml_dtypes.bfloat16),
        "strided": whole[::2, ::-1],
        "foreign": whole.astype(">f4"),
        "fortran": np.asfortranarray(whole),
        "number": np.float16(3),
    }
    mlir_fp8.save_arrays(folder / "x.safetensors", arrays)
    loaded = mlir_fp8.load_arrays(folder / "x.safetensors")
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded[name].tolist() == array.tolist()
        assert loaded[name].shape == np.shape(array)
    mlir_fp8.save_arrays("none.safetensors", {})
    assert mlir_fp8.load_arrays("none.safetensors") == {}


def test_arrays_are_pages_of_the_file(folder: Path) -> None:
    mlir_fp8.save_arrays("x.safetensors", {"x": np.zeros(1 << 20, np.uint8)})
    array = mlir_fp8.load_arrays("x.safetensors")["x"]
    with (folder / "x.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\7")
    assert array[-1] == 7
    array[0] = 9  # of this process alone
    assert mlir_fp8.load_arrays("x.safetensors")["x"][0] == 0
    mlir_fp8.save_arrays("x.safetensors", {"x": array})  # over what it is a view of
    assert mlir_fp8.load_arrays("x.safetensors")["x"][[0, -1]].tolist() == [9, 7]


def test_a_compiled_module_takes_what_is_mapped(folder: Path) -> None:
    array = np.arange(4, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
    mlir_fp8.save_arrays("x.safetensors", {"a": np.array(True), "x": array})
    type_ = "tensor<4xf8E4M3FN>"
    module = mlir_fp8.compile(f"func.func @main(%a: {type_}) -> {type_} {{ return %a : {type_} }}")
    assert same(module(mlir_fp8.load_arrays("x.safetensors")["x"])[0], array)


DAMAGED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "'x.safetensors' is empty"),
    "short": (b"\1\0\0", "'x.safetensors' cannot be read: .*header"),
    "length": (struct.pack("<Q", 1 << 62) + b"{}", "'x.safetensors' cannot be read: .*header"),
    "no JSON": (raw(b"{]"), "'x.safetensors' cannot be read: .*JSON"),
    "truncated": (raw({"x": one("F32", [4], 16)}, b"\0" * 15), "'x.safetensors' cannot be read"),
    "trailing": (raw({"x": one("F32", [4], 16)}, b"\0" * 17), "'x.safetensors' cannot be read"),
    "shape": (raw({"x": one("F32", [5], 16)}, b"\0" * 16), "'x.safetensors' cannot be read"),
    "overlap": (
        raw({"x": one("U8", [2], 2), "y": one("U8", [2], 2)}, b"\0" * 2),
        "'x.safetensors' cannot be read",
    ),
    "type": (raw({"x": one("F3", [4], 16)}, b"\0" * 16), "'x.safetensors' cannot be read"),
    "f6": (raw({"x": one("F6_E2M3", [4], 3)}, b"\0" * 2), "'x.safetensors' cannot be read"),
    "codes": (raw({"x@i4": one("U8", [1], 1)}, b"\x10"), "key 'x@i4' holds 0x10, which is no code"),
    "twice": (
        raw(
            {"x": one("U8", [1], 1), "x@i4": {**one("U8", [1], 1), "data_offsets": [1, 2]}},
            b"\1\1",
        ),
        "is the second array named 'x'",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_refused_in_one_line(folder: Path, name: str) -> None:
    data, reason = DAMAGED[name]
    (folder / "x.safetensors").write_bytes(data)
    with pytest.raises(mlir_fp8.Fp8Error, match=reason) as caught:
        mlir_fp8.load_arrays("x.safetensors")
    assert "\n" not in str(caught.value)
    assert not isinstance(caught.value, mlir_fp8.InternalError)


def test_bytes_that_changed_are_read_or_refused(folder: Path, exhaustive: bool) -> None:
    arrays = {"x": np.ones(3, ml_dtypes.bfloat16), "y": np.ones((2, 2), ml_dtypes.float4_e2m1fn)}
    mlir_fp8.save_arrays("x.safetensors", arrays)
    data = (folder / "x.safetensors").read_bytes()
    random = np.random.default_rng(0)
    for _ in range(2000 if exhaustive else 150):
        changed = bytearray(data)
        for place in random.integers(len(data), size=random.integers(1, 4)):
            changed[place] = random.integers(256)
        (folder / "x.safetensors").write_bytes(
            changed[: random.integers(len(data) // 2, len(data) * 2)]
        )
        try:
            mlir_fp8.load_arrays("x.safetensors")
        except mlir_fp8.Fp8Error as error:
            assert "\n" not in str(error)
            assert not isinstance(error, mlir_fp8.InternalError)


def test_true_is_one_byte(folder: Path) -> None:
    (folder / "x.safetensors").write_bytes(raw({"x": one("BOOL", [3], 3)}, b"\0\1\2"))
    assert mlir_fp8.load_arrays("x.safetensors")["x"].view(np.uint8).tolist() == [0, 1, 1]


def test_shards(folder: Path) -> None:
    arrays = {
        "a": np.ones(4, np.float32),
        "b": np.ones(4, ml_dtypes.float8_e5m2),
        "c": np.array([1, 2], ml_dtypes.int4),
        "d": np.ones(9, np.float32),
    }
    mlir_fp8.save_arrays("model.safetensors.index.json", arrays, shard_bytes=20)
    names = [f"model-0000{number}-of-00003.safetensors" for number in (1, 2, 3)]
    assert sorted(each.name for each in folder.iterdir()) == [
        *names,
        "model.safetensors.index.json",
    ]
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    assert index == {
        "metadata": {"total_size": 58},
        "weight_map": {"a": names[0], "b": names[0], "c@i4": names[1], "d": names[2]},
    }
    loaded = mlir_fp8.load_arrays("model.safetensors.index.json")
    assert loaded.keys() == arrays.keys()
    assert all(same(loaded[name], array) for name, array in arrays.items())


BAD_INDEX: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "cannot be read: Expecting property name"),
    "list": ([], "is no index: it has no weight_map"),
    "map": ({"weight_map": 3}, "is no index: it has no weight_map"),
    "missing": (
        {"weight_map": {"x": "y.safetensors"}},
        "'y.safetensors' is missing, which holds 'x'",
    ),
    "name": ({"weight_map": {"z": "x.safetensors"}}, "'z' is not in 'x.safetensors'"),
    "above": ({"weight_map": {"x": "../x.safetensors"}}, "which is no file beside the index"),
    "absolute": ({"weight_map": {"x": "/x.safetensors"}}, "which is no file beside the index"),
    "number": ({"weight_map": {"x": 3}}, "which is no file beside the index"),
    "list of files": ({"weight_map": {"x": ["x"]}}, "which is no file beside the index"),
}


@pytest.mark.parametrize("name", BAD_INDEX)
def test_an_index_that_is_refused(folder: Path, name: str) -> None:
    index, reason = BAD_INDEX[name]
    mlir_fp8.save_arrays("x.safetensors", {"x": np.ones(1)})
    text = index if isinstance(index, str) else json.dumps(index)
    (folder / "m.safetensors.index.json").write_text(text)
    with pytest.raises(mlir_fp8.Fp8Error, match=reason):
        mlir_fp8.load_arrays("m.safetensors.index.json")


def no_codes(element: str) -> np.ndarray:
    """Four bytes that are seen as `element`, whose codes are shorter than one of them."""
    codes = np.array([1, 2, 3, 0x74 if element.startswith("f6") else 0x34], np.uint8)
    return codes.view(element_dtype(element))


UNWRITABLE: dict[str, tuple[str, Callable[[], Any], str]] = {
    "c128": (
        "x.safetensors",
        lambda: {"x": np.ones(1, complex)},
        "cannot hold 'x', which is complex128",
    ),
    "long": (
        "x.safetensors",
        lambda: {"x": np.ones(1, np.longdouble)},
        "cannot hold 'x', which is",
    ),
    "objects": ("x.npz", lambda: {"x": np.array([None])}, "array 'x' is of Python objects"),
    "list": ("x.npz", lambda: {"x": [1.0]}, "array 'x' is a list, not an array"),
    "masked": ("x.npz", lambda: {"x": np.ma.masked_array([1])}, "array 'x' is masked"),
    "name": ("x.safetensors", lambda: {"__metadata__": np.ones(1)}, "named '__metadata__'"),
    "numpy's": ("x.npz", lambda: {"file": np.ones(1)}, "an .npz cannot hold an array named 'file'"),
    "no text": ("x.npz", lambda: {3: np.ones(1)}, "an array is named 3"),
    "half": ("x.npz", lambda: {"\udc80": np.ones(1)}, "an array is named"),
    "no f4": ("x.safetensors", lambda: {"x": no_codes("f4E2M1FN")}, "'x' holds 0x34, which is no"),
    "no f6": ("x.npz", lambda: {"x": no_codes("f6E3M2FN")}, "'x' holds 0x74, which is no code"),
    "no i4": ("x.npz", lambda: {"x": no_codes("ui4")}, "array 'x' holds 0x34, which is no code"),
    "twice": (
        "x.npz",
        lambda: {"x@f4E2M1FNx2": np.ones(1, np.uint8), "x": np.ones(2, ml_dtypes.float4_e2m1fn)},
        "two arrays named 'x@f4E2M1FNx2'",
    ),
    "ending": ("x.pt", dict, "let it end in .safetensors"),
    "many": ("x.npy", dict, "'x.npy' would hold one array, given are 0"),
    "folder": ("no/x.npz", dict, "cannot write 'no/x.npz': No such file or directory"),
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_what_is_not_written(folder: Path, name: str) -> None:
    path, make, reason = UNWRITABLE[name]
    with pytest.raises(mlir_fp8.Fp8Error, match=reason):
        mlir_fp8.save_arrays(path, make())
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_the_same_from_every_form(folder: Path, ending: str) -> None:
    arrays = {each: array_of(each) for each in (*TYPES.values(), *CODED, "f4E2M1FN")}
    mlir_fp8.save_arrays(f"x.{ending}", arrays)
    loaded = mlir_fp8.load_arrays(f"x.{ending}")
    assert loaded.keys() == arrays.keys()
    assert all(same(loaded[name], array) for name, array in arrays.items())


def test_one_array_in_an_npy(folder: Path) -> None:
    mlir_fp8.save_arrays("x.npy", {"x": np.arange(3)})
    assert mlir_fp8.load_arrays("x.npy")["arr_0"].tolist() == [0, 1, 2]


def test_torch_reads_what_is_written_and_the_other_way(folder: Path) -> None:
    pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")
    import torch  # pyright: ignore[reportMissingImports]
    from safetensors import torch as theirs  # pyright: ignore[reportMissingImports]

    names = ("bool", "uint8", "int8", "float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu",
             "float8_e4m3fnuz", "int16", "uint16", "float16", "bfloat16", "int32", "float32",
             "complex64", "float64", "int64", "uint64", "float4_e2m1fn_x2")  # fmt: skip
    tensors = {
        f"{place}.{name}": (torch.arange(48) % 2).to(torch.uint8).view(getattr(torch, name))
        for place, name in enumerate(names)
    }
    mlir_fp8.save_arrays("ours.safetensors", tensors)
    assert (folder / "ours.safetensors").read_bytes() == theirs.save(tensors)
    loaded = mlir_fp8.load_arrays("ours.safetensors", as_="torch")
    for name, tensor in tensors.items():
        assert loaded[name].dtype == tensor.dtype and loaded[name].shape == tensor.shape
        assert loaded[name].view(torch.uint8).tolist() == tensor.view(torch.uint8).tolist()


def test_without_the_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlir_fp8.save_arrays("x.safetensors", {"x": np.ones(1)})
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"pip install 'mlir-fp8\[torch\]'"):
        mlir_fp8.load_arrays("x.safetensors")


def test_threads_that_write_one_file(folder: Path) -> None:
    array = np.zeros(1 << 16, np.float32)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(mlir_fp8.save_arrays, "x.npz", {"x": array}) for _ in range(40)]:
            done.result()
    assert [each.name for each in folder.iterdir()] == ["x.npz"]
