"""Block formats: quantizing beside a copy, and products of blocks beside products of f8.

Quantizing is compiled code that gives codes and scales of blocks along the rows of a matrix, as
torchao's `to_mx` does. A product is `fp8.scaled_dot` of an activation by weights that hold what is
summed side by side; that of f8 has one scale for each operand.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.cases import OURS, Case, Contender, refusing
from benchmarks.plan import Plan
from benchmarks.values import identical, near

QUANTIZED = {"MXFP8": ("f8E4M3FN", 32), "MXFP4": ("f4E2M1FN", 32), "NVFP4": ("f4E2M1FN", 16)}
SCALES = {"MXFP8": "f8E8M0FNU", "MXFP4": "f8E8M0FNU", "NVFP4": "f8E4M3FN"}
SIZE, QUICK = 2048, 128
ROWS = (1, 16, 1024)
_SUMMED, _COLUMNS = 1024, 1024
_TOLERANCE = 2.0**-16


def cases(plan: Plan) -> Iterator[Case]:
    for name in QUANTIZED:
        yield _quantize(name, QUICK if plan.quick else SIZE, plan)
    for rows in (2,) if plan.quick else ROWS:
        yield _product(rows, *((64, 32) if plan.quick else (_SUMMED, _COLUMNS)), plan)


def _recipe(name: str) -> Any:
    import mlir_fp8

    return mlir_fp8.NVFP4Scaling() if name == "NVFP4" else mlir_fp8.MXScaling(QUANTIZED[name][0])


def _quantize(name: str, size: int, plan: Plan) -> Case:
    import mlir_fp8
    from mlir_fp8.inference.preparation import preparing_module

    element, block = QUANTIZED[name]
    array = np.random.default_rng(0).standard_normal((size, size), np.float32)
    module = preparing_module(
        f"tensor<{size}x{size}xf32>", (1, block), element, (), _recipe(name).rule
    )
    want: list[np.ndarray] = []

    def check(got: Sequence[np.ndarray]) -> dict[str, float]:
        want[:] = want or [np.array(got[0])]
        identical(want[0])(got[0])
        return {}

    contenders: list[Contender] = []
    for threads in plan.threads:
        code = mlir_fp8.compile(module, threads=threads)
        contenders.append(Contender(OURS, lambda c=code: c(array), check, threads))
    if "numpy" in plan.peers:
        out = np.zeros_like(array)
        contenders.append(Contender("copy", lambda: _copied(array, out), identical(array)))
    if "torch" in plan.peers and name != "NVFP4":
        contenders.append(_torchao(array, element))
    return Case(f"quantize {name}", tuple(contenders), f"{size}x{size}", size * size, "elem")


def _copied(array: np.ndarray, out: np.ndarray) -> np.ndarray:
    np.copyto(out, array)
    return out


def _torchao(array: np.ndarray, element: str) -> Contender:
    try:
        import torch  # pyright: ignore[reportMissingImports]
        from torchao.prototype.mx_formats.mx_tensor import (  # pyright: ignore[reportMissingImports]
            to_mx,
        )
    except ImportError as error:
        return refusing("torchao", 1, error)
    types = {"f8E4M3FN": torch.float8_e4m3fn, "f4E2M1FN": torch.float4_e2m1fn_x2}
    tensor = torch.from_numpy(array)
    return Contender("torchao", lambda: to_mx(tensor, types[element], 32), lambda _: {})


def _product(rows: int, summed: int, columns: int, plan: Plan) -> Case:
    import mlir_fp8

    contenders: list[Contender] = []
    for name in ("f8", *QUANTIZED):
        text, arrays, want = _program(name, rows, summed, columns)
        for threads in plan.threads:
            code = mlir_fp8.compile(text, threads=threads)
            label = OURS if name == "f8" else f"{OURS}, {name}"
            run = lambda c=code, a=arrays: c(*a)  # noqa: E731
            contenders.append(Contender(label, run, near([want], _TOLERANCE), threads))
    size = f"{rows}x{summed}x{columns}"
    return Case("product", tuple(contenders), size, 2.0 * rows * summed * columns, "flop")


def _program(
    name: str, rows: int, summed: int, columns: int
) -> tuple[str, list[np.ndarray], np.ndarray]:
    """The text of a product, its arguments, and what it gives."""
    from mlir_fp8.dialects.float_formats import FORMATS

    element, block = QUANTIZED.get(name, ("f8E4M3FN", 0))
    random = np.random.default_rng(0)
    codes = [
        random.standard_normal((count, summed)).astype(FORMATS[element].dtype)
        for count in (rows, columns)
    ]
    scale = SCALES.get(name, "f32")
    shapes = [(count, summed // block) if block else () for count in (rows, columns)]
    scales = [
        np.exp2(random.integers(-2, 3, shape)).astype(FORMATS[scale].dtype) for shape in shapes
    ]
    types = [
        *(f"tensor<{count}x{summed}x{element}>" for count in (rows, columns)),
        *(f"tensor<{''.join(f'{size}x' for size in shape)}{scale}>" for shape in shapes),
    ]
    result = f"tensor<{rows}x{columns}xf32>"
    operand_type = ", operand_type = f32" if block else ""
    operands = ", ".join(f"%arg{i}: {each}" for i, each in enumerate(types))
    numbers = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]"
    text = f"""func.func @main({operands}) -> {result} {{
      %0 = "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3)
        {{dot_dimension_numbers = #stablehlo.dot<{numbers}>,
          operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>{operand_type}}}
        : ({", ".join(types)}) -> {result}
      return %0 : {result}
    }}"""
    wide = [
        array.astype(np.float64) * factor.astype(np.float64).repeat(block, -1)
        if block
        else array.astype(np.float64) * float(factor)
        for array, factor in zip(codes, scales, strict=True)
    ]
    return text, [*codes, *scales], (wide[0] @ wide[1].T).astype(np.float32)
