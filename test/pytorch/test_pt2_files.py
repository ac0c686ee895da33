"""Files of PyTorch's that are damaged, of other kinds, or not to be trusted: one line each."""

import io
import os
import zipfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")

import torch
from saved import Net, changed, save, with_graph

import mlir_fp8
import mlir_fp8.torch
from mlir_fp8.base.mapped_file import file_bytes
from mlir_fp8.tools import run
from mlir_fp8.torch import installed
from mlir_fp8.torch.program import program_of
from mlir_fp8.torch.pt2 import read_exported, state_arrays


class Evil:
    """What runs a command when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("evil",)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("pt2") / "net.pt2"
    save(file, Net(), torch.randn(16, 64))
    return file.read_bytes()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _pickled(value: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    torch.save(value, file, **options)
    return file.getvalue()


def _flipped(data: bytes) -> bytes:
    at = data.index(b"data/weights/weight_0") + 200
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def _evil(data: bytes) -> bytes:
    pickle = _pickled(((torch.ones(16, 64), Evil()), {}))
    return changed(data, lambda name, old: pickle if name.endswith("inputs/model.pt") else old)


def _without(part: str) -> Callable[[bytes], bytes]:
    return lambda data: changed(data, lambda name, old: None if part in name else old)


def _other_op(name: str) -> Callable[[bytes], bytes]:
    def change(graph: dict[str, Any]) -> None:
        nodes = graph["graph_module"]["graph"]["nodes"]
        next(n for n in nodes if "relu" in n["target"])["target"] = f"torch.ops.{name}"

    return lambda data: with_graph(data, change)


def _machine_code(data: bytes) -> bytes:
    return changed(data, lambda name, old: old).replace(b"models/model.json", b"data/aotinductor/")


def _archive_of(version: bytes) -> Callable[[bytes], bytes]:
    return lambda data: changed(data, lambda n, old: version if n == "archive_version" else old)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[:-100], "damaged: a zip archive (.pt2) without its end"),
        (lambda data: data[:5], "damaged: a zip archive (.pt2) without its end"),
        (_flipped, "damaged: the checksum of 'net/data/weights/weight_0' is another"),
        (_without("weight_0"), "cannot load it: PytorchStreamReader failed locating file data/"),
        (_without("archive_version"), "cannot load it: PytorchStreamReader failed locating"),
        (_archive_of(b"9"), "cannot load it: Saved archive version 9 does not match"),
        (
            lambda data: with_graph(data, lambda graph: graph["schema_version"].update(major=99)),
            "in version 99 of its schema, PyTorch",
        ),
        (
            lambda data: with_graph(data, lambda graph: graph.pop("schema_version")),
            "damaged: the program has no version",
        ),
        (
            lambda data: changed(data, lambda n, old: old[:9] if n.startswith("models/") else old),
            "damaged: 'models/model.json' is no JSON object",
        ),
        (
            lambda data: changed(data, lambda n, old: old[:9] if n.endswith("weight_0") else old),
            "cannot load it: Record data/weights/weight_0: size 9 is not a multiple",
        ),
        (_other_op("mylib.relu.default"), "error: 'mylib.relu' is a custom op that nothing here"),
        (_evil, "is a pickle of more than tensors (posix.mkdir), which may run code"),
        (
            lambda data: data.replace(b"models/model.json", b"models/other.json"),
            "no program 'model'",
        ),
        (_machine_code, "holds machine code of AOTInductor"),
    ],
)
def test_what_cannot_be_loaded_is_one_line(
    good: bytes, damage: Callable[[bytes], bytes], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("bad.pt2").write_bytes(damage(good))
    assert run.main(["bad.pt2", "--random", "0"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert reason in err
    assert err.count("\n") == 1
    assert not Path("evil").exists()
    with pytest.raises(mlir_fp8.Fp8Error) as raised:
        mlir_fp8.torch.export("bad.pt2")
    assert not isinstance(raised.value, mlir_fp8.InternalError)
    assert not Path("evil").exists()


@pytest.mark.filterwarnings("ignore")
def test_other_files_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    model, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
    np.savez("arrays.npz", a=np.ones(2))
    scripted = io.BytesIO()
    torch.jit.save(torch.jit.trace(model, (x,)), scripted)
    old = {"_use_new_zipfile_serialization": False}
    for data, what in (
        (_pickled(model.state_dict()), "weights alone (a state dict), no program"),
        (_pickled({"step": 3, "model": model.state_dict()}), "weights alone (a state dict)"),
        (_pickled(model), "a pickled nn.Module, no program"),
        (_pickled(model.state_dict(), **old), "weights alone (a state dict), no program"),
        (_pickled(model, **old), "a pickled nn.Module, no program"),
        (scripted.getvalue(), "a TorchScript program"),
        (Path("arrays.npz").read_bytes(), "arrays (.npz), no module: give them with --args"),
    ):
        Path("other.pt").write_bytes(data)
        assert run.main(["other.pt", "--random", "0"]) == 1
        err = capfd.readouterr().err
        assert err.startswith(f"error: other.pt: {what}")
        assert err.count("\n") == 1
    assert "torch.export.save(torch.export.export(model, args), 'model.pt2')" in (
        _refusal(_pickled(model))
    )


def _refusal(data: bytes) -> str:
    with pytest.raises(mlir_fp8.Fp8Error) as raised:
        mlir_fp8.load(data)
    return str(raised.value)


def test_a_missing_pytorch_is_said(good: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installed, "version", missing)
    way_out = "needs PyTorch: pip install 'mlir-fp8[torch]'"
    Path("net.pt2").write_bytes(good)
    assert _refusal(good) == f"<bytes>: mlir_fp8.torch {way_out}"
    with pytest.raises(mlir_fp8.Fp8Error, match=r"net\.pt2: mlir_fp8\.torch needs PyTorch"):
        mlir_fp8.load_arrays("net.pt2")


def test_an_op_without_a_lowering_has_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    class Eigenvalues(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.linalg.eig(x)[0]

    save(Path("eig.pt2"), Eigenvalues(), torch.ones(2, 2))
    assert run.main(["eig.pt2", "--random", "0"]) == 1
    err = capfd.readouterr().err
    assert err.startswith(f"{__file__}:")
    assert "'aten.linalg_eig' has no lowering to StableHLO" in err
    assert err.count("\n") == 1


def test_weights_are_where_the_file_is_mapped(good: bytes) -> None:
    Path("net.pt2").write_bytes(good)
    data: Any = file_bytes("net.pt2")
    state = program_of(read_exported(data, "net.pt2")).state
    first = np.frombuffer(data, np.uint8).ctypes.data
    for tensor in state.values():
        assert first <= tensor.data_ptr() < first + len(good)
    state["count"].add_(5)  # stays in this process
    assert Path("net.pt2").read_bytes() == good
    unmapped = program_of(read_exported(good, "net.pt2")).state
    for name in ("first.weight", "rest.0.weight"):
        assert torch.equal(state[name], unmapped[name])


def test_entries_that_are_packed_or_not_aligned_are_read(good: bytes) -> None:
    expected = mlir_fp8.load_arrays("net.pt2") if Path("net.pt2").write_bytes(good) else {}
    for options in ({}, {"compression": zipfile.ZIP_DEFLATED}):
        Path("other.pt2").write_bytes(changed(good, lambda _, old: old, **options))
        loaded = mlir_fp8.load_arrays("other.pt2")
        assert [*loaded] == [*expected]
        for name, array in loaded.items():
            assert array.ctypes.data % array.itemsize == 0
            np.testing.assert_array_equal(array, expected[name])


def test_the_file_of_an_exported_model_may_be_written_anew(good: bytes) -> None:
    Path("net.pt2").write_bytes(good)
    state = mlir_fp8.torch.export("net.pt2").state
    before = state["first.weight"].clone()
    Path("net.pt2").write_bytes(b"")
    assert torch.equal(state["first.weight"], before)


def test_weights_of_a_file_are_not_copied(good: bytes) -> None:
    program = program_of(read_exported(good, "net.pt2"))
    for name, array in state_arrays(program).items():
        assert array.ctypes.data == program.state[name].data_ptr()
