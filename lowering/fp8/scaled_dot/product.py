"""A dot or convolution of two dequantized f8 tensors: its operands and accumulation type."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.dialects._fp8_product_shapes import result_dimensions
from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.operand import Operand, match_operand
from mlir_fp8.lowering.fp8.scaled_dot.values import format_of, holds, shape
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape, names

PRODUCTS = names("stablehlo", "convolution dot dot_general") | {RAGGED_DOT}
_RESULTS = ("f32", "bf16", "f16")
_TF32_HOLDS = ("bf16", "f16")


@dataclass(frozen=True)
class Product:
    """The operands of `op`, dequantized to `operand_type`, or as they are where that is None."""

    op: ir.Operation
    lhs: Operand
    rhs: Operand
    operand_type: ir.Type | None
    fast_accum: bool

    @property
    def is_dot(self) -> bool:
        return self.op.name != "stablehlo.convolution"

    @property
    def bias_dimension(self) -> int:
        """The dimension of the result that a bias runs along."""
        if self.is_dot:
            return len(shape(self.op.results[0])) - 1
        numbers = _stablehlo.ConvDimensionNumbers(self.op.attributes["dimension_numbers"])
        return numbers.output_feature_dimension

    def sources(self) -> tuple[list[int | None], list[int | None]]:
        """For each dimension of lhs and of rhs the dimension of the result that it becomes."""
        ranks = [len(shape(operand)) for operand in self.op.operands]
        batching, free_lhs, free_rhs = result_dimensions(ranks[0], ranks[1], dot_numbers(self.op))
        of = _stablehlo.DotDimensionNumbers(dot_numbers(self.op))
        batches = list(of.rhs_batching_dimensions)
        lhs: list[int | None] = [None] * ranks[0]
        rhs: list[int | None] = [None] * ranks[1]
        lhs_order, rhs_order = [*batching, *free_lhs], [*batches, *free_rhs]
        for position, dimension in enumerate(lhs_order):
            lhs[dimension] = position
        for index, dimension in enumerate(rhs_order):
            is_batch = index < len(batches)
            rhs[dimension] = index if is_batch else index + len(free_lhs)
        return lhs, rhs


def dot_numbers(op: ir.Operation) -> ir.Attribute:
    """The `#stablehlo.dot<...>` of a `dot_general`, or what a `dot` means."""
    if op.name == "stablehlo.dot_general":
        return op.attributes["dot_dimension_numbers"]
    last = len(shape(op.operands[0])) - 1
    text = (
        f"#stablehlo.dot<lhs_contracting_dimensions = [{last}], rhs_contracting_dimensions = [0]>"
    )
    return ir.Attribute.parse(text, op.context)


def match_product(op: ir.Operation, *, assume_finite: bool) -> Product | list[Obstacle]:
    """What `op` multiplies, or why it is no product of scaled f8 tensors."""
    sides = [
        match_operand(value, part, assume_finite=assume_finite)
        for value, part in zip(list(op.operands)[:2], ("lhs", "rhs"), strict=True)
    ]
    obstacles = [side for side in sides if isinstance(side, Obstacle)]
    if obstacles:
        # Neither is f8: the dot is none of this business, and one reason is enough.
        is_wide = len(obstacles) == 2 and all(each.kind == "not-fp8" for each in obstacles)
        return obstacles[:1] if is_wide else obstacles
    lhs, rhs = (side for side in sides if isinstance(side, Operand))
    found = _result(op)
    if found is not None:
        return [found]
    operand_type = _operand_type(op, lhs, rhs)
    if isinstance(operand_type, Obstacle):
        return [operand_type]
    fast = fast_accumulation(op, [operand_type] * 2 if operand_type else [lhs.source, rhs.source])
    if isinstance(fast, Obstacle):
        return [fast]
    return Product(op, lhs, rhs, operand_type, fast)


def _result(op: ir.Operation) -> Obstacle | None:
    result = op.results[0]
    if not has_static_shape(result):
        message, edit = f"{op.name} gives {result.type}, a dynamic shape", "refine shapes first"
        return Obstacle("open-shape", "dot", message, op.location, edit)
    if any(0 in shape(value) for value in (*list(op.operands)[:2], result)):
        message, edit = f"{op.name} has no elements to multiply", "leave it out"
        return Obstacle("no-elements", "dot", message, op.location, edit)
    fmt = format_of(element_type(result))
    wide = [str(element_type(value)) for value in (*list(op.operands)[:2], result)]
    if fmt is None or "f64" in wide or not (fmt.is_small or fmt.name in _RESULTS):
        adds_in = "f64" if "f64" in wide else f"{element_type(result)}"
        message = f"{op.name} adds in {adds_in}, and a scaled dot in f32"
        edit = "dequantize to f32, bf16 or f16 and take that or f8 as its result"
        return Obstacle("accumulation-type", "dot", message, op.location, edit)
    return None


def _operand_type(op: ir.Operation, lhs: Operand, rhs: Operand) -> ir.Type | Obstacle | None:
    scaled = [side.element for side in (lhs, rhs) if side.element is not None]
    if not scaled:
        return None
    common = scaled[0]
    if any(str(each) not in _RESULTS for each in scaled):
        message = f"the operands are dequantized to {' and '.join(map(str, scaled))}"
    elif any(each != common for each in scaled):
        message = f"lhs is dequantized to {scaled[0]} and rhs to {scaled[1]}"
    elif not all(holds(common, element_type(side.source)) for side in (lhs, rhs)):
        message = f"an unscaled operand has numbers that {common} does not hold"
    else:
        return common
    edit = "dequantize both to one of f32, bf16 and f16"
    return Obstacle("operand-types", "dot", message, op.location, edit)


def fast_accumulation(op: ir.Operation, operands: Sequence[ir.Type | ir.Value]) -> bool | Obstacle:
    """Whether the program lets hardware add with fewer bits than f32 has."""
    if "algorithm" in op.attributes:
        types = [each if isinstance(each, ir.Type) else element_type(each) for each in operands]
        return _algorithm(op, types)
    if "precision_config" not in op.attributes:
        return True
    return all("DEFAULT" in str(each) for each in ir.ArrayAttr(op.attributes["precision_config"]))


def _algorithm(op: ir.Operation, types: Sequence[ir.Type | None]) -> bool | Obstacle:
    algorithm = _stablehlo.DotAlgorithm(op.attributes["algorithm"])
    precisions = (algorithm.lhs_precision_type, algorithm.rhs_precision_type)
    is_exact = all(
        str(numbers) in _TF32_HOLDS or format_of(numbers).is_small  # pyright: ignore
        if str(precision) == "tf32"
        else holds(precision, numbers)
        for precision, numbers in zip(precisions, types, strict=True)
    )
    if (
        isinstance(algorithm.accumulation_type, ir.F32Type)
        and algorithm.num_primitive_operations == 1
        and is_exact
    ):
        return algorithm.allow_imprecise_accumulation
    message = (
        f"the dot's algorithm rounds {types[0]} and {types[1]} to {precisions[0]} and "
        f"{precisions[1]}, adds in {algorithm.accumulation_type}, "
        f"with {algorithm.num_primitive_operations} products"
    )
    edit = "drop the algorithm, or give one of these types with one product that adds in f32"
    return Obstacle("dot-algorithm", "dot", message, op.location, edit)
