"""`stablehlo-rng-expander`: random numbers in integer ops, the same on every machine.

`rng`, whose generator the specification leaves open, takes its bits from Squares (see
docs/numerics.md), with the seed of this pass and the number of the op as stream.
`rng_bit_generator` says which bits it wants: what `stablehlo-legalize-to-linalg` gives otherwise
than XLA is expanded here.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.arithmetic._philox import philox_program
from mlir_fp8.lowering.arithmetic._squares import (
    key_constant,
    random_bits,
    require_seed,
    squares_key,
)
from mlir_fp8.lowering.rewriting.stablehlo import empty_constant, has_static_shape
from mlir_fp8.lowering.rewriting.text_expansion import expand, replace_by


@dataclass(frozen=True)
class StablehloRngExpander(ModulePass):
    """Replace `rng`, and `rng_bit_generator` where it is PHILOX with a state of three words.

    UNIFORM floats are a + (b - a) * u with u = 24 random bits / 2^24 (f64: 53 bits / 2^53), in f32
    for narrow floats, which are rounded then; integers are a + bits mod (b - a), 64 bits. NORMAL is
    mean + deviation * sqrt(2) * erf_inv(2u - 1), u half a step above. Options: `seed`; the same
    seed gives the same numbers in each run.
    """

    seed: int = 0

    def run(self, module: ir.Operation) -> None:
        require_seed(self.seed)
        for stream, op in enumerate(operations(module, "stablehlo.rng", inner_first=True)):
            _expand_rng(op, self.seed, stream)
        for op in operations(module, "stablehlo.rng_bit_generator", inner_first=True):
            _expand_bits(op)


def _expand_bits(op: ir.Operation) -> None:
    element = str(ir.RankedTensorType(op.results[1].type).element_type)
    words = ir.RankedTensorType(op.operands[0].type).shape[0]
    is_long = "PHILOX" in str(op.attributes["rng_algorithm"]) and words == 3
    fmt = FORMATS.get(element)
    if fmt is not None and fmt.bits >= 8:
        raise op_error(op, f"of {element} is not lowered: bitcast_convert ui{fmt.bits} bits")
    if fmt is not None or element.lstrip("ui") in ("2", "4"):
        raise op_error(op, f"of {element} is not lowered: take the low bits of ui8")
    if has_static_shape(op.results[1]) and not math.prod(op.results[1].type.shape):
        # No bits are taken from the state, which stays what it is.
        replace_op(op, [op.operands[0], empty_constant(op, op.results[1].type)])
    elif is_long:
        expand(op, philox_program)


def _expand_rng(op: ir.Operation, seed: int, stream: int) -> None:
    result = op.results[0]
    if not has_static_shape(result):
        raise op_error(op, f"of {result.type} needs a static shape: refine shapes first")
    element = str(ir.RankedTensorType(result.type).element_type)
    is_normal = "NORMAL" in str(op.attributes["rng_distribution"])
    is_float = element.startswith(("f", "bf"))
    if is_normal and not is_float:
        raise op_error(op, f"NORMAL on {element} is not possible: convert a float's")
    if not math.prod(result.type.shape):
        return
    with op.location, ir.InsertionPoint(op):
        bits = [
            random_bits(result.type, key_constant(squares_key(seed, 2 * stream + half)))
            for half in range(2)
        ]
    shape = "".join(f"{size}x" for size in result.type.shape)
    text = _Float(shape, element).program(is_normal) if is_float else _integer(shape, element)
    replace_by(op, text, [op.operands[0], op.operands[1], *bits])


def _sixty_four(shape: str) -> str:
    """%all: i64 from both streams, the first one's bits on top."""
    kind = f"tensor<{shape}i64>"
    return f"""%places = stablehlo.constant dense<32> : {kind}
      %top = stablehlo.shift_left %bits0, %places : {kind}
      %all = stablehlo.or %top, %bits1 : {kind}"""


def _arguments(shape: str, element: str) -> str:
    bits = f"tensor<{shape}i64>"  # below 2^32
    return f"%a: tensor<{element}>, %b: tensor<{element}>, %bits0: {bits}, %bits1: {bits}"


