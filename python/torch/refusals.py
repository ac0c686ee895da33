"""What cannot be taken over, told by the name of the aten op and the user's line."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree
from torch_mlir import ir

from mlir_fp8.base.context import format_location
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError
from mlir_fp8.torch.element_types import ELEMENT_TYPES
from mlir_fp8.torch.functions import writer_of
from mlir_fp8.torch.locations import name_of, spell

_WAY_OUT = "compute it before or after the exported model"
_ATEN = re.compile(r"torch\.(?:aten|prims|torchvision|quantized_decomposed)\.")
_HELD = ("torch.aten.size.int", "torch.aten.Int.", "torch.aten.Float.", "torch.aten.Bool.")
_IMPORTED_HOPS = ("while_loop", "auto_functionalized", "flex_attention")

_OF_PARTS = (
    torch.ops.aten.view_as_real.default,
    torch.ops.aten.real.default,
    torch.ops.aten.imag.default,
    torch.ops.aten._to_copy.default,
    torch.ops.prims.convert_element_type.default,
)


def refuse(graph: GraphModule) -> None:
    """Raise `Fp8Error` for the first node that neither torch-mlir nor we can import."""
    for node in graph.graph.nodes:
        if node.op == "call_function":
            _refuse_kind(node)
            _refuse_outside(node)
            _refuse_lost_parts(node)
        for value in pytree.tree_leaves(node.meta.get("val")):
            _refuse_value(node, value)
    for child in graph.children():
        if isinstance(child, GraphModule):
            refuse(child)


def _refuse_kind(node: Node) -> None:
    target: Any = node.target
    if writer_of(node) is not None:
        return
    if isinstance(target, torch._ops.HigherOrderOperator) and target.name() not in _IMPORTED_HOPS:
        raise Fp8Error(f"{spell(node)} has no lowering to StableHLO: {_WAY_OUT}")


def _refuse_outside(node: Node) -> None:
    """A view of memory around the tensor, of which a program has none."""
    if node.target is not torch.ops.aten.as_strided.default:
        return
    base, sizes, strides, *rest = node.args
    assert isinstance(base, Node)
    steps = zip(sizes, strides, strict=True)  # pyright: ignore[reportArgumentType]
    last = (rest[0] or 0 if rest else 0) + sum((size - 1) * step for size, step in steps)
    if all(isinstance(size, int) for size in sizes) and last >= base.meta["val"].numel() > 0:  # pyright: ignore
        raise Fp8Error(f"{spell(node)} reads what is outside of the tensor that it is given")


def _refuse_lost_parts(node: Node) -> None:
    """torch-mlir makes real numbers of complex ones where an op's result is real."""
    inputs = [each.meta.get("val") for each in node.all_input_nodes]
    is_complex = any(isinstance(each, torch.Tensor) and each.is_complex() for each in inputs)
    made = node.meta.get("val")
    if not is_complex or not isinstance(made, torch.Tensor) or made.is_complex():
        return
    if node.target not in _OF_PARTS and writer_of(node) is None:
        raise Fp8Error(f"{spell(node)} of complex numbers has no lowering to StableHLO: {_WAY_OUT}")


def _refuse_value(node: Node, value: Any) -> None:
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        if free_unbacked_symbols(value):
            raise Fp8Error(f"{spell(node)} gives a number that depends on data: {_WAY_OUT}")
        return
    if not isinstance(value, torch.Tensor):
        return
    if any(isinstance(size, torch.SymInt) and free_unbacked_symbols(size) for size in value.shape):
        raise Fp8Error(
            f"{spell(node)} gives a tensor whose size depends on data, which StableHLO has no type"
            " for: write it with torch.where or a mask, which keep the size"
        )
    if value.dtype not in ELEMENT_TYPES:
        raise Fp8Error(
            f"{spell(node)} is of {value.dtype}, which torch-mlir cannot import: cast it"
        )
    if value.layout != torch.strided:
        raise Fp8Error(f"{spell(node)} is of layout {value.layout}: make it dense")


@dataclass(frozen=True)
class Told:
    """An error of MLIR's, kept beyond its handler."""

    message: str
    location: ir.Location


class UnnamedError(Fp8Error):
    """torch-mlir does not say which op it failed on; an op that is named is a guess."""


