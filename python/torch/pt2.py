"""`.pt2` files: the program in one, loaded without running what else may be pickled in it."""

import contextlib
import importlib
import io
import logging
import pickle
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.reading.torch_files import TorchFile, open_program, stream_of
from mlir_fp8.torch.program import Program, program_of
from mlir_fp8.torch.tensors import to_numpy

_OP = re.compile(r"torch\.ops\.(\w+)\.(\w+)(?:\.\w+)?")
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')
# Where these are installed, their ops and pytrees are known once they are imported.
_PACKAGES = {"transformers", "torchao", "torchvision"}
_IN_PACKAGE = re.compile(rf"\b(?:{'|'.join(sorted(_PACKAGES))})(?:\.\w+)*\b")
_OBJECTS = ("custom_obj_", "opaque_obj_")


def read_exported(data: bytes, name: str) -> ExportedProgram:
    """The program in the `.pt2` file `data`; `name` stands for the file in errors.

    Checksums are held first: PyTorch does not look at those of weights. Pickles in it are loaded
    with `weights_only`, and refused if they want to run anything else.
    """
    file = open_program(data, name)
    if not file.is_old and "model" not in file.models:
        models = ", ".join(file.models)
        raise Fp8Error(f"{name}: has no program 'model' but {models}: save one with that name")
    file.check_sums()
    graph = file.graph()
    _check_version(file, graph)
    with quietly():
        _import_packages(graph)
        _check_ops(file, graph)
        _check_pickles(file)
        return _load(data, file)


def read_state(data: bytes, name: str) -> dict[str, np.ndarray]:
    """Parameters, buffers and constants of the program in `data`, in the order of its `main`."""
    return state_arrays(program_of(read_exported(data, name)))


def state_arrays(program: Program) -> dict[str, np.ndarray]:
    """Parameters, buffers and constants by name, in the order of `main`: no copies."""
    state = program.state
    names = [name for name in program.argument_names if name in state]
    return {name: to_numpy(state[name].detach(), f"'{name}'") for name in names}


def _load(data: bytes, file: TorchFile) -> ExportedProgram:
    from mlir_fp8.torch.mapped_weights import load_mapped

    try:
        if file.is_old:
            return torch.export.load(stream_of(data))  # pyright: ignore[reportArgumentType]
        return load_mapped(file)
    except MemoryError:
        raise
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        reason = reason.partition(". This is an internal miniz error")[0]
        loader = f"PyTorch {torch.__version__} cannot load it"
        raise Fp8Error(f"{file.name}: {loader}: {reason}") from error


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """PyTorch logs with tracebacks what it raises too; both switches are the process's."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _check_version(file: TorchFile, graph: dict[str, Any]) -> None:
    from torch._export.serde.schema import SCHEMA_VERSION

    written = graph.get("schema_version")
    major = written.get("major") if isinstance(written, dict) else None
    if not isinstance(major, int):
        raise Fp8Error(f"{file.name}: damaged: the program has no version")
    if major != SCHEMA_VERSION[0]:
        raise Fp8Error(
            f"{file.name}: written by PyTorch {graph.get('torch_version') or '(not said)'} in"
            f" version {major} of its schema, PyTorch {torch.__version__} reads"
            f" {SCHEMA_VERSION[0]}: export it again with this PyTorch"
        )


def _import_packages(graph: dict[str, Any]) -> None:
    """Import what names pytrees and ops, of packages known here: never what a file names else."""
    for found in {match[0] for text in _strings(graph) for match in _IN_PACKAGE.finditer(text)}:
        parts = found.split(".")
        for end in range(1, len(parts) + 1):
            try:
                importlib.import_module(".".join(parts[:end]))
            except Exception:  # not installed, too old, or a class
                break


def _strings(value: Any) -> Iterator[str]:
    """What names types and ops in the JSON: neither stack traces nor modules of nodes."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key != "metadata":
                yield from _strings(each)


def _check_ops(file: TorchFile, graph: dict[str, Any]) -> None:
    for node in _nodes(graph):
        match = _OP.fullmatch(str(node.get("target")))
        if match is None:
            continue
        space, op = match[1], match[2]
        if space in _PACKAGES:
            with contextlib.suppress(Exception):
                importlib.import_module(space)
        if not hasattr(getattr(torch.ops, space), op):
            raise Fp8Error(
                f"{_place(node, file.name)}'{space}.{op}' is a custom op that nothing here"
                " registers: import what does, and give mlir_fp8.torch.export the loaded program"
            )


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for each in value:
            yield from _nodes(each)
    elif isinstance(value, dict):
        if isinstance(value.get("target"), str) and "inputs" in value:
            yield value
        for each in value.values():
            yield from _nodes(each)


def _place(node: dict[str, Any], name: str) -> str:
    frames = _FRAME.findall(str((node.get("metadata") or {}).get("stack_trace")))
    return f"{frames[-1][0]}:{frames[-1][1]}:0: " if frames else f"{name}: "


def _check_pickles(file: TorchFile) -> None:
    pickled = _pickled_tensors(file)
    for entry in file.entries:
        last = entry.rpartition("/")[2]
        if last.startswith(_OBJECTS):
            raise Fp8Error(f"{file.name}: holds an object beside tensors ('{entry}'): export none")
        if entry.endswith(".pt") or entry in pickled:
            _check_pickle(file, entry)


def _pickled_tensors(file: TorchFile) -> set[str]:
    found: set[str] = set()
    for entry in file.entries:
        if entry.endswith("_config.json"):
            folder = entry.rpartition("/")[0]
            config = file.json(entry).get("config")
            payloads = config.values() if isinstance(config, dict) else ()
            found |= {
                f"{folder}/{each.get('path_name')}"
                for each in payloads
                if isinstance(each, dict) and each.get("use_pickle")
            }
    return found


def _check_pickle(file: TorchFile, entry: str) -> None:
    data = file.read(entry)
    if not data:
        return
    try:
        torch.load(io.BytesIO(data), weights_only=True)
    except pickle.UnpicklingError as error:
        wanted = re.search(r"GLOBAL (\S+)", str(error))
        what = f" ({wanted[1]})" if wanted else ""
        raise Fp8Error(
            f"{file.name}: '{entry}' is a pickle of more than tensors{what}, which may run code:"
            " load it yourself if you trust it, and give mlir_fp8.torch.export the program"
        ) from None
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise Fp8Error(f"{file.name}: damaged: '{entry}': {reason}") from None
