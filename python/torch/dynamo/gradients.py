"""Which operands of a backward graph's products are gradients: what is made of its tangents."""

from collections.abc import Collection

from torch_mlir import ir

from mlir_fp8.base.operations import operations

_PRODUCTS = ("stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution", "chlo.ragged_dot")
_GRADIENT = "mlir_fp8.gradient"


def mark_gradients(module: ir.Module, tangents: Collection[int]) -> None:
    """Give each product of `module` the attribute `mlir_fp8.gradient`.

    `tangents` are the arguments of `main` that are gradients; a forward graph has none. Of two
    operands that depend on them the left one is taken.
    """
    functions = [op.operation for op in module.body.operations]
    (main,) = [op for op in functions if ir.StringAttr(op.attributes["sym_name"]).value == "main"]
    made = {main.regions[0].blocks[0].arguments[i] for i in tangents}
    _follow(main.regions[0].blocks[0], made)
    for op in operations(module.operation):
        if op.name in _PRODUCTS:
            sides = [each in made for each in list(op.operands)[:2]]
            which = ("lhs", "rhs")[sides.index(True)] if any(sides) else "none"
            op.attributes[_GRADIENT] = ir.StringAttr.get(which, module.context)


def _follow(block: ir.Block, made: set[ir.Value]) -> None:
    """Add to `made` what is computed of it; all that a loop or a branch with some of it gives."""
    for op in block.operations:
        op = op.operation
        has_made = any(each in made for each in op.operands)
        inner = [each for region in op.regions for each in region.blocks]
        if has_made:
            made.update(argument for each in inner for argument in each.arguments)
        for each in inner:
            _follow(each, made)
            end = list(each.operations)[-1].operation
            has_made = has_made or any(value in made for value in end.operands)
        if has_made:
            made.update(op.results)
