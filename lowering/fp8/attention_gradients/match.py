"""An attention and its gradients around an exponential, recognized by what they compute."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.attention_gradients.labels import (
    DEPTH,
    SPREAD,
    WIDTH,
    DotNumbers,
    Labels,
    Named,
    named,
    narrowed,
    of_other,
    of_result,
)
from mlir_fp8.lowering.fp8.attention_gradients.scores import Scores, causal_row, read_scores
from mlir_fp8.lowering.fp8.attention_gradients.terms import (
    E,
    G,
    P,
    Sum,
    Terms,
    softmax_gradient,
    times_of,
)
from mlir_fp8.lowering.fp8.scaled_dot.values import format_of, shape
from mlir_fp8.lowering.rewriting.stablehlo import element_type

DOT = "stablehlo.dot_general"


@dataclass(frozen=True)
class Product:
    """A dot whose result, of `labels`, an op gives."""

    op: ir.Operation
    labels: Labels


@dataclass(frozen=True)
class Training:
    """What the two ops are made of, and the products that they take the place of.

    The attention comes `before` the first of these, its gradients before the first of theirs. `dp`
    is the product of `gradient` and v. Where a program computes the probabilities again for their
    gradients, `out` is None: the result is computed again too.
    """

    scores: Scores
    v: Named
    gradient: Named
    key: int
    out: Product | None
    dq: Product
    dk: Product
    dv: Product
    dp: ir.Operation
    before: tuple[ir.Operation, ir.Operation]


def match_training(exponential: ir.Operation) -> Training | str | None:
    """The attention around `exponential` with its gradients; why it is none that ops have; None
    where no gradients are of its probabilities."""
    return _Match(exponential).found()


class _Match:
    def __init__(self, exponential: ir.Operation) -> None:
        self.e = exponential.results[0]
        sizes = shape(self.e)
        self.labels: Labels = tuple(None if size == 1 else dim for dim, size in enumerate(sizes))
        self.key = len(sizes) - 1
        block = [each.operation for each in exponential.block.operations]
        self.place = {op: at for at, op in enumerate(block)}
        self.dots = [op for op in block[self.place[exponential] :] if op.name == DOT]
        self.v: Named | None = None
        self.gradient: Named | None = None
        self.dp: ir.Operation | None = None
        self.causal: int | None = None
        self.terms = self._terms()

    def found(self) -> Training | str | None:
        products = [each for dot in self.dots for each in self._weighing(dot)]
        factors = {times for *_, times in products} - {1.0}
        out = [each for each in products if each[1] == {self.key}]
        of_values = [each for each in products if self.key not in each[1]]
        if not of_values:
            return None
        if factors:
            return f"its probabilities are scaled by {factors.pop():g} before a product"
        scores = self._scores()
        if isinstance(scores, str):
            return scores
        if len(out) > 1 or len(of_values) > 1 or of_values[0][1] != set(scores.rows):
            return "its probabilities weigh more than values and gradients"
        self.gradient = self._other(of_values[0][0], of_values[0][2])
        self.v = self._other(out[0][0], out[0][2]) if out else None
        if self.gradient is None or (out and self.v is None):
            return "heads of v are of more than one dimension"
        both = self._of_scores(scores)
        if isinstance(both, str):
            return both
        assert self.dp is not None and self.v is not None
        dq, dk = both
        dv = self._product(of_values[0][0], of_values[0][2])
        made = self._product(out[0][0], out[0][2]) if out else None
        later = min(dv.op, dq.op, dk.op, key=self.place.__getitem__)
        first = later if made is None else min(made.op, later, key=self.place.__getitem__)
        if not self._is_there(first, self.v) or not self._is_there(later, self.gradient):
            return "v or the gradient of its result is computed behind what they are multiplied by"
        return Training(
            scores, self.v, self.gradient, self.key, made, dq, dk, dv, self.dp, (first, later)
        )

    def _is_there(self, before: ir.Operation, each: Named) -> bool:
        """Whether a value is known at a place in the block."""
        op = producer(each.value)
        return op is None or self.place.get(op, -1) < self.place[before]

    def _terms(self) -> Terms:
        """As far as gradients and the mask are known so far."""
        known = {self.e: ({((E, 1),): 1.0}, self.labels)}
        return Terms(self.key, known, self._of_dot, self._is_seen)

    def _scores(self) -> Scores | str:
        difference = producer(producer(self.e).operands[0])  # pyright: ignore[reportOptionalMemberAccess]
        if difference is None or difference.name != "stablehlo.subtract":
            return "its softmax subtracts nothing of a row"
        x, most = difference.operands
        op = producer(most)
        is_of_rows = op is not None and op.name == "stablehlo.broadcast_in_dim"
        if op is not None and is_of_rows:
            places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
            sizes = shape(op.operands[0])
            is_of_rows = self.key not in places or sizes[places.index(self.key)] == 1
        if not is_of_rows:
            return "its softmax subtracts nothing of a row"
        return read_scores(x, self.labels, self.key)

    def _weighing(self, dot: ir.Operation) -> list[tuple[ir.Operation, set[int], int, float]]:
        """The dot with the labels that it sums over, and the side, where it has P times what."""
        return [
            (dot, {label for label in over if label is not None}, side, times)
            for side, times, over in self._sides(dot, P)
        ]

    def _sides(self, dot: ir.Operation, of: Sum) -> list[tuple[int, float, list[int | None]]]:
        """The sides of `dot` that are `of`, times what, and the labels that are summed over."""
        found: list[tuple[int, float, list[int | None]]] = []
        size = _count(self.e)
        for side, value in enumerate(dot.operands):
            term = self.terms.of(value) if _count(value) == size else None
            times = None if term is None else times_of(term[0], of)
            if term is not None and times is not None and SPREAD not in term[1]:
                over = [term[1][dim] for dim in DotNumbers.of(dot).contracting[side]]
                found.append((side, times, over))
        return found

    def _labels(self, dot: ir.Operation, side: int) -> Labels:
        term = self.terms.of(dot.operands[side])
        assert term is not None
        return term[1]

    def _other(self, dot: ir.Operation, side: int, free: int = WIDTH) -> Named | None:
        labels = of_other(dot, side, self._labels(dot, side), free)
        return None if labels is None else named(dot.operands[1 - side], labels)

    def _product(self, dot: ir.Operation, side: int, free: int = WIDTH) -> Product:
        own = self._labels(dot, side)
        other = of_other(dot, side, own, free)
        assert other is not None
        labels = of_result(dot, (own, other) if side == 0 else (other, own))
        assert labels is not None
        return Product(dot, labels)

    def _of_dot(self, dot: ir.Operation) -> tuple[Sum, Labels] | None:
        """G, where `dot` is the gradient of the result by the values, which are known then."""
        for side in range(2) if self.gradient is not None else ():
            assert self.gradient is not None
            own = _labels_of(dot.operands[side], self.gradient)
            other = None if own is None else of_other(dot, side, own, self.key)
            if own is None or other is None:
                continue
            summed = [own[dim] for dim in DotNumbers.of(dot).contracting[side]]
            result = of_result(dot, (own, other) if side == 0 else (other, own))
            v = named(dot.operands[1 - side], other)
            is_known = self.v is None or narrowed(v) == narrowed(self.v)
            is_of_width = [each for each in summed if each is not None] == [WIDTH]
            if result is not None and is_known and is_of_width:
                self.v, self.dp = self.v or v, dot
                return {((G, 1),): 1.0}, result
        return None

    def _is_seen(self, mask: ir.Value, labels: Labels) -> bool:
        return self.causal is not None and causal_row(mask, labels, self.key) == self.causal

    def _of_scores(self, scores: Scores) -> tuple[Product, Product] | str:
        """The products that give dq and dk."""
        self.causal = None if scores.mask_value is None else scores.query
        self.terms = self._terms()
        found: dict[str, list[Product]] = {"dq": [], "dk": []}
        for dot in self.dots:
            for side, times, over in self._sides(dot, softmax_gradient()):
                summed = {label for label in over if label is not None}
                name = "dq" if summed == {self.key} else "dk"
                if abs(times - scores.scale) > _accuracy(scores.q.value) * abs(scores.scale):
                    return f"its scores are scaled by {scores.scale:g}, gradients by {times:g}"
                operand = scores.k if name == "dq" else scores.q
                other = self._other(dot, side, DEPTH)
                is_known = other is not None and narrowed(other) == narrowed(operand)
                if not is_known or (name == "dk" and summed != set(scores.rows)):
                    return f"{DOT} multiplies gradients of its scores by other than q and k"
                found[name].append(self._product(dot, side, DEPTH))
        if [len(each) for each in found.values()] != [1, 1]:
            return "gradients of its scores do not become those of q and of k"
        return found["dq"][0], found["dk"][0]


def _accuracy(value: ir.Value) -> float:
    """How far apart two numbers may be that are the same but for roundings to its type."""
    fmt = format_of(element_type(value))
    assert fmt is not None
    return max(2.0**-fmt.mantissa_bits, 1e-6)


def _count(value: ir.Value) -> int:
    count = 1
    for size in shape(value):
        count *= size
    return count


def _labels_of(value: ir.Value, of: Named) -> Labels | None:
    """The labels of `value` where it is moved from `of`."""
    own = tuple(None if size == 1 else dim for dim, size in enumerate(shape(value)))
    root, of = narrowed(named(value, own)), narrowed(of)
    if root.value != of.value:
        return None
    dims = {
        dim: label for dim, label in zip(root.labels, of.labels, strict=True) if dim is not None
    }
    return tuple(None if dim is None else dims.get(dim) for dim in own)
