"""Chains of functions that are longer than Python's stack is deep, and cycles at their end."""

import pytest
from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.frontend.verify_convertible import VerifyConvertible

LENGTH = 1500


def chain(last: int) -> ir.Module:
    """Functions @f0 to @f1499, each of which uses the next, alternately by call and composite.

    The last one uses that of index `last`.
    """
    type_ = "(tensor<f32>) -> tensor<f32>"
    functions: list[str] = []
    for i in range(LENGTH):
        used = f"@f{i + 1 if i + 1 < LENGTH else last}"
        use = f'stablehlo.composite "my.x" %a {{decomposition = {used}}}' if i % 2 else ""
        functions.append(
            f"func.func @f{i}(%a: tensor<f32>) -> tensor<f32> {{\n"
            f"  %0 = {use or f'call {used}(%a)'} : {type_}\n  return %0 : tensor<f32>\n}}\n"
        )
    functions.append("func.func @f1500(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }")
    return ir.Module.parse("".join(functions), make_context())


def run(module: ir.Module) -> None:
    with module.context:
        VerifyConvertible().run(module.operation)


def test_long_chain() -> None:
    run(chain(LENGTH))


@pytest.mark.parametrize("last", [0, 700, LENGTH - 1])
def test_cycles_of_every_length(last: int) -> None:
    with pytest.raises(Fp8Error, match=f"'stablehlo.composite' of @f{last} is recursion"):
        run(chain(last))
