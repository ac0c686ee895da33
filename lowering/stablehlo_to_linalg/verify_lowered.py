"""`verify-lowered`: refuses what a partial conversion left.

The conversions are partial: they leave what they can't convert, and succeed.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations, readable_attributes
from mlir_fp8.lowering import ModulePass

# Matched in the spelling of a type: the bindings have no classes for LLVM's aggregates, and the
# table may not know a small float.
_SMALL_FLOAT = re.compile(r"(?:\b|x)f\d+E\d+M\d+")
# One letter that all of these have, and text hardly has.
_LIKE_SMALL_FLOAT = re.compile(r"E\d+M\d")
_LLVM, _NVVM = ("llvm",), ("llvm", "nvvm")
_ABOVE_LINALG = frozenset({"chlo", "fp8", "mhlo", "quant", "shape", "stablehlo", "vhlo"})


@dataclass(frozen=True)
class VerifyLowered(ModulePass):
    """Refuse ops and types left over from a level above `to` (`linalg`, `llvm` or `nvvm`)."""

    to: str = "llvm"

    def run(self, module: ir.Operation) -> None:
        known: set[ir.Type] = set()
        checks: dict[str, Callable[[ir.Operation], None]] = {
            "linalg": _check_linalg,
            "llvm": lambda op: _check_llvm(op, known, _LLVM),
            "nvvm": lambda op: _check_llvm(op, known, _NVVM),
        }
        if self.to not in checks:
            raise Fp8Error(f"pass 'verify-lowered': to={self.to} is not one of {', '.join(checks)}")
        ops = operations(module)
        if self.to == "llvm" and _is_plainly_llvm(module, ops):
            return
        for op in ops:
            checks[self.to](op)


def _check_linalg(op: ir.Operation) -> None:
    dialect = op.name.partition(".")[0]
    if dialect in _ABOVE_LINALG:
        raise op_error(op, "has no lowering to linalg: rewrite it in other ops")
    if op.name == "builtin.unrealized_conversion_cast":
        types = ", ".join(str(value.type) for value in (*op.operands, *op.results))
        raise op_error(op, f"between {types} is left over: one of them has no lowering")


def _is_plainly_llvm(module: ir.Operation, ops: list[ir.Operation]) -> bool:
    """Whether nothing even looks like what `_check_llvm` refuses, which takes longer to tell."""
    if not all(op.name.startswith("llvm.") or op.name == "builtin.module" for op in ops):
        return False
    # Constants are of the types that follow them.
    text = module.get_asm(large_elements_limit=4, use_local_scope=True, assume_verified=True)
    return _LIKE_SMALL_FLOAT.search(str(text)) is None


def _check_llvm(op: ir.Operation, known: set[ir.Type], dialects: tuple[str, ...]) -> None:
    """`known` are types that were found good before: their text takes the most time."""
    dialect = op.name.partition(".")[0]
    if dialect not in dialects and op.name != "builtin.module":
        raise op_error(op, "is not lowered to the LLVM dialect")
    values = [*op.results, *(arg for region in op.regions for b in region for arg in b.arguments)]
    types = [value.type for value in values]
    if dialect != "nvvm":  # whose conversions name the f8 that an integer holds
        attributes = readable_attributes(op)
        types += [type_ for _, attribute in attributes for type_ in _types_in(attribute)]
    for type_ in types:
        if type_ in known:
            continue
        known.add(type_)
        if _SMALL_FLOAT.search(str(type_)):
            raise op_error(
                op,
                f"holds {type_}, which LLVM does not know: "
                "run convert-small-floats-to-int before the conversion to LLVM",
            )


def _types_in(attribute: ir.Attribute) -> Iterator[ir.Type]:
    match attribute:
        case ir.TypeAttr():
            yield attribute.value
        case ir.ArrayAttr():
            for item in attribute:
                yield from _types_in(item)
        case ir.DictAttr():
            for item in attribute:
                yield from _types_in(item.attr)
        case _:
            yield attribute.type
