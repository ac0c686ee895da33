"""StableHLO programs on one small float, and hard inputs for them."""

from itertools import pairwise

import numpy as np

from mlir_fp8.dialects.float_formats import FloatFormat

COUNT = 256
WIDE = ("f32", "f64", "bf16", "f16")


def conversions(fmt: FloatFormat) -> str:
    """All codes to wide types, and wide numbers to codes."""
    codes, numbers = f"tensor<{COUNT}x{fmt.name}>", len(hard_numbers(fmt))
    arguments = [f"%x{i}: tensor<{numbers}x{wide}>" for i, wide in enumerate(WIDE)]
    body: list[str] = []
    results: list[str] = []
    for i, wide in enumerate(WIDE):
        up, down = f"tensor<{COUNT}x{wide}>", f"tensor<{numbers}x{fmt.name}>"
        body.append(f"%u{i} = stablehlo.convert %a : ({codes}) -> {up}")
        body.append(f"%d{i} = stablehlo.convert %x{i} : (tensor<{numbers}x{wide}>) -> {down}")
        results += [f"%u{i} : {up}", f"%d{i} : {down}"]
    for wide in ("i32", "f8E5M2"):
        body.append(f"%{wide} = stablehlo.convert %a : ({codes}) -> tensor<{COUNT}x{wide}>")
        results.append(f"%{wide} : tensor<{COUNT}x{wide}>")
    return _function([f"%a: {codes}", *arguments], body, results)


def arithmetic(fmt: FloatFormat) -> str:
    """What computes, in functions and bodies too, and moves data between it. Without branches."""
    e = fmt.name
    v, m, s = f"tensor<{COUNT}x{e}>", f"tensor<16x16x{e}>", f"tensor<{e}>"
    code = (1 << fmt.bits) - 1  # a NaN of some payload, where there is NaN
    quotient = "divide" if fmt.has_nan else "atan2"  # division can give NaN, and is refused
    body = f"""
    %nan = stablehlo.constant dense<"0x{code:02X}"> : tensor<1x{e}>
    %all = stablehlo.constant dense<"0x{bytes(range(COUNT)).hex()}"> : {v}
    %one = stablehlo.constant dense<1.0> : {s}
    %add = stablehlo.add %a, %b : {v}
    %mul = stablehlo.multiply %add, %all : {v}
    %div = stablehlo.{quotient} %mul, %b : {v}
    %abs = stablehlo.abs %a : {v}
    %less = stablehlo.compare LT, %a, %div : ({v}, {v}) -> tensor<{COUNT}xi1>
    %select = stablehlo.select %less, %abs, %b : tensor<{COUNT}xi1>, {v}
    %gather = "stablehlo.gather"(%all, %i) <{{dimension_numbers = #stablehlo.gather<
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1>}}> : ({v}, tensor<{COUNT}x1xi32>) -> {v}
    %scatter = "stablehlo.scatter"(%a, %i, %b) <{{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
    ^bb0(%x: {s}, %y: {s}):
      %product = stablehlo.multiply %x, %y : {s}
      stablehlo.return %product : {s}
    }}) : ({v}, tensor<{COUNT}x1xi32>, {v}) -> {v}
    %map = "stablehlo.map"(%a, %b) <{{dimensions = array<i64: 0>}}> ({{
    ^bb0(%x: {s}, %y: {s}):
      %sum = stablehlo.add %x, %y : {s}
      stablehlo.return %sum : {s}
    }}) : ({v}, {v}) -> {v}
    %joined = stablehlo.concatenate %select, %gather, %nan, dim = 0
      : ({v}, {v}, tensor<1x{e}>) -> tensor<{2 * COUNT + 1}x{e}>
    %called = func.call @reversed(%mul) : ({v}) -> {v}
    %lhs = stablehlo.reshape %called : ({v}) -> {m}
    %rhs = stablehlo.reshape %b : ({v}) -> {m}
    %dot = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0] : ({m}, {m}) -> {m}
    %wide = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0]
      : ({m}, {m}) -> tensor<16x16xbf16>
    %reduce = stablehlo.reduce(%rhs init: %one) applies stablehlo.add across dimensions = [1]
      : ({m}, {s}) -> tensor<16x{e}>
    %through = stablehlo.reduce(%w init: %zero) across dimensions = [0]
      : (tensor<{COUNT}xf32>, tensor<f32>) -> tensor<f32>
      reducer(%x: tensor<f32>, %y: tensor<f32>) {{
        %larger = stablehlo.maximum %x, %y : tensor<f32>
        %small = stablehlo.convert %larger : (tensor<f32>) -> {s}
        %rounded = stablehlo.convert %small : ({s}) -> tensor<f32>
        stablehlo.return %rounded : tensor<f32>
      }}
    %known = stablehlo.add %k, %k : tensor<{COUNT}xf8E5M2>"""
    results = {
        "add": v, "div": v, "select": v, "gather": v, "scatter": v, "map": v,
        "joined": f"tensor<{2 * COUNT + 1}x{e}>", "dot": m, "wide": "tensor<16x16xbf16>",
        "reduce": f"tensor<16x{e}>", "through": "tensor<f32>", "known": f"tensor<{COUNT}xf8E5M2>",
    }  # fmt: skip
    arguments = [
        f"%a: {v}", f"%b: {v}", f"%i: tensor<{COUNT}x1xi32>", f"%w: tensor<{COUNT}xf32>",
        f"%k: tensor<{COUNT}xf8E5M2>",
    ]  # fmt: skip
    body = "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n" + body
    main = _function(arguments, [body], [f"%{name} : {type_}" for name, type_ in results.items()])
    return f"""{main}
func.func private @reversed(%a: {v}) -> {v} {{
  %0 = stablehlo.reverse %a, dims = [0] : {v}
  return %0 : {v}
}}"""


