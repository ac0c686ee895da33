"""Small floats stored as ui8: the marks that tell which, and the ops that are valid on codes.

Three discardable attributes, all strings or lists of strings, which every StableHLO version keeps:

- `mlir_fp8.emulated`: what a function argument or result was; on an op, what each result was;
- `mlir_fp8.emulated_arguments`: on an op, what the arguments of each of its regions were;
- `mlir_fp8.emulates`: on a private function, the op that a call of it stands for.

What a value was is the name of its element type, `_` if that did not change, one per element type
in it, comma-separated: a tuple of tensors of f8E4M3 and f32 is `f8E4M3,_`.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import SMALL_FLOATS, FloatFormat
from mlir_fp8.lowering.arithmetic.float_normalization import BODIES, MOVEMENT
from mlir_fp8.lowering.rewriting.retype import retype
from mlir_fp8.lowering.rewriting.stablehlo import names

PREFIX = "mlir_fp8."
"""Of every name that emulation puts into a module; reserved for it."""
MARK = f"{PREFIX}emulated"
ARGUMENT_MARKS = f"{PREFIX}emulated_arguments"
HELPER = f"{PREFIX}emulates"
UNCHANGED = "_"
EMULATED_OPS = ("stablehlo.convert", "stablehlo.bitcast_convert")
"""What such a function can stand for."""

_CARRIERS = (MOVEMENT | BODIES | names("func", "call func return")) - names(
    "stablehlo", "async_done async_start custom_call infeed outfeed recv send"
)
_MOVING_CALLS = frozenset(
    {
        "annotate_device_placement",
        "Sharding",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
    }
)
_FORMAT_NAME = re.compile(r"\bf[468]E\d\w*")


def version_key(version: str) -> tuple[int, ...]:
    """`version`, x.y.z, in a form that orders as versions do."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise Fp8Error(f"target '{version}' is not a version x.y.z")
    return tuple(map(int, version.split(".")))


def formats_newer_than(version: str) -> dict[str, FloatFormat]:
    """The small floats that StableHLO `version` does not know, by name."""
    return {
        name: fmt
        for name, fmt in SMALL_FLOATS.items()
        if version_key(fmt.stablehlo_version) > version_key(version)
    }


def storage_type() -> ir.Type:
    """The storage type of a code, in its low bits: ui8, which every version has."""
    return ir.IntegerType.get_unsigned(8)


def emulated(type_: ir.Type, formats: Collection[str]) -> ir.Type:
    """`type_` with the storage type in place of `formats`."""
    return retype(type_, lambda leaf: storage_type() if str(leaf) in formats else leaf)


def mark_of(type_: ir.Type, formats: Collection[str]) -> str | None:
    """The mark of a value of `type_`; None where no element type in it is one of `formats`."""
    leaves: list[str] = []

    def collect(leaf: ir.Type) -> ir.Type:
        leaves.append(str(leaf) if str(leaf) in formats else UNCHANGED)
        return leaf

    retype(type_, collect)
    return None if set(leaves) <= {UNCHANGED} else ",".join(leaves)


def restored(op: ir.Operation, type_: ir.Type, mark: str) -> ir.Type:
    """The type that `mark` says a value of `type_` had; `op` holds it."""
    leaves = iter(mark.split(","))

    def restore(leaf: ir.Type) -> ir.Type:
        name = next(leaves, "nothing")
        if name == UNCHANGED:
            return leaf
        if name not in SMALL_FLOATS or leaf != storage_type():
            raise edited(op, f"marks {leaf} as {name}")
        return ir.Type.parse(name)

    type_ = retype(type_, restore)
    if rest := list(leaves):
        raise edited(op, f"marks more than {type_} as {','.join(rest)}")
    return type_


def is_emulated(op: ir.Operation) -> bool:
    """Whether emulation left a mark on `op` itself, an attribute or a name."""
    if any(key in op.attributes for key in (MARK, ARGUMENT_MARKS, HELPER)):
        return True
    if op.name != "func.func":
        return False
    return ir.StringAttr(op.attributes["sym_name"]).value.startswith(PREFIX) or any(
        MARK in each for key in ("arg_attrs", "res_attrs") for each in attributes_of(op, key)
    )


def attributes_of(function: ir.Operation, key: str) -> list[dict[str, ir.Attribute]]:
    """Those of each argument (`arg_attrs`) or result (`res_attrs`); empty where none has any."""
    if key not in function.attributes:
        return []
    each = [ir.DictAttr(item) for item in ir.ArrayAttr(function.attributes[key])]
    return [{item.name: item.attr for item in attributes} for attributes in each]


