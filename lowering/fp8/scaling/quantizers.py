"""The tensors of a function that are to be quantized, each once per format, under a name."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaling.origins import Origin
from mlir_fp8.lowering.rewriting.stablehlo import build, convert


@dataclass(eq=False)
class Quantizer:
    """A tensor, how it is to be quantized, and, once that is done, what it was quantized to.

    The tensor is `value` converted to each of `narrowed` in turn; `name` is that of its state.
    """

    name: str
    value: ir.Value
    narrowed: tuple[ir.Type, ...]
    format: str
    quantized: ir.Value | None = None
    scale: ir.Value | None = None
    readers: list[ir.Operation] = field(default_factory=list)
    """What reads `value` in order to quantize it."""
    _moved: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def source(self) -> ir.Value:
        """The tensor in f32, in which it is scaled, made at the current insertion point."""
        value = self.value
        for element in self.narrowed:
            value = convert(value, element)
        return convert(value, ir.F32Type.get())

    def moved(self, origin: Origin) -> ir.Value:
        """The quantized tensor in the arrangement of `origin`'s tensor."""
        value = self.quantized
        assert value is not None
        for op in origin.moves:
            moved = op.results[0]
            if moved not in self._moved:
                self._moved[moved] = _moved_as(op, value)
            value = self._moved[moved]
        return value


class Quantizers:
    """The quantizers that a pass asks for, in order."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._found: dict[tuple[ir.Value, tuple[ir.Type, ...], str], Quantizer] = {}

    def of(self, origin: Origin, format: str, name: str) -> Quantizer:  # noqa: A002 - MLIR's word
        """The one quantizer of a tensor to a format; `name` is its name if both are new."""
        key = (origin.value, origin.narrowed, format)
        if key not in self._found:
            self._found[key] = Quantizer(self._unused(name), origin.value, origin.narrowed, format)
        return self._found[key]

    def _unused(self, name: str) -> str:
        """`name`, or with a number after it: passes may run one after another."""
        numbered = (f"{name}.{number}" for number in itertools.count(1))
        candidates = itertools.chain([name], numbered)
        unused = next(each for each in candidates if each not in self._taken)
        self._taken.add(unused)
        return unused

    def all(self) -> list[Quantizer]:
        return list(self._found.values())


def erase_unused(ops: Iterable[ir.Operation]) -> None:
    """Erase those of `ops`, all free of effects, whose results nothing reads any more."""
    left = list(dict.fromkeys(ops))
    before = 0
    while len(left) != before:
        before = len(left)
        kept: list[ir.Operation] = []
        # Those that read others mostly come after them.
        for op in reversed(left):
            if any(next(iter(result.uses), None) for result in op.results):
                kept.append(op)
            else:
                op.erase()
        left = kept[::-1]


def _moved_as(op: ir.Operation, value: ir.Value) -> ir.Value:
    moved = ir.RankedTensorType(op.results[0].type)
    attributes = {name: op.attributes[name] for name in op.attributes}
    with ir.InsertionPoint.after(op), op.location:
        element = ir.RankedTensorType(value.type).element_type
        type_ = ir.RankedTensorType.get(moved.shape, element)
        return build(op.name.removeprefix("stablehlo."), type_, [value], attributes)
