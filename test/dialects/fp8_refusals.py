"""What the verifiers of the `fp8` dialect say, for the tests."""

import re
from functools import cache

import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context


@cache
def _context() -> ir.Context:
    return make_context()


def refusal_of(op: str, operands: list[str], results: list[str], attributes: str) -> str:
    """The reason in the one line that loading such an op ends with."""
    names = [f"%x{index}" for index in range(len(operands))]
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, operands, strict=True))
    count = f"%r:{len(results)} = " if results else ""
    text = (
        f'func.func @main({arguments}) {{ {count}"fp8.{op}"({", ".join(names)}) {{{attributes}}}'
        f" : ({', '.join(operands)}) -> ({', '.join(results)}) return }}"
    )
    with pytest.raises(mlir_fp8.Fp8Error) as error:
        mlir_fp8.load(text, context=_context())
    message = str(error.value)
    assert re.match(rf"<text>:1:\d+: 'fp8\.{op}' op ", message) and "\n" not in message
    return message.partition(" op ")[2]
