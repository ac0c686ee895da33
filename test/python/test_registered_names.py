"""The lists of passes and dialects hold all that the installed MLIR wheel registers."""

import ctypes
import re
from pathlib import Path

import pytest
import torch_mlir.ir
from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.passes.pipeline_refusal import upstream_pass
from mlir_fp8.passes.registered_names import DIALECTS, PASSES

LIBRARIES = Path(torch_mlir.ir.__file__).parent / "_mlir_libs"
# A pass name stands as a string of its own in the library that registers it.
NAME_BYTES = re.compile(rb"\0[a-z][a-z0-9-]{1,70}(?=\0)")


@pytest.fixture(scope="module")
def context() -> ir.Context:
    return make_context()


def library() -> Path:
    return next(LIBRARIES.glob("libTorchMLIRAggregateCAPI*"))


def test_lists_are_sorted_and_free_of_duplicates() -> None:
    assert list(PASSES) == sorted(set(PASSES))
    assert list(DIALECTS) == sorted(set(DIALECTS))


def test_no_registered_pass_is_missing(context: ir.Context) -> None:
    files = [library(), *LIBRARIES.glob("_stablehlo.*")]
    strings = {
        match[1:].decode() for file in files for match in NAME_BYTES.findall(file.read_bytes())
    }
    assert len(strings) > 1000
    with context:
        registered = {name for name in strings - set(PASSES) if upstream_pass(name)}
    assert registered == set()


def test_every_listed_pass_is_registered(context: ir.Context) -> None:
    with context:
        assert [name for name in PASSES if upstream_pass(name) is None] == []


def test_dialects_are_as_many_as_registered(context: ir.Context) -> None:
    class Handle(ctypes.Structure):
        _fields_ = (("pointer", ctypes.c_void_p),)

    capsule = context._CAPIPtr
    python = ctypes.pythonapi
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetName.argtypes = [ctypes.py_object]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    pointer = python.PyCapsule_GetPointer(capsule, python.PyCapsule_GetName(capsule))
    count = ctypes.CDLL(str(library())).mlirContextGetNumRegisteredDialects
    count.restype = ctypes.c_ssize_t
    count.argtypes = [Handle]
    listed = [name for name in DIALECTS if _is_dialect(name, context)]
    assert len(listed) == count(Handle(pointer))


def _is_dialect(name: str, context: ir.Context) -> bool:
    try:
        context.get_dialect_descriptor(name)
    except ValueError:
        return False
    return True
