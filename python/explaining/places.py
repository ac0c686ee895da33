"""Locations of a fused op's parts in the program: the fused op itself has only one."""

from collections.abc import Iterable
from typing import cast

from torch_mlir import ir

from mlir_fp8.base.context import file_position
from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8._quantizers import MOVES
from mlir_fp8.lowering.fp8._scales import small_format, widens_or_rounds
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.moves import moves_through
from mlir_fp8.lowering.fp8.scaled_dot.product import PRODUCTS
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.rewriting.stablehlo import names

_SPREADS = names("stablehlo", "broadcast broadcast_in_dim reshape")
_FACTORS = names("stablehlo", "multiply divide")
_STEPS = {
    "stablehlo.add": "add",
    "stablehlo.maximum": "activation",
    "stablehlo.tanh": "activation",
    "stablehlo.logistic": "activation",
    "chlo.erfc": "activation",
    "chlo.erf": "activation",
    "stablehlo.reduce": "amax",
    "stablehlo.multiply": "factor",
    "stablehlo.divide": "factor",
}
_CONVERT = "stablehlo.convert"
_MOST_OPS = 48
# The step that an obstacle is about, by its kind or else by its part.
_OF_KIND = {
    "scale-convert": "factor",
    "scale-rank": "factor",
    "output-scale": "factor",
    "scale-after-sum": "factor",
    "alpha": "factor",
    "beta": "add",
    "matrix-bias-type": "add",
    "unclamped-output": "cast",
    "result-type": "cast",
    "amax-convert": "amax",
    "fine-scale-output": "cast",
    "rocm-output": "cast",
}
_OF_PART = {"bias": "add", "activation": "activation", "amax": "amax"}


class Places:
    """Looked up before the fusion of the product `op`, which erases what is behind them."""

    def __init__(self, op: ir.Operation) -> None:
        self.between: dict[str, tuple[str, ...]] = {}
        """By "lhs" and "rhs": what is between the dequantize and the product, last first."""
        self.converts_amax = False
        """Whether amax is taken of the value after a conversion."""
        self._found: dict[tuple[str, str], ir.Location] = {}
        for part, value in zip(("lhs", "rhs"), list(op.operands)[:2], strict=True):
            self._look_up(part, value)
        self._look_down(op)

    def of(self, obstacle: Obstacle) -> ir.Location:
        """The place that `obstacle` of the fused op is about; its own where none is known."""
        kind, part = obstacle.kind, obstacle.part
        if part in ("lhs", "rhs"):
            step = "convert" if kind == "scale-convert" else "scale"
            known = self._found.get((part, step)) if kind.startswith("scale") else None
            if kind == "movement-between":
                named = (mover for mover in self.between[part] if mover in obstacle.message)
                known = self._found.get((part, next(named, "")))
        else:
            step = _OF_KIND.get(kind) or _OF_PART.get(part, "")
            known = self._found.get(("result", step))
        return known or obstacle.location

    def _look_up(self, part: str, value: ir.Value) -> None:
        """From an operand of the product to what it is scaled by."""
        op, between = producer(value), []
        while op is not None and small_format(op.results[0]) is None:
            moves = moves_through(op)
            if not moves and not widens_or_rounds(op):
                break
            between.append(op.name)
            self._found.setdefault((part, op.name), op.location)
            op = producer(op.operands[moves[0].operand if moves else 0])
        is_scaled = op is not None and op.name in (*_FACTORS, "fp8.dequantize")
        # Without a scale, converts are the dequantize.
        self.between[part] = tuple(each for each in between if is_scaled or each != _CONVERT)
        if op is None or not is_scaled:
            return
        self._found[part, "scale"] = op.location
        a, b = op.operands
        scale = producer(a if op.name == "stablehlo.multiply" and _is_data(b) else b)
        while scale is not None and scale.name in _SPREADS:
            scale = producer(scale.operands[0])
        if scale is not None and scale.name == _CONVERT:
            self._found[part, "convert"] = scale.location

    def _look_down(self, op: ir.Operation) -> None:
        """From the product on, the first op of each kind, nearest first."""
        level, count = [op], 0
        while level and count < _MOST_OPS:
            following: list[ir.Operation] = []
            for each in (user for op in level for user in _users(op)):
                count += 1
                is_cast = each.name in (_CONVERT, "fp8.quantize")
                if is_cast and small_format(each.results[0]) is not None:
                    self._found.setdefault(("result", "cast"), each.location)
                    continue
                if each.name == "stablehlo.reduce" and ("result", "amax") not in self._found:
                    self.converts_amax = _is_of_converted(each)
                if each.name in _STEPS:
                    self._found.setdefault(("result", _STEPS[each.name]), each.location)
                if each.name not in PRODUCTS and each not in following:
                    following.append(each)
            level = following


def callers(location: ir.Location) -> list[ir.Location]:
    """The calls around `location`, innermost first: of inlined functions, in JAX's tracebacks."""
    if isinstance(location, ir.NameLoc):
        return callers(location.child_loc)
    if not isinstance(location, ir.CallSiteLoc):
        return []
    around = [location.caller, *callers(location.caller)]
    return [*callers(location.callee), *(each for each in around if _is_one_place(each))]


def name_in(location: ir.Location) -> str:
    """The outermost name in `location`, which XLA keeps as the op's name; "" if it has none."""
    if isinstance(location, ir.NameLoc):
        return location.name_str
    inner: list[ir.Location] = []
    if isinstance(location, ir.CallSiteLoc):
        inner = [location.callee]
    elif isinstance(location, ir.FusedLoc):
        inner = list(cast(Iterable[ir.Location], location.locations))
    return next((found for each in inner if (found := name_in(each))), "")


def _is_one_place(location: ir.Location) -> bool:
    return file_position(location) is not None


def _is_of_converted(reduce: ir.Operation) -> bool:
    op = producer(reduce.operands[0])
    while op is not None and op.name == "stablehlo.abs":
        op = producer(op.operands[0])
    return op is not None and op.name == _CONVERT


def _users(op: ir.Operation) -> list[ir.Operation]:
    return users(op.results[0]) if len(op.results) == 1 else []


def _is_data(value: ir.Value) -> bool:
    op = producer(value)
    while op is not None and op.name in MOVES:
        op = producer(op.operands[0])
    return op is not None and len(op.operands) > 0 and small_format(op.operands[0]) is not None
