"""Scales that multiply scores, probabilities or the result, as those of q, k and v."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering.fp8.attention.axes import D, E, Found
from mlir_fp8.lowering.fp8.attention.layout import Axes, Axis
from mlir_fp8.lowering.fp8.attention.scores import Scores
from mlir_fp8.lowering.fp8.attention.weighed import Weighed
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale


@dataclass(frozen=True)
class Place:
    """`scale`, spread over dimensions of the axes `dims`, as an operand of the layout `wanted`."""

    scale: Scale
    dims: Sequence[Axes]
    wanted: tuple[Axes, ...]

    @property
    def fits(self) -> bool:
        """Whether it changes along axes of `wanted` alone."""
        sizes = self.scale.spread.compact_shape
        known = {axis for group in self.wanted for axis in group}
        return self.scale.is_single or (
            sizes is not None
            and all(
                size == 1 or known.issuperset(axes)
                for size, axes in zip(sizes, self.dims, strict=True)
            )
        )


def placed_scales(
    scores: Scores, weighed: Weighed, found: Found
) -> tuple[dict[str, Place], float | None]:
    """By name of the operand, and what probabilities count times."""
    layout, inner, outer = found.layout, Axis(D, 1), Axis(E, 1)
    places: dict[str, Place] = {}
    second = weighed.dot
    assert second is not None
    for index, (scale, parts) in enumerate(scores.sum_scales):
        is_first = index == 0 and scores.dot.sides[found.query_side].is_small
        is_query = is_first and (scale.is_single or len(scores.sum_scales) == 2)
        wanted = layout.queries(inner) if is_query else layout.values(inner)
        place = Place(scale, found.of(parts), wanted)
        if is_first and not is_query and not place.fits:
            is_query, place = True, Place(scale, place.dims, layout.queries(inner))
        places["q_scale" if is_query else "k_scale"] = place
    if weighed.folded is not None:
        scale, parts = weighed.folded
        places["v_scale"] = Place(scale, found.of(parts), layout.values(outer))
    factor = weighed.factor
    if weighed.sum_scales:
        *first, last = weighed.sum_scales
        places["v_scale"] = Place(last, found.out, layout.values(_columns(found)))
        factor = first[0].number if first else factor
    return places, factor


def _columns(found: Found) -> Axis:
    return next(axis for axes in found.v for axis in axes if axis.key == E)


def misplaced(scores: Scores, weighed: Weighed, found: Found) -> Obstacle | None:
    """What is in the way of scales that are those of no operand."""
    places, _ = placed_scales(scores, weighed, found)
    for name, place in places.items():
        if not place.fits:
            op: ir.Operation = scores.dot.op
            message = f"a factor that would be {name} changes along other dimensions"
            edit = "scale by a number for each head or token"
            return Obstacle("scale-layout", "dot", message, op.location, edit)
    return None
