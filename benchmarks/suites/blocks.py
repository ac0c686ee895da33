"""Block formats: quantizing beside a copy, and products of blocks beside products of f8.

Quantizing is compiled code that gives codes and scales of blocks along the rows of a matrix, as
torchao's `to_mx` does. A product is `fp8.scaled_dot` of an activation by weights that hold what is
summed side by side, f4 bit-packed; that of f8 has one scale for each operand. torchao and numpy
dequantize to f32 first: torchao has no kernel of blocks for the CPU.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.cases import OURS, Case, Check, Contender, WrongValueError, refusing
from benchmarks.peers.blocks import (
    by_numpy,
    product_by_numpy,
    torchao_product,
    torchao_quantize,
)
from benchmarks.plan import Plan
from benchmarks.values import identical, near

QUANTIZED = {"MXFP8": ("f8E4M3FN", 32), "MXFP4": ("f4E2M1FN", 32), "NVFP4": ("f4E2M1FN", 16)}
SCALES = {"MXFP8": "f8E8M0FNU", "MXFP4": "f8E8M0FNU", "NVFP4": "f8E4M3FN"}
SIZE, QUICK = 2048, 128
SHAPES = ((1, 8192, 8192), (16, 2048, 2048), (1024, 1024, 1024))
"""Rows, summed and columns of products."""
_QUICK = ((2, 64, 32),)
_TOLERANCE = 2.0**-16


def cases(plan: Plan) -> Iterator[Case]:
    for name in QUANTIZED:
        yield from _quantizing(name, QUICK if plan.quick else SIZE, plan)
    for shape in _QUICK if plan.quick else SHAPES:
        yield from _products(*shape, plan)


def _recipe(name: str) -> Any:
    import mlir_fp8

    return mlir_fp8.NVFP4Scaling() if name == "NVFP4" else mlir_fp8.MXScaling(QUANTIZED[name][0])


def _quantizing(name: str, size: int, plan: Plan) -> Iterator[Case]:
    """Beside a copy; then beside others, which leave cold caches."""
    import mlir_fp8
    from mlir_fp8.inference.preparation import preparing_module

    element, block = QUANTIZED[name]
    array = np.random.default_rng(0).standard_normal((size, size), np.float32)
    module = preparing_module(
        f"tensor<{size}x{size}xf32>", (1, block), element, (), _recipe(name).rule, largest=False
    )
    check = _nearly(array, block) if name == "NVFP4" else _both(by_numpy(array, element, block))
    place = f"{size}x{size}", size * size, "elem"
    ours: list[Contender] = []
    for threads in plan.threads:
        code = mlir_fp8.compile(module, threads=threads)
        # As the copy's: memory that is there already.
        made = [np.zeros(spec.shape, spec.dtype) for spec in code.results]
        run = lambda c=code, out=made: c(array, out=out)  # noqa: E731
        ours.append(Contender(OURS, run, check, threads))
    out = np.zeros_like(array)
    copy = Contender("copy", lambda: _copied(array, out), identical(array))
    beside_copy = [copy] if "numpy" in plan.peers else []
    yield Case(f"quantize {name}", (*ours, *beside_copy), *place)
    if name == "NVFP4":  # neither has it
        return
    others: list[Contender] = []
    if "numpy" in plan.peers:
        others.append(Contender("numpy", lambda: by_numpy(array, element, block), check))
    if "torch" in plan.peers:
        want = by_numpy(array, element, block)
        packed = _both((_bits(want[0]), want[1]))
        for threads in plan.threads:
            peer = lambda t=threads: torchao_quantize(array, element, t)  # noqa: E731
            others.append(_peer("torchao", peer, packed, threads))
    if others:
        yield Case(f"quantize {name}, by others", (*ours, *others), *place)


def _both(want: Sequence[np.ndarray]) -> Check:
    """Codes and scales, to the bit."""

    def check(got: Sequence[np.ndarray]) -> dict[str, float]:
        for mine, wanted in zip(got, want, strict=False):
            identical(wanted)(mine)
        return {}

    return check


def _nearly(array: np.ndarray, block: int) -> Check:
    """Codes, scales and the factor of all, which give `array` back to what four bits hold."""

    def check(got: Sequence[np.ndarray]) -> dict[str, float]:
        codes, scales, factor = (each.astype(np.float32) for each in got)
        error = codes * scales.repeat(block, 1) * factor - array
        distance = float(np.linalg.norm(error) / np.linalg.norm(array))
        if not distance < 0.12:
            raise WrongValueError(f"off by {distance:.2e}")
        return {}

    return check


def _copied(array: np.ndarray, out: np.ndarray) -> np.ndarray:
    np.copyto(out, array)
    return out


def _bits(codes: np.ndarray) -> np.ndarray:
    """f4 in pairs, as kernels and torchao have it."""
    from mlir_fp8.arrays.packing import packed
    from mlir_fp8.dialects.float_formats import FORMATS

    return packed(codes) if codes.dtype == FORMATS["f4E2M1FN"].dtype else codes


def _peer(
    name: str, made: Callable[[], Callable[[], Any]], check: Check, threads: int
) -> Contender:
    try:
        return Contender(name, made(), check, threads)
    except ImportError as error:
        return refusing(name, threads, error)


def _products(rows: int, summed: int, columns: int, plan: Plan) -> Iterator[Case]:
    """Ours beside ours of f8; then each format beside others, which leave cold caches."""
    import mlir_fp8

    size, work = f"{rows}x{summed}x{columns}", 2.0 * rows * summed * columns
    ours: list[Contender] = []
    beside: list[Case] = []
    for name in ("f8", *QUANTIZED):
        text, arrays, want = _program(name, rows, summed, columns)
        given = [*map(_bits, arrays[:2]), *arrays[2:]]
        check = near([want], _TOLERANCE)
        own: list[Contender] = []
        for threads in plan.threads:
            code = mlir_fp8.compile(text, threads=threads)
            label = OURS if name == "f8" else f"{OURS}, {name}"
            run = lambda c=code, a=given: c(*a)  # noqa: E731
            own.append(Contender(label, run, check, threads))
        ours += own
        if name != "f8" and (others := list(_others(name, arrays, given, check, plan))):
            own += others
            beside.append(Case(f"product {name}", tuple(own), size, work, "flop"))
    yield Case("product", tuple(ours), size, work, "flop")
    yield from beside


def _others(
    name: str, arrays: list[np.ndarray], given: list[np.ndarray], check: Check, plan: Plan
) -> Iterator[Contender]:
    element, block = QUANTIZED[name]
    if "numpy" in plan.peers:
        run = lambda: product_by_numpy(arrays[:2], arrays[2:], block)  # noqa: E731
        yield Contender("numpy", run, check)
    if "torch" in plan.peers and name != "NVFP4":
        for threads in plan.threads:
            made = lambda t=threads: torchao_product(given[:2], given[2:], element, t)  # noqa: E731
            yield _peer("torchao", made, check, threads)


def _program(
    name: str, rows: int, summed: int, columns: int
) -> tuple[str, list[np.ndarray], np.ndarray]:
    """The text of a product, which takes f4 in pairs, its codes and scales, and what it gives."""
    from mlir_fp8.dialects.float_formats import FORMATS

    element, block = QUANTIZED.get(name, ("f8E4M3FN", 0))
    random = np.random.default_rng(0)
    codes = [
        random.standard_normal((count, summed), np.float32).astype(FORMATS[element].dtype)
        for count in (rows, columns)
    ]
    scale = SCALES.get(name, "f32")
    shapes = [(count, summed // block) if block else () for count in (rows, columns)]
    scales = [
        np.exp2(random.integers(-2, 3, shape)).astype(FORMATS[scale].dtype) for shape in shapes
    ]
    is_short = FORMATS[element].bits < 8
    types = [
        *(f"tensor<{count}x{summed}x{element}>" for count in (rows, columns)),
        *(f"tensor<{''.join(f'{size}x' for size in shape)}{scale}>" for shape in shapes),
    ]
    taken, unpacking = [*types], ""
    for i, count in enumerate((rows, columns) if is_short else ()):
        taken[i] = f"tensor<{count}x{summed // 2}xui8>"
        unpacking += f'%arg{i} = "fp8.unpack"(%p{i}) : ({taken[i]}) -> {types[i]}\n'
    result = f"tensor<{rows}x{columns}xf32>"
    operand_type = ", operand_type = f32" if block else ""
    operands = ", ".join(
        f"%{'p' if is_short and i < 2 else 'arg'}{i}: {each}" for i, each in enumerate(taken)
    )
    numbers = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]"
    text = f"""func.func @main({operands}) -> {result} {{
      {unpacking}
      %0 = "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3)
        {{dot_dimension_numbers = #stablehlo.dot<{numbers}>,
          operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>{operand_type}}}
        : ({", ".join(types)}) -> {result}
      return %0 : {result}
    }}"""
    wide = [
        array.astype(np.float32) * factor.astype(np.float32).repeat(block, -1)
        if block
        else array.astype(np.float32) * np.float32(factor)
        for array, factor in zip(codes, scales, strict=True)
    ]
    return text, [*codes, *scales], wide[0] @ wide[1].T