def dense(bits: np.ndarray, tensor: ir.Type) -> ir.Attribute:
    """A constant of type `tensor` with these bits."""
    attribute: Any = ir.DenseElementsAttr
    return attribute.get(bits, type=tensor)


def enclosing_module(op: ir.Operation) -> ir.Operation:
    """The innermost module around `op`, which is where a function that it calls has to be."""
    parent = op.parent
    while parent is not None and parent.operation.name != "builtin.module":
        parent = parent.operation.parent
    assert parent is not None, "a pass runs on a module"
    return parent.operation


def edited(op: ir.Operation, reason: str) -> Fp8Error:
    """The error for a module whose marks contradict it."""
    return op_error(op, f"{reason}: the module was changed since it was emulated; do not raise it")


class Carriers:
    """Which ops may have values of the emulated formats, that is, mean the same on their codes."""

    def __init__(self, formats: Mapping[str, FloatFormat]) -> None:
        self.formats = formats
        self._found: dict[ir.Type, str | None] = {}

    def named_in(self, type_: ir.Type) -> str | None:
        """The first of the formats that the text of `type_` names, in however hidden a place."""
        if type_ not in self._found:
            self._found[type_] = self._named(str(type_))
        return self._found[type_]

    def _named(self, text: str) -> str | None:
        # Shapes stand right before the name: 4xf8E4M3.
        pieces = _FORMAT_NAME.findall(re.sub(r"(?<=[\d?*])x", " ", text))
        return next((name for name in pieces if name in self.formats), None)

    def format_at(self, op: ir.Operation) -> str | None:
        """The first of the formats among operands, results and region arguments of `op`."""
        found = (self.named_in(value.type) for value in _values(op))
        return next((name for name in found if name is not None), None)

    def check(self, op: ir.Operation) -> str | None:
        """Why `op` cannot work on codes; None where it can, or has nothing to do with them."""
        for value in _values(op):
            if self.named_in(value.type) is None:
                continue
            name = self.named_in(emulated(value.type, self.formats))
            if name is not None:
                return f"has a value of type {value.type}, in which {name} cannot become ui8"
        name = self.format_at(op)
        if name is not None:
            reason = _reason(op, name)
            if reason is not None:
                return reason
        return self._check_attributes(op)

    def _check_attributes(self, op: ir.Operation) -> str | None:
        for key in op.attributes:
            if (op.name, key) in _TYPED_ATTRIBUTES:
                continue
            try:
                name = self._named_in_attribute(op.attributes[key])
            except TypeError as error:  # how the bindings refuse dense complex numbers
                name = self._named(str(error))
            if name is not None:
                return f"has {name} in attribute '{key}', which cannot be emulated"
        return None

    def _named_in_attribute(self, attribute: ir.Attribute) -> str | None:
        match attribute:
            case ir.StringAttr() | ir.FlatSymbolRefAttr():
                return None
            case ir.TypeAttr():
                return self.named_in(attribute.value)
            case ir.ArrayAttr():
                inner = [self._named_in_attribute(item) for item in attribute]
            case ir.DictAttr():
                inner = [self._named_in_attribute(item.attr) for item in attribute]
            case ir.DenseElementsAttr() | ir.DenseResourceElementsAttr():
                return self.named_in(attribute.type)
            case _:
                return self._named(str(attribute))
        return next((name for name in inner if name is not None), None)


_TYPED_ATTRIBUTES = {("stablehlo.constant", "value"), ("func.func", "function_type")}
"""Where emulation does change types."""


def _reason(op: ir.Operation, name: str) -> str | None:
    if op.name == "stablehlo.custom_call":
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        if target in _MOVING_CALLS:
            return None
        return f"takes or gives {name}, and '{target}' would not know that ui8 stands for it"
    if op.name.startswith("chlo."):
        return f"works on {name}; run chlo-legalize-to-stablehlo first"
    if op.name == "stablehlo.convert" and op.operands[0].type == op.results[0].type:
        return None
    if op.name not in _CARRIERS:
        return f"has no form on codes of {name}; convert to f32 before it and back after"
    return None


def _values(op: ir.Operation) -> Iterator[ir.Value]:
    yield from op.operands
    yield from op.results
    for region in op.regions:
        for block in region:
            yield from block.arguments
