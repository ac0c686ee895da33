"""Programs to lint, and the rules that warn of them."""

from torch_mlir import ir

import mlir_fp8


def rules(body: str, arguments: str = "%x: tensor<4xf32>, %s: tensor<f32>") -> list[str]:
    """The rules that warn about a function of `arguments` that returns all that it computes."""
    module = mlir_fp8.load(f"func.func @main({arguments}) {{\n{body}\n  return\n}}\n")
    function = module.body.operations[0].operation
    block = function.regions[0].blocks[0]
    *computed, end = [op.operation for op in block.operations]
    with module.context, ir.Location.unknown():
        results = [result for op in computed for result in op.results]
        with ir.InsertionPoint(end):
            ir.Operation.create("func.return", operands=results)
        end.erase()
        inputs = [argument.type for argument in block.arguments]
        type_ = ir.FunctionType.get(inputs, [result.type for result in results])
        function.attributes["function_type"] = ir.TypeAttr.get(type_)
    return [each.rule for each in mlir_fp8.lint(module)]


def clamped(low: float, high: float, *, order: str = "clamp") -> str:
    constants = f"""
  %lo = stablehlo.constant dense<{low:e}> : tensor<f32>
  %hi = stablehlo.constant dense<{high:e}> : tensor<f32>
  %lows = stablehlo.broadcast_in_dim %lo, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %highs = stablehlo.broadcast_in_dim %hi, dims = [] : (tensor<f32>) -> tensor<4xf32>"""
    if order == "clamp":
        return f"""{constants}
  %c = stablehlo.clamp %lo, %x, %hi : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"""
    return f"""{constants}
  %m = stablehlo.maximum %x, %lows : tensor<4xf32>
  %c = stablehlo.minimum %highs, %m : tensor<4xf32>"""


def cast(value: str, format_: str = "f8E4M3FN", source: str = "f32") -> str:
    return f"\n  %q = stablehlo.convert {value} : (tensor<4x{source}>) -> tensor<4x{format_}>"


def unary(op: str) -> str:
    return f"\n  %c = stablehlo.{op} %x : tensor<4xf32>"