def arithmetic_inputs(fmt: FloatFormat) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    codes = np.arange(COUNT, dtype=np.uint8) & ((1 << fmt.bits) - 1)
    return [
        codes,
        random.permutation(codes),
        random.permutation(COUNT).astype(np.int32).reshape(COUNT, 1),
        random.standard_normal(COUNT).astype(np.float32) * np.float32(float(fmt.max) / 64),
        np.arange(COUNT, dtype=np.uint8),
    ]


def hard_numbers(fmt: FloatFormat) -> np.ndarray:
    """Every value, the midpoints between two, all with their neighbours, and what is no number."""
    exact = [fmt.magnitude(code) for code in range(fmt.max_code + 1)]
    exact += [(low + high) / 2 for low, high in pairwise(exact)]
    exact += [fmt.smallest_subnormal / 2, fmt.max * 2]
    step = fmt.max - fmt.magnitude(fmt.max_code - 1)
    exact.append(fmt.max + (step if fmt.mantissa_bits else fmt.max) / 2)
    values = np.array([float(value) for value in exact])
    near = [values]
    for dtype in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            as_dtype = values.astype(dtype)
        for direction in (-np.inf, np.inf):
            near.append(np.nextafter(as_dtype, dtype(direction)).astype(np.float64))
    special = np.array([0.0, np.inf, np.nan, 1e-45, 5e-324, 1e30, 1e300])
    values = np.concatenate([*near, special])
    return np.concatenate([values, -values])


def _function(arguments: list[str], body: list[str], results: list[str]) -> str:
    names = ", ".join(result.partition(" : ")[0] for result in results)
    types = ", ".join(result.partition(" : ")[2] for result in results)
    lines = "\n    ".join(body)
    return (
        f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n    {lines}\n"
        f"    return {names} : {types}\n}}"
    )


def control_flow(fmt: FloatFormat) -> str:
    """Regions and functions, which only an interpreter or XLA runs; results in f32."""
    e = fmt.name
    v, s = f"tensor<16x{e}>", f"tensor<{e}>"
    one = fmt.bias << fmt.mantissa_bits
    first = one - 8 if fmt.bits > 4 else 0
    codes = bytes(range(first, first + 16)).hex()
    body = f"""
    %all = stablehlo.constant dense<"0x{codes}"> : {v}
    %one = stablehlo.constant dense<1.0> : {s}
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %i3 = stablehlo.constant dense<3> : tensor<i32>
    %while:2 = stablehlo.while(%i = %i0, %x = %all) : tensor<i32>, {v}
     cond {{
      %go = stablehlo.compare LT, %i, %i3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    }} do {{
      %i1 = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %i1 : tensor<i32>
      %twice = stablehlo.add %x, %x : {v}
      stablehlo.return %next, %twice : tensor<i32>, {v}
    }}
    %sort:2 = "stablehlo.sort"(%while#1, %all) <{{dimension = 0 : i64, is_stable = true}}> ({{
    ^bb0(%a: {s}, %b: {s}, %c: {s}, %d: {s}):
      %more = stablehlo.compare GT, %a, %b : ({s}, {s}) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    }}) : ({v}, {v}) -> ({v}, {v})
    %case = "stablehlo.case"(%while#0) ({{
      stablehlo.return %all : {v}
    }}, {{
      %square = stablehlo.multiply %sort#1, %sort#1 : {v}
      stablehlo.return %square : {v}
    }}) : (tensor<i32>) -> {v}
    %first = func.call @through(%case) : ({v}) -> {v}
    %tile = stablehlo.reshape %first : ({v}) -> tensor<4x4x{e}>
    %source = stablehlo.slice %tile [0:2, 0:2] : (tensor<4x4x{e}>) -> tensor<2x2x{e}>
    %picked = "stablehlo.select_and_scatter"(%tile, %source, %one) <{{
      window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}}> ({{
    ^bb0(%a: {s}, %b: {s}):
      %more = stablehlo.compare GE, %a, %b : ({s}, {s}) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    }}, {{
    ^bb0(%a: {s}, %b: {s}):
      %larger = stablehlo.maximum %a, %b : {s}
      stablehlo.return %larger : {s}
    }}) : (tensor<4x4x{e}>, tensor<2x2x{e}>, {s}) -> tensor<4x4x{e}>
    %padded = stablehlo.pad %picked, %one, low = [1, 0], high = [0, 1], interior = [0, 0]
      : (tensor<4x4x{e}>, {s}) -> tensor<5x5x{e}>
    %cut = stablehlo.dynamic_slice %padded, %i0, %i0, sizes = [5, 2]
      : (tensor<5x5x{e}>, tensor<i32>, tensor<i32>) -> tensor<5x2x{e}>
    %kept = stablehlo.optimization_barrier %cut : tensor<5x2x{e}>
    %r0 = stablehlo.convert %while#1 : ({v}) -> tensor<16xf32>
    %r1 = stablehlo.convert %sort#0 : ({v}) -> tensor<16xf32>
    %r2 = stablehlo.convert %case : ({v}) -> tensor<16xf32>
    %r3 = stablehlo.convert %kept : (tensor<5x2x{e}>) -> tensor<5x2xf32>"""
    results = [*(f"%r{i} : tensor<16xf32>" for i in range(3)), "%r3 : tensor<5x2xf32>"]
    return f"""{_function([], [body], results)}
func.func private @through(%a: {v}) -> {v} {{
  return %a : {v}
}}"""
