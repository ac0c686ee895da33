"""`bincount`, where the program says how long its result is."""

import torch
from torch.fx import Node

from mlir_fp8.torch.decompositions.elementwise import like
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


def _is_known(node: Node) -> bool:
    return isinstance(node.meta["val"].shape[0], int)


@writes(_aten.bincount.default, when=_is_known)
def bincount(body: Body) -> None:
    """How often each number occurs, or the sum of its weights; those beyond are not counted."""
    given, (target,) = body.inputs, body.outputs
    element = str(target.element_type)
    number = body.constant(0 if element.startswith("i") else "0.0", target)
    if not given[0].shape[0] or not target.shape[0]:
        body.give(number)
        return
    scalar, wide = f"tensor<{element}>", like(given[0], element)
    if len(given) == 1:
        updates = body.constant(1, wide)
    elif str(given[1]) == wide:
        updates = "%arg1"
    else:
        updates = body.let(f"stablehlo.convert %arg1 : ({given[1]}) -> {wide}")
    index, places = "%arg0", like(given[0], "i64")
    if str(given[0]) != places:
        index = body.let(f"stablehlo.convert %arg0 : ({given[0]}) -> {places}")
    text = (
        f'"stablehlo.scatter"({number}, {index}, {updates}) <{{scatter_dimension_numbers ='
        " #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],"
        " index_vector_dim = 1>}> ({\n"
        f"^bb0(%a: {scalar}, %b: {scalar}):\n"
        f"%r = stablehlo.add %a, %b : {scalar}\n"
        f"stablehlo.return %r : {scalar}\n"
        f"}}) : ({target}, {places}, {wide}) -> {target}"
    )
    body.give(body.let(text))