def lowering_error(module: ir.Module, diagnostics: Sequence[Told]) -> Fp8Error:
    """Why torch-mlir's passes failed on `module`, which is as they left it."""
    first = diagnostics[0] if diagnostics else None
    left = list(_left(module.operation))
    told = first.message if first is not None else ""
    op = next((each for each in left if f"'{each.name}'" in told), None)
    named = re.search(r'name = "torch\.([\w.]+)"', told)
    is_told = op is not None or named is not None
    if not is_told and left:
        op = left[0]
    if named is not None and first is not None:
        name, location = named[1], first.location
    elif op is not None:
        name, location = _name(op), op.location
    else:
        reason = (told.splitlines() or ["it does not say why"])[0]
        place = "" if first is None else _place(first.location)
        return UnnamedError(f"{place}torch-mlir cannot lower the program to StableHLO: {reason}")
    name = name.removesuffix(".default")
    path = f" in {location.name_str}" if isinstance(location, ir.NameLoc) else ""
    kind = Fp8Error if is_told else UnnamedError
    return kind(f"{_place(location)}'{name}'{path} has no lowering to StableHLO: {_WAY_OUT}")


def named_error(
    graph: GraphModule, error: UnnamedError, lowered: Callable[[GraphModule], object]
) -> Fp8Error:
    """`error` with the op of `graph` that fails on its own too, found by `lowered` of each."""
    for node in _kinds(graph):
        try:
            lowered(_alone(node))
        except CrashError:
            continue
        except Fp8Error:
            return Fp8Error(f"{spell(node)} has no lowering to StableHLO: {_WAY_OUT}")
        except Exception:
            continue
    return error


def crash_error(
    graph: GraphModule, error: CrashError, lowered: Callable[[GraphModule], object]
) -> Fp8Error:
    """Which op of `graph` torch-mlir crashed on, found by `lowered` of each op on its own."""
    names: dict[str, None] = {}
    for node in _kinds(graph):
        names[name_of(node)] = None
        try:
            lowered(_alone(node))
        except CrashError as crash:
            return Fp8Error(f"{spell(node)}: torch-mlir fails on it: {crash}: {_WAY_OUT}")
        except Exception:
            continue
    return Fp8Error(f"torch-mlir fails on a program of {', '.join(names)}: {error}")


def _kinds(graph: GraphModule) -> Iterator[Node]:
    """Each op of `graph`, once of those that torch-mlir makes the same of."""
    tried: set[str] = set()
    for node in graph.graph.nodes:
        kind = _kind(node)
        if node.op == "call_function" and kind not in tried:
            tried.add(kind)
            yield node


def _kind(node: Node) -> str:
    """The same for nodes that torch-mlir makes the same of."""
    given = map_arg((node.args, node.kwargs), lambda each: str(each.meta.get("val")))
    return f"{node.target} {given}"


def _alone(node: Node) -> GraphModule:
    """A graph of `node` alone, whose operands are arguments."""
    graph = Graph()
    values: dict[Node, Node] = {}
    for each in node.all_input_nodes:
        values[each] = graph.placeholder(each.name)
        values[each].meta.update(each.meta)
    graph.output((graph.node_copy(node, values.__getitem__),))
    owner = node.graph.owning_module
    return GraphModule(owner if owner is not None else torch.nn.Module(), graph)


def refuse_left(module: ir.Module) -> None:
    """Raise `Fp8Error` where ops of torch-mlir's are left."""
    if any(True for _ in _left(module.operation)):
        raise lowering_error(module, ())


def _left(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops that torch-mlir did not lower."""
    for region in op.regions:
        for block in region.blocks:
            for child in block.operations:
                child = child.operation
                is_aten = _ATEN.match(child.name) and not child.name.startswith(_HELD)
                if is_aten or child.name == "torch.operator":
                    yield child
                yield from _left(child)


def _name(op: ir.Operation) -> str:
    if op.name == "torch.operator":
        return ir.StringAttr(op.attributes["name"]).value.removeprefix("torch.")
    return op.name.removeprefix("torch.")


def _place(location: ir.Location) -> str:
    place = format_location(location)
    return "" if place.startswith("unknown") else f"{place}: "
