"""Quantizations of one bf16 matrix to f8E4M3FN, each with the amax or scales that it gives."""

QUANTIZERS = ("delayed", "delayed, transposed", "current", "current, transposed", "row", "1x128")


def quantizer_text(kind: str, shape: tuple[int, int]) -> str:
    """A module of the `fp8` dialect: of x, and for "delayed" a scale, codes and f32 numbers."""
    rows, columns = shape
    x = f"tensor<{rows}x{columns}xbf16>"
    wide, codes = x.replace("bf16", "f32"), x.replace("bf16", "f8E4M3FN")
    turned = f"tensor<{columns}x{rows}xf8E4M3FN>"
    delayed, transposed = kind.startswith("delayed"), kind.endswith("transposed")
    counts = {"row": (rows, 1), "1x128": (rows, columns // 128)}.get(kind)
    scale = "tensor<f32>" if counts is None else f"tensor<{counts[0]}x{counts[1]}xf32>"
    lines = [f"  %w = stablehlo.convert %x : ({x}) -> {wide}", *_amax(wide, shape, counts)]
    if not delayed:
        lines += _scale(scale)
    lines.append(f'  %q = "fp8.quantize"(%w, %s) {{saturate}} : ({wide}, {scale}) -> {codes}')
    results = {"%q": codes, ("%amax" if delayed else "%s"): scale}
    if transposed:
        lines.append(f"  %t = stablehlo.transpose %q, dims = [1, 0] : ({codes}) -> {turned}")
        results["%t"] = turned
    taken = f"%x: {x}, %s: tensor<f32>" if delayed else f"%x: {x}"
    given = ", ".join(results.values())
    returned = f"  return {', '.join(results)} : {given}"
    head = f"func.func @main({taken}) -> ({given}) {{"
    return "\n".join([head, *lines, returned, "}", ""])


def _amax(wide: str, shape: tuple[int, int], counts: tuple[int, int] | None) -> list[str]:
    zero = "  %zero = stablehlo.constant dense<0.0> : tensor<f32>"
    magnitude = f"  %m = stablehlo.abs %w : {wide}"
    if counts is None:
        return [zero, magnitude, _reduced("%amax", "%m", wide, [0, 1], "tensor<f32>")]
    rows, columns = shape
    parts = f"tensor<{rows}x{counts[1]}x{columns // counts[1]}xf32>"
    scale = f"tensor<{counts[0]}x{counts[1]}xf32>"
    return [
        zero,
        magnitude,
        f"  %p = stablehlo.reshape %m : ({wide}) -> {parts}",
        _reduced("%amax", "%p", parts, [2], scale),
    ]


def _reduced(name: str, x: str, type_: str, dims: list[int], result: str) -> str:
    return (
        f"  {name} = stablehlo.reduce({x} init: %zero) applies stablehlo.maximum across "
        f"dimensions = {dims} : ({type_}, tensor<f32>) -> {result}"
    )


def _scale(type_: str) -> list[str]:
    """`%s`: `%amax` over 448, 1 where that is 0."""
    flags = type_.replace("f32", "i1")
    return [
        f"  %max = stablehlo.constant dense<448.0> : {type_}",
        f"  %one = stablehlo.constant dense<1.0> : {type_}",
        f"  %none = stablehlo.constant dense<0.0> : {type_}",
        f"  %quotient = stablehlo.divide %amax, %max : {type_}",
        f"  %some = stablehlo.compare GT, %quotient, %none : ({type_}, {type_}) -> {flags}",
        f"  %s = stablehlo.select %some, %quotient, %one : {flags}, {type_}",
    ]
