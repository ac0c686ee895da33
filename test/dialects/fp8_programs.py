"""Modules of `fp8` ops made with the dialect's builders, for the tests."""

from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect

Body = Callable[..., Sequence[ir.Value]]
"""From the arguments of `main` to its results."""

MATMUL = "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"


def program(arguments: Sequence[str], body: Body) -> ir.Module:
    """The module whose `main` takes tensors of types spelled `arguments`: `4x8xf32`."""
    context = make_context()
    load_fp8_dialect(context)
    with context, ir.Location.unknown():
        module = ir.Module.create()
        types = [ir.Type.parse(f"tensor<{each}>") for each in arguments]
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", ir.FunctionType.get(types, []))
        with ir.InsertionPoint(main.add_entry_block()):
            results = list(body(*main.arguments))
            func.ReturnOp(results)
        signature = ir.FunctionType.get(types, [result.type for result in results])
        main.attributes["function_type"] = ir.TypeAttr.get(signature)
    assert module.operation.verify()
    return module


def run(arguments: Sequence[str], body: Body, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """What `main` gives on `arrays`, by native code."""
    return mlir_fp8.compile(program(arguments, body))(*arrays)


def element(name: str) -> ir.Type:
    return ir.Type.parse(name)


def spelled(array: np.ndarray, name: str) -> str:
    """The type of `array` over the element type `name`, as `program` takes it."""
    return "x".join([*map(str, array.shape), name])


def cast(array: np.ndarray, name: str) -> np.ndarray:
    """`array` rounded to nearest, ties to even, to the element type `name`."""
    return np.asarray(array).astype(FORMATS[name].dtype)


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether type, shape and bits are the same; all NaNs are one."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    nans = np.isnan(one.astype(np.float64)), np.isnan(other.astype(np.float64))
    if not np.array_equal(*nans):
        return False
    return one[~nans[0]].tobytes() == other[~nans[1]].tobytes()
