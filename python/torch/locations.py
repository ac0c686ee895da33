"""MLIR locations of FX nodes: the user's line, under the path of the module that it is in."""

import re
from pathlib import Path
from typing import Any

import torch
from torch.fx import Node
from torch_mlir import ir

from mlir_fp8.base.source_place import Place

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_LIBRARY = str(Path(torch.__file__).parent)


def place_of(node: Node) -> Place | None:
    """The line that made `node`: the innermost that is not PyTorch's own."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if not frame[0].startswith((_LIBRARY, "<"))]
    named = [frame for frame in frames if not frame[0].startswith("<")]
    for file, line in reversed(own or named):
        return Place(file, int(line), 0)
    return None


def module_path_of(node: Node) -> str:
    """The path of the innermost module that `node` is in: `layers.0.self_attn.q_proj`, or ``."""
    stack: dict[str, Any] = node.meta.get("nn_module_stack") or {}
    path = next((str(entry[0]) for entry in reversed(stack.values())), "")
    path = re.sub(r"\[['\"]?(\w+)['\"]?\]", r".\1", path)  # strict export: L.self.layers[0].q
    return re.sub(r"^L\.self\.?|@\d+$", "", path)


def location_of(node: Node, context: ir.Context) -> ir.Location | None:
    """`"layers.0.q_proj"("model.py":12:0)`, as much of it as is known."""
    place, path = place_of(node), module_path_of(node)
    location = None
    if place is not None:
        location = ir.Location.file(place.file, place.line, place.column, context=context)
    if not path:
        return location
    return ir.Location.name(path, location or ir.Location.unknown(context), context=context)


def spell(node: Node, op: Any = None) -> str:
    """How messages start that are about `node`, or about the op that it was made of:
    `model.py:12:0: 'aten.foo' in layers.0`."""
    place, path = place_of(node), module_path_of(node)
    start = f"{place}: " if place else ""
    inside = f" in {path}" if path else ""
    return f"{start}'{_named(op or node.target)}'{inside}"


def name_of(node: Node) -> str:
    """The name of the op as PyTorch spells it, `aten.mm.default` as `aten.mm`."""
    return _named(node.target)


def _named(op: Any) -> str:
    return str(op).removesuffix(".default")
