"""Tensors as they travel: codes and scales made before a collective, and read after it."""

from dataclasses import replace

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.collectives.options import WireOptions
from mlir_fp8.lowering.fp8.ops.scaling import number
from mlir_fp8.lowering.fp8.scaling.gradients import backward_name
from mlir_fp8.lowering.fp8.scaling.origins import origin
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.moves import moved
from mlir_fp8.lowering.fp8.weights.scaled import Scaled, block_amax, codes_of, scale_of_amax
from mlir_fp8.lowering.rewriting.collectives import Group, all_reduce
from mlir_fp8.lowering.rewriting.shardings import share
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, with_element

WIRE = "mlir_fp8.wire"
"""On what reads codes that travelled: so a dot takes them as they are. Its text is the group over
which one scale holds, or empty."""


def format_of(op: ir.Operation, options: WireOptions) -> str:
    """The format in which `op` moves its data."""
    return options.forward if backward_name(op) is None else options.backward


def blocks_of(shape: list[int], scales: str) -> Blocks:
    """The blocks that have a scale each, of what one device holds."""
    if scales == "tensor":
        return (0,) * len(shape)
    if scales == "row" and len(shape) > 1:
        return (*(1 for _ in shape[:-1]), shape[-1])
    return tuple(shape)


def quantized(
    x: ir.Value, blocks: Blocks, format_: str, options: WireOptions, group: Group | None = None
) -> Scaled:
    """`x` in `format_` with the scales of its blocks; one scale is that of all of `group`.

    An infinity or a NaN among what shares a scale makes all of that NaN: it is not to be lost.
    """
    wide = convert(x, ir.F32Type.get())
    amax = block_amax(wide, blocks)
    if group is not None and not any(blocks):
        amax = all_reduce(amax, group, "maximum")
    scale = scale_of_amax(amax, format_, is_power_of_two=options.power_of_two)
    flags = build("is_finite", with_element(amax.type, ir.IntegerType.get_signless(1)), [amax])
    scale = build("select", scale.type, [flags, scale, number(scale.type, float("nan"))])
    codes = codes_of(wide, scale, blocks, format_)
    share(codes, x)
    share(scale, x)
    return Scaled(codes, scale, blocks)


def wide(scaled: Scaled, element: ir.Type, note: str = "") -> ir.Value:
    """What `scaled` stands for, in `element`: dequantized in f32, and rounded once."""
    value = scaled.wide(ir.F32Type.get())
    op = producer(value)
    assert op is not None
    op.attributes[WIRE] = ir.StringAttr.get(note)
    return convert(value, element)


def on_the_wire(value: ir.Value) -> Scaled | None:
    """The codes and scales of `value`, moved as it is; None where it did not travel in FP8."""
    source = origin(value)
    op = _dequantized(source.value)
    if op is None:
        return None
    codes, scale = op.operands
    shape, sizes = (list(ir.RankedTensorType(each.type).shape) for each in (codes, scale))
    counts = sizes or shape
    blocks = tuple(size // count for size, count in zip(shape, counts, strict=True))
    scaled: Scaled | None = Scaled(codes, scale, blocks if sizes else (0,) * len(shape))
    for move in source.moves:
        scaled = None if scaled is None else moved(move, 0, scaled)
    return scaled


def travelled(value: ir.Value) -> bool:
    """Whether `value` is read of codes that travelled, whatever moved it since."""
    return _dequantized(origin(value).value) is not None


def holds_over(value: ir.Value, group: Group) -> bool:
    """Whether the one scale of `value`, which travelled, is that of all of `group`."""
    op = _dequantized(origin(value).value)
    return op is not None and ir.StringAttr(op.attributes[WIRE]).value == note_of(group)


def note_of(group: Group) -> str:
    """What `WIRE` says where one scale holds for all of a group."""
    return str(group.rows.tolist())


def _dequantized(value: ir.Value) -> ir.Operation | None:
    op = producer(value)
    is_wire = op is not None and op.name == "fp8.dequantize" and WIRE in op.attributes
    return op if is_wire else None


def as_bits(codes: ir.Value) -> ir.Value:
    """The bits of codes, ui8."""
    bits = with_element(codes.type, ir.IntegerType.get_unsigned(8))
    return build("bitcast_convert", bits, [codes])


def from_bits(bits: ir.Value, element: ir.Type) -> ir.Value:
    """The codes of type `element` whose bits are `bits`."""
    return build("bitcast_convert", with_element(bits.type, element), [bits])


def with_dims(scaled: Scaled) -> Scaled:
    """`scaled` with a scale of the rank of its codes."""
    shape = list(ir.RankedTensorType(scaled.codes.type).shape)
    if ir.RankedTensorType(scaled.scale.type).rank == len(shape):
        return scaled
    ones = ir.RankedTensorType.get([1] * len(shape), ir.F32Type.get())
    return replace(scaled, scale=build("reshape", ones, [scaled.scale]), blocks=tuple(shape))