class _Float:
    """The program of one float type: `wide` is what it computes in."""

    def __init__(self, shape: str, element: str) -> None:
        self.wide = "f64" if element == "f64" else "f32"
        self.shape, self.element = shape, element
        self.kind, self.given = f"tensor<{shape}{self.wide}>", f"tensor<{shape}{element}>"

    def program(self, is_normal: bool) -> str:
        bits, words, source = 24, "", "%bits0"
        if self.wide == "f64":
            bits, words, source = 53, _sixty_four(self.shape), "%all"
        integers = f"tensor<{self.shape}i64>"
        cut = (64 if self.wide == "f64" else 32) - bits
        body = self._normal(bits) if is_normal else self._uniform()
        return f"""func.func @rng({_arguments(self.shape, self.element)}) -> {self.given} {{
      {words}
      %cut = stablehlo.constant dense<{cut}> : {integers}
      %kept = stablehlo.shift_right_logical {source}, %cut : {integers}
      %steps = stablehlo.convert %kept : ({integers}) -> {self.kind}
      %step = stablehlo.constant dense<{2.0**-bits!r}> : {self.kind}
      %u = stablehlo.multiply %steps, %step : {self.kind}
      {self._spread("a")}
      {self._spread("b")}
      {body}
      %result = stablehlo.convert %wide : ({self.kind}) -> {self.given}
      return %result : {self.given}
    }}"""

    def _spread(self, name: str) -> str:
        one = f"tensor<{self.wide}>"
        return f"""%{name}_wide = stablehlo.convert %{name} : (tensor<{self.element}>) -> {one}
      %{name}s = stablehlo.broadcast_in_dim %{name}_wide, dims = [] : ({one}) -> {self.kind}"""

    def _uniform(self) -> str:
        """Below b, also where the sum rounds to it."""
        mask = f"tensor<{self.shape}i1>"
        return f"""%width = stablehlo.subtract %bs, %as : {self.kind}
      %part = stablehlo.multiply %width, %u : {self.kind}
      %sum = stablehlo.add %as, %part : {self.kind}
      %is_below = stablehlo.compare LT, %sum, %bs : ({self.kind}, {self.kind}) -> {mask}
      %wide = stablehlo.select %is_below, %sum, %as : {mask}, {self.kind}"""

    def _normal(self, bits: int) -> str:
        return f"""%half = stablehlo.constant dense<{2.0 ** -(bits + 1)!r}> : {self.kind}
      %inside = stablehlo.add %u, %half : {self.kind}
      %two = stablehlo.constant dense<2.0> : {self.kind}
      %one = stablehlo.constant dense<1.0> : {self.kind}
      %double = stablehlo.multiply %two, %inside : {self.kind}
      %x = stablehlo.subtract %double, %one : {self.kind}
      %erf_inv = "chlo.erf_inv"(%x) : ({self.kind}) -> {self.kind}
      %root = stablehlo.constant dense<{math.sqrt(2)!r}> : {self.kind}
      %z = stablehlo.multiply %root, %erf_inv : {self.kind}
      %scaled = stablehlo.multiply %bs, %z : {self.kind}
      %wide = stablehlo.add %as, %scaled : {self.kind}"""


def _integer(shape: str, element: str) -> str:
    """In ui64, where the difference of two integers of any type is right modulo 2^64."""
    kind, given = f"tensor<{shape}ui64>", f"tensor<{shape}{element}>"
    to = "ui64" if element in ("i1", "ui64") or element.startswith("ui") else "i64"
    spread = "\n      ".join(
        f"""%{name}_wide = stablehlo.convert %{name} : (tensor<{element}>) -> tensor<{to}>
      %{name}_bits = stablehlo.bitcast_convert %{name}_wide : (tensor<{to}>) -> tensor<ui64>
      %{name}s = stablehlo.broadcast_in_dim %{name}_bits, dims = [] : (tensor<ui64>) -> {kind}"""
        for name in "ab"
    )
    return f"""func.func @rng({_arguments(shape, element)}) -> {given} {{
      {_sixty_four(shape)}
      {spread}
      %width = stablehlo.subtract %bs, %as : {kind}
      %one = stablehlo.constant dense<1> : {kind}
      %some = stablehlo.maximum %width, %one : {kind}
      %bits = stablehlo.bitcast_convert %all : (tensor<{shape}i64>) -> {kind}
      %part = stablehlo.remainder %bits, %some : {kind}
      %sum = stablehlo.add %as, %part : {kind}
      %signed = stablehlo.bitcast_convert %sum : ({kind}) -> tensor<{shape}{to}>
      %result = stablehlo.convert %signed : (tensor<{shape}{to}>) -> {given}
      return %result : {given}
    }}"""
