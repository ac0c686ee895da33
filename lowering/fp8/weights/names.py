"""Names of arguments and of the scales of weights, in attributes that artifacts keep."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.weights.bits import BitLayout
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.packed import Layout, integers, packed_layout
from mlir_fp8.lowering.fp8.weights.scale_rules import F32, NVFP4, rules

NAME = "mlir_fp8.name"
WEIGHT_SCALE = "mlir_fp8.weight_scale"
SCALE_BLOCK = "mlir_fp8.scale_block"
SCALE_RULE = "mlir_fp8.scale_rule"
SMOOTHING = "mlir_fp8.smoothing"

_WEIGHT = "weight"


def scale_name(weight: str) -> str:
    """The name of the scale of a weight, as compressed-tensors has it."""
    return f"{weight}_scale"


def factor_name(weight: str) -> str:
    """The name of the f32 number of a whole NVFP4 weight, as NVIDIA's checkpoints have it."""
    return f"{weight}_scale_2"


def scale_names(weight: str, rule: str) -> tuple[str, ...]:
    """The names of all that a weight's codes are multiplied by."""
    names = (scale_name(weight), factor_name(weight))
    return names if rule == NVFP4 else names[:1]


def input_scale_name(weight: str) -> str:
    """The name of the scale of what the product with `weight` multiplies it by."""
    stem = weight.removesuffix(_WEIGHT)
    return f"{stem}input_scale" if stem != weight else f"{weight}_input_scale"


def own_names(function: ir.Operation) -> list[str]:
    """The name of each argument of `function`: of its attribute, its location, or its place."""
    block = function.regions[0].blocks[0]
    attributes = described(function, "arg_attrs", len(block.arguments))
    return [
        _given(each) or _located(argument) or f"arg{number}"
        for number, (argument, each) in enumerate(zip(block.arguments, attributes, strict=True))
    ]


def _given(attributes: ir.DictAttr) -> str:
    if NAME in attributes and isinstance(attributes[NAME], ir.StringAttr):
        return ir.StringAttr(attributes[NAME]).value
    return ""


def _located(argument: ir.Value) -> str:
    location = argument.location
    return location.name_str if isinstance(location, ir.NameLoc) else ""


def described(function: ir.Operation, which: str, count: int) -> list[ir.DictAttr]:
    """The attributes of each of the `count` arguments or results."""
    if which not in function.attributes:
        return [ir.DictAttr.get({}, function.context)] * count
    return [ir.DictAttr(each) for each in ir.ArrayAttr(function.attributes[which])]


@dataclass(frozen=True)
class QuantizedWeight:
    """A weight of a quantized function: its place among the arguments, and that of its scale.

    `smoothing` has factors, of its rank, that the wide weight is multiplied by before.
    """

    name: str
    argument: int
    scale_name: str
    scale_argument: int
    format: str
    blocks: Blocks
    shape: tuple[int, ...]
    """Of the weight; that of the argument is `packed.packed_shape` where it is packed."""
    smoothing: np.ndarray | None = None
    packed: Layout | None = None
    rule: str = F32
    """How a scale follows from what is in its block, see `scale_rules`."""
    apart: tuple[int, ...] = ()
    """The dimensions along which NVFP4 has a number for each index."""

    @property
    def scale_names(self) -> tuple[str, ...]:
        """The names of its scales, and with NVFP4 of the number of all of it."""
        return (self.scale_name, *scale_names(self.name, self.rule)[1:])


def smoothing_of(attributes: ir.DictAttr) -> np.ndarray | None:
    """The factors, f32, that the attributes of an argument have for its channels; None without."""
    if SMOOTHING not in attributes:
        return None
    value = attributes[SMOOTHING]
    if not isinstance(value, ir.DenseFPElementsAttr):
        raise Fp8Error(f"{SMOOTHING} is {value}: it is dense, of f32")
    return np.array(value).astype(np.float32)


def weights_of(function: ir.Operation) -> list[QuantizedWeight]:
    """The weights that `function` takes as f8 with scales, by the attributes of its arguments."""
    arguments = list(function.regions[0].blocks[0].arguments)
    attributes = described(function, "arg_attrs", len(arguments))
    names = own_names(function)
    found: list[QuantizedWeight] = []
    for number, each in enumerate(attributes):
        if WEIGHT_SCALE not in each:
            continue
        scale = str(each[WEIGHT_SCALE]).strip('"')
        if names.count(scale) != 1 or SCALE_BLOCK not in each:
            reason = f"has {WEIGHT_SCALE} = {each[WEIGHT_SCALE]}, which is no argument's name"
            raise op_error(function, f"{reason}: remove the attribute")
        type_ = ir.RankedTensorType(arguments[number].type)
        blocks = integers(each[SCALE_BLOCK])
        packed = packed_layout(each)
        element = packed.element if isinstance(packed, BitLayout) else str(type_.element_type)
        shape = tuple(type_.shape) if packed is None else packed.shape
        found.append(
            QuantizedWeight(
                *(names[number], number, scale, names.index(scale), element, blocks, shape),
                smoothing_of(each),
                packed,
                _rule(function, each),
                _apart(arguments, names, names[number]),
            )
        )
    return found


def _apart(arguments: Sequence[ir.Value], names: Sequence[str], weight: str) -> tuple[int, ...]:
    """Where the argument of an NVFP4 weight's numbers has more than one."""
    name = scale_names(weight, NVFP4)[1]
    if name not in names:
        return ()
    shape = ir.RankedTensorType(arguments[names.index(name)].type).shape
    return tuple(dim for dim, size in enumerate(shape) if size > 1)


def _rule(function: ir.Operation, attributes: ir.DictAttr) -> str:
    if SCALE_RULE not in attributes:
        return F32
    rule = str(attributes[SCALE_RULE]).strip('"')
    if rule not in rules():
        raise op_error(function, f"has {SCALE_RULE} = {rule}: it is one of {', '.join(rules())}")
    return rule


def as_pattern(name: str) -> str:
    """A pattern that `name` alone matches: what can be no weight is then left, and not refused."""
    return f"[{name[0]}]{name[1:]}" if name and name[0].isalnum() else name
