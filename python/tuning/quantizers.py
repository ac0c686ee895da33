"""Quantizations of one bf16 matrix to f8E4M3FN, each with the amax or scales that it gives."""

from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.base.operations import terminator
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.scaled import block_amax, codes_of, scale_of_amax
from mlir_fp8.lowering.rewriting.stablehlo import convert

QUANTIZERS = ("delayed", "delayed, transposed", "delayed, alone transposed", "current",
              "current, transposed", "row", "1x128")  # fmt: skip
_BLOCKS: dict[str, Blocks] = {"row": (1, 0), "1x128": (1, 128)}


def quantizer(kind: str, shape: tuple[int, int]) -> ir.Module:
    """A module of the `fp8` dialect: of x, and for "delayed" a scale, codes and f32 numbers."""
    context = make_context()
    load_fp8_dialect(context)
    if kind not in _BLOCKS:
        return ir.Module.parse(_text(kind, shape), context)
    rows, columns = shape
    type_ = f"tensor<{rows}x{columns}xbf16>"
    text = f"func.func @main(%x: {type_}) -> {type_} {{ return %x : {type_} }}"
    module = ir.Module.parse(text, context)
    (function,) = (each.operation for each in module.body.operations)
    block = function.regions[0].blocks[0]
    end, blocks = terminator(block), _BLOCKS[kind]
    with context, end.location, ir.InsertionPoint(end):
        x = convert(block.arguments[0], ir.F32Type.get())
        scale = scale_of_amax(block_amax(x, blocks), "f8E4M3FN")
        results = [codes_of(x, scale, blocks, "f8E4M3FN"), scale]
        ir.Operation.create("func.return", operands=results)
        end.erase()
        types = [each.type for each in results]
        new = ir.FunctionType.get([block.arguments[0].type], types)
        function.attributes["function_type"] = ir.TypeAttr.get(new)
    return module


def _text(kind: str, shape: tuple[int, int]) -> str:
    rows, columns = shape
    x = f"tensor<{rows}x{columns}xbf16>"
    wide, codes = x.replace("bf16", "f32"), x.replace("bf16", "f8E4M3FN")
    turned = f"tensor<{columns}x{rows}xf8E4M3FN>"
    delayed, transposed = kind.startswith("delayed"), kind.endswith("transposed")
    scale = "tensor<f32>"
    lines = [
        f"  %w = stablehlo.convert %x : ({x}) -> {wide}",
        "  %zero = stablehlo.constant dense<0.0> : tensor<f32>",
        f"  %m = stablehlo.abs %w : {wide}",
        "  %amax = stablehlo.reduce(%m init: %zero) applies stablehlo.maximum across "
        f"dimensions = [0, 1] : ({wide}, {scale}) -> {scale}",
    ]
    if not delayed:
        lines += _CURRENT
    lines.append(f'  %q = "fp8.quantize"(%w, %s) {{saturate}} : ({wide}, {scale}) -> {codes}')
    results = {("%amax" if delayed else "%s"): scale}
    if "alone" not in kind:
        results = {"%q": codes, **results}
    if transposed:
        lines.append(f"  %t = stablehlo.transpose %q, dims = [1, 0] : ({codes}) -> {turned}")
        results["%t"] = turned
    taken = f"%x: {x}, %s: {scale}" if delayed else f"%x: {x}"
    given = ", ".join(results.values())
    returned = f"  return {', '.join(results)} : {given}"
    head = f"func.func @main({taken}) -> ({given}) {{"
    return "\n".join([head, *lines, returned, "}", ""])


_CURRENT = (
    "  %max = stablehlo.constant dense<448.0> : tensor<f32>",
    "  %one = stablehlo.constant dense<1.0> : tensor<f32>",
    "  %none = stablehlo.constant dense<0.0> : tensor<f32>",
    "  %quotient = stablehlo.divide %amax, %max : tensor<f32>",
    "  %some = stablehlo.compare GT, %quotient, %none : (tensor<f32>, tensor<f32>) -> tensor<i1>",
    "  %s = stablehlo.select %some, %quotient, %one : tensor<i1>, tensor<f32>",
)
"""`%s`: `%amax` over 448, 1 where that is 0."""
