"""Random bits for stochastic rounding: Squares, a counter-based generator, as StableHLO ops.

B. Widynski, "Squares: A Fast Counter-Based RNG", arXiv:2004.06278: four rounds of squaring give 32
bits for each 64-bit counter under a 64-bit key. The counter is an element's linear index, so that
its bits depend on neither machine, engine, threads nor order. Keys come from SplitMix64 (Steele,
Lea and Flood, OOPSLA 2014; constants of S. Vigna's splitmix64.c), and are odd.

All is arithmetic modulo 2^64 in signless integers, which StableHLO reads as signed: additions,
products and logical shifts are the same for both.
"""

import math

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.rewriting.stablehlo import build, splat, with_element

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST_SHIFT = 31


def require_seed(seed: int) -> None:
    """Refuse what the formula would take for another seed."""
    if not 0 <= seed <= _MASK:
        raise Fp8Error(f"seed is {seed}: give a number from 0 to {_MASK}")


def squares_key(seed: int, stream: int) -> int:
    """The key of stream number `stream` of `seed`: splitmix64(splitmix64(seed) + stream) | 1."""
    return _splitmix64((_splitmix64(seed & _MASK) + stream) & _MASK) | 1


def _splitmix64(state: int) -> int:
    """The first output of SplitMix64 in `state`."""
    z = (state + _GAMMA) & _MASK
    for shift, factor in _MIXERS:
        z = ((z ^ (z >> shift)) * factor) & _MASK
    return z ^ (z >> _LAST_SHIFT)


def key_constant(key: int) -> ir.Value:
    """`key` as a tensor<i64>."""
    return splat(_scalar(), _signed(key))


def run_time_key(seed: ir.Value, stream: int) -> ir.Value:
    """`squares_key` of a seed, a tensor<ui64>, that is known only when the module runs."""
    state = build("bitcast_convert", _scalar(), [seed])
    mixed = _emitted_splitmix64(state)
    mixed = _emitted_splitmix64(_op("add", mixed, stream))
    return _op("or", mixed, 1)


def random_bits(tensor: ir.Type, key: ir.Value) -> ir.Value:
    """For each element of a static `tensor`, 32 random bits, 0 to 2^32 - 1, as i64."""
    shape = with_element(tensor, ir.IntegerType.get_signless(64))
    none = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    key = build("broadcast_in_dim", shape, [key], none)
    y = x = build("multiply", shape, [_linear_index(shape), key])
    z = build("add", shape, [y, key])
    for addend in (y, z, y):
        x = build("add", shape, [build("multiply", shape, [x, x]), addend])
        halves = [_op("shift_right_logical", x, 32), _op("shift_left", x, 32)]
        x = build("or", shape, halves)
    x = build("add", shape, [build("multiply", shape, [x, x]), z])
    return _op("shift_right_logical", x, 32)


def _linear_index(shape: ir.Type) -> ir.Value:
    """Of each element, in row-major order; a sum per dimension, which loops over elements fuse."""
    sizes = ir.RankedTensorType(shape).shape
    total = splat(shape, 0)
    for dimension, size in enumerate(sizes):
        if size == 1:
            continue
        attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)
        index = build("iota", shape, [], {"iota_dimension": attribute})
        stride = math.prod(sizes[dimension + 1 :])
        total = build("add", shape, [total, _op("multiply", index, stride)])
    return total


def _emitted_splitmix64(state: ir.Value) -> ir.Value:
    z = _op("add", state, _GAMMA)
    for shift, factor in _MIXERS:
        z = build("xor", z.type, [z, _op("shift_right_logical", z, shift)])
        z = _op("multiply", z, factor)
    return build("xor", z.type, [z, _op("shift_right_logical", z, _LAST_SHIFT)])


def _op(name: str, value: ir.Value, number: int) -> ir.Value:
    return build(name, value.type, [value, splat(value.type, _signed(number))])


def _signed(number: int) -> int:
    """`number` modulo 2^64 as the signed integer of the same bits, which the bindings take."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _scalar() -> ir.Type:
    return ir.RankedTensorType.get([], ir.IntegerType.get_signless(64))
