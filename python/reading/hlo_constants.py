"""Constants that XLA does not round-trip: they are refused.

Its parser reads a complex NaN as NaN in both parts, and in HLO text nothing else can be written. It
takes NaN, infinity and what is beyond the range for other numbers in the types that lack them.
"""

import re
import struct
from collections.abc import Iterator

from torch_mlir import ir

from mlir_fp8.base.context import format_location
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.module_places import module_place
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS
from mlir_fp8.reading.lost_numbers import lost

_COMPLEX = re.compile(r"dense<([^<>]*)> : tensor<[0-9x]*complex<f(32|64)>")
_HLO_FORMATS = {name.lower(): fmt for name, fmt in SMALL_FLOATS.items()}
_SMALL = re.compile(
    rf"\b(?P<element>{'|'.join(_HLO_FORMATS)})\s*\[[^][]*\]\s*(?:{{[^{{}}]*}})?"
    r"\s*constant\s*\((?P<numbers>(?:[^()]++|\([^()]*\))*+)\)"
)
# Not the payload of a NaN, which is hexadecimal.
_LITERAL = re.compile(r"(?<![\w.=])-?(?:inf|nan|[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)(?![\w.])")
_QUOTED_OR_COMMENT = re.compile(
    r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL
)
_HEXADECIMAL = re.compile(r"0x([0-9A-Fa-f]+)")
_WITHOUT_CONSTANTS = {name for name, fmt in FORMATS.items() if fmt.bits == 6}


def refuse_lost_numbers(text: str, name: str) -> None:
    """An error for a number in HLO text that its small float has no code for."""
    text = _QUOTED_OR_COMMENT.sub(lambda found: re.sub(r".", " ", found[0]), text)
    for constant in _SMALL.finditer(text):
        fmt = _HLO_FORMATS[constant["element"]]
        for literal in _LITERAL.finditer(text, *constant.span("numbers")):
            reason = lost(literal[0], fmt)
            if reason:
                line = text.count("\n", 0, literal.start()) + 1
                column = literal.start() - text.rfind("\n", 0, literal.start())
                raise Fp8Error(f"{name}:{line}:{column}: {literal[0]} {reason}")


def refuse_complex_nan_read(module: ir.Operation, name: str) -> None:
    """An error for a complex NaN in a module that was HLO text; `name` stands for its file."""
    for op in _complex_nan_constants(module):
        raise Fp8Error(
            f"{name}: {format_location(op.location)}: a complex constant with a NaN part, of which "
            "XLA's parser loses the other part: read it as a protocol buffer"
        )


def refuse_complex_nan_written(module: ir.Operation, name: str) -> None:
    """An error for a complex NaN in a StableHLO module that is to be HLO text."""
    for op in _complex_nan_constants(module):
        raise Fp8Error(
            f"{module_place(op.location, name)}: '{op.name}' is complex with a NaN part, which "
            "HLO text does not keep: write it as a protocol buffer"
        )


def refuse_f6(module: ir.Operation, name: str) -> None:
    """An error for a constant of f6, at which XLA would abort."""
    for op in _ops(module):
        if not op.name.endswith(".constant") or len(op.results) != 1:
            continue
        type_ = op.results[0].type
        element = str(type_.element_type) if isinstance(type_, ir.ShapedType) else ""
        if element in _WITHOUT_CONSTANTS:
            place = module_place(op.location, name)
            raise Fp8Error(
                f"{place}: '{op.name}' is of {element}: XLA has no constants of f6 types: "
                "make it an argument"
            )


def _complex_nan_constants(module: ir.Operation) -> Iterator[ir.Operation]:
    for op in _ops(module):
        # The bindings have no class for dense complex numbers; MLIR's text has all their bits.
        if any(not _is_readable(op, each) for each in op.attributes):
            found = _COMPLEX.finditer(str(op.get_asm(print_generic_op_form=True)))
            if any(_has_nan(match[1], int(match[2])) for match in found):
                yield op


def _is_readable(op: ir.Operation, attribute: str) -> bool:
    try:
        _ = op.attributes[attribute]
    except TypeError:
        return False
    return True


def _has_nan(numbers: str, bits: int) -> bool:
    """Whether a NaN is in `numbers`, as MLIR prints them: one block of bytes, or one by one."""
    infinity = (1 << (bits - 1)) - (1 << FORMATS[f"f{bits}"].mantissa_bits)
    codes: list[int]
    if numbers.startswith('"0x'):
        data = bytes.fromhex(numbers[3:-1])
        letter = "I" if bits == 32 else "Q"
        codes = list(struct.unpack(f"<{len(data) * 8 // bits}{letter}", data))
    else:
        codes = [int(match[1], 16) for match in _HEXADECIMAL.finditer(numbers)]
    magnitude = (1 << (bits - 1)) - 1
    return any(code & magnitude > infinity for code in codes)


def _ops(module: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op.operation)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return found
