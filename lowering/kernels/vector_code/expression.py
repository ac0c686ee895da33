"""Scalar bodies of linalg ops, emitted as vector ops."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.lowering.kernels.vector_code.decode import (
    converts_by_half,
    decode_by_half,
    decoded_format,
    half_factor,
)
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText


@dataclass(frozen=True)
class Leaf:
    """A strided access to a buffer: its stride along each dimension of the product, its offset."""

    buffer: ir.Value
    strides: tuple[int, ...]
    offset: int
    subview: ir.Operation | None = None
    """The `memref.subview` whose offset, which is not known before, counts besides."""
    groups: tuple[int, ...] = ()
    """Along each dimension how many indices are a group: they have one element, as scales of groups
    do, or elements `steps` apart, as panels do; none: 1. Groups are `strides` apart."""
    steps: tuple[int, ...] = ()
    """The stride inside of a group along each dimension; none: 0."""
    bits: int = 0
    """Those of codes that lie bit-packed in bytes; strides and the offset count codes then."""

    def group(self, dimension: int) -> int:
        """How many indices along a dimension are one group."""
        return self.groups[dimension] if self.groups and self.strides[dimension] else 1

    def step(self, dimension: int) -> int:
        """The stride inside of a group along a dimension; 0 where it has one element."""
        return self.steps[dimension] if self.steps else 0

    @property
    def is_repeated(self) -> bool:
        """Whether several indices have one element."""
        pairs = zip(self.groups, self.steps or (0,) * len(self.groups), strict=True)
        return any(group > 1 and not step for group, step in pairs)

    @property
    def element(self) -> str:
        return str(self.buffer.type.element_type)


@dataclass(frozen=True)
class Expression:
    """A scalar computed from the arguments of linalg bodies.

    `sources` gives each argument: an element of a buffer, or the value that another body yields.
    """

    root: ir.Value
    sources: Mapping[ir.Value, Leaf | ir.Value]

    @property
    def leaves(self) -> list[Leaf]:
        return [source for source in self.sources.values() if isinstance(source, Leaf)]

    def decoded_format(self) -> FloatFormat | None:
        """The 8-bit format, if this only decodes a code of it to f32."""
        fmt = None
        root = self.resolved(self.root)
        if not isinstance(root, Leaf):
            fmt, _ = decoded_code(root)
        return fmt if fmt is not None and fmt.bits == fmt.storage_bits else None

    @property
    def byte_extension(self) -> str | None:
        """`arith.extsi` or `arith.extui`, where this is a byte of a buffer, extended."""
        value, name = self.resolved(self.root), None
        while not isinstance(value, Leaf):
            if not isinstance(value.owner, ir.Block):
                op = value.owner.operation
                if op.name not in ("arith.extsi", "arith.extui") or name not in (None, op.name):
                    return None
                name, value = op.name, op.operands[0]
            value = self.resolved(value)
        return name if value.element == "i8" else None

    @property
    def reads_f32(self) -> bool:
        """Whether this is an f32 number of a buffer, and nothing else."""
        value = self.resolved(self.root)
        return isinstance(value, Leaf) and value.element == "f32"

    @property
    def is_bf16(self) -> bool:
        """Whether this is a bf16 number, as f32, read or computed."""
        return self._bf16_bits() is not None

    @property
    def reads_bf16(self) -> bool:
        """Whether this is a bf16 number of a buffer, as f32, and nothing else."""
        return isinstance(self._bf16_bits(), Leaf)

    def _bf16_bits(self) -> "Leaf | ir.Value | None":
        """The 16 bits that are shifted up and taken for f32."""
        value = self.resolved(self.root)
        for name in ("arith.bitcast", "arith.shli", "arith.extui"):
            if isinstance(value, Leaf) or isinstance(value.owner, ir.Block):
                return None
            op = value.owner.operation
            if op.name != name or (name == "arith.shli" and not _is_constant(op.operands[1], 16)):
                return None
            value = self.resolved(op.operands[0])
        element = value.element if isinstance(value, Leaf) else str(value.type)
        return value if element == "i16" else None

    def resolved(self, value: ir.Value) -> "Leaf | ir.Value":
        """What a body computes of an argument of another body, or reads of a buffer."""
        while value in self.sources:
            source = self.sources[value]
            if isinstance(source, Leaf):
                return source
            value = source
        return value

    def factor(self, target: KernelTarget) -> float:
        """The power of two that decoding ends with, which may be deferred to another multiply."""
        fmt = self.decoded_format()
        return half_factor(fmt) if fmt is not None and target.half_converts else 1.0

    def write(
        self,
        text: KernelText,
        target: KernelTarget,
        lanes: int,
        load: Callable[[int], str],
        *,
        scaled: bool = True,
    ) -> str:
        """The name of a vector of `lanes` results; `load` gives that of a leaf, by its number.

        Without `scaled`, the multiplication by `factor` is left to the caller.
        """
        numbers = {
            argument: number
            for number, argument in enumerate(
                key for key, source in self.sources.items() if isinstance(source, Leaf)
            )
        }
        known: dict[ir.Value, str] = {}

        def written(value: ir.Value) -> str:
            if value not in known:
                known[value] = new(value)
            return known[value]

        def new(value: ir.Value) -> str:
            source = self.sources.get(value)
            if isinstance(source, Leaf):
                return load(numbers[value])
            if source is not None:
                return written(source)
            if target.half_converts and lanes > 1:
                fmt, code = decoded_code(value)
                if fmt is not None and fmt.bits == 8 and converts_by_half(fmt):
                    return decode_by_half(text, fmt, written(code), lanes, scaled=scaled)
            op = ir.OpResult(value).owner.operation
            if op.name == "arith.constant":
                literal = str(op.attributes["value"]).partition(" : ")[0]
                return text.constant(f"dense<{literal}> : {_vector(value, lanes)}")
            names = [written(operand) for operand in op.operands]
            types = ", ".join(_vector(operand, lanes) for operand in op.operands)
            attributes = ", ".join(f"{name} = {op.attributes[name]}" for name in op.attributes)
            return text.value(
                f'"{op.name}"({", ".join(names)}) {{{attributes}}}'
                f" : ({types}) -> {_vector(value, lanes)}"
            )

        result = written(self.root)
        if scaled or lanes > 1:
            return result
        return multiplied(text, result, 1.0 / self.factor(target), lanes)


def multiplied(text: KernelText, value: str, factor: float, lanes: int) -> str:
    """`value`, an f32 vector, times a constant."""
    vector = f"vector<{lanes}xf32>"
    constant = text.constant(f"dense<{factor:.17e}> : {vector}")
    return text.value(f"arith.mulf {value}, {constant} : {vector}")


def _is_constant(value: ir.Value, number: int) -> bool:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return False
    return ir.IntegerAttr(value.owner.operation.attributes["value"]).value == number


def _vector(value: ir.Value, lanes: int) -> str:
    return f"vector<{lanes}x{value.type}>"


def body_slice(root: ir.Value) -> tuple[list[ir.Operation], list[ir.Value]] | None:
    """The backward slice of `root` in its block, in order, and the block arguments it starts from.

    None where it has anything but arith ops and constants.
    """
    ops: dict[ir.Operation, None] = {}
    arguments: dict[ir.Value, None] = {}
    body = root.owner if isinstance(root.owner, ir.Block) else root.owner.operation.block

    def visit(value: ir.Value) -> bool:
        if isinstance(value.owner, ir.Block):
            arguments[value] = None
            return value.owner == body
        op = value.owner.operation
        if op in ops:
            return True
        if not op.name.startswith("arith.") or len(op.results) != 1:
            return False
        if not isinstance(value.type, ir.IntegerType | ir.FloatType):
            return False
        if not all(visit(operand) for operand in op.operands):
            return False
        ops[op] = None
        return True

    return (list(ops), list(arguments)) if visit(root) else None


def decoded_code(value: ir.Value) -> tuple[FloatFormat | None, ir.Value]:
    """The format and the code, where `value` is a decoded code."""
    nothing = None, value
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.bitcast":
        return nothing
    found = body_slice(value)
    if found is None:
        return nothing
    ops, arguments = found
    if len(arguments) != 1 or str(arguments[0].type) != "i8":
        return nothing
    return decoded_format(ops, arguments[0]), arguments[0]
