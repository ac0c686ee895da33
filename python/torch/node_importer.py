"""torch-mlir's importer of FX nodes, with our locations, our ops and errors that name the op."""

from typing import Any

from torch.fx import GraphModule, Node
from torch_mlir import ir
from torch_mlir.extras import fx_importer

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.torch.element_types import ELEMENT_TYPES
from mlir_fp8.torch.functions import Function, declare, writer_of
from mlir_fp8.torch.locations import location_of, spell


class Locations(fx_importer.ContextCache):
    """Locations hold the user's line and the path of the module; types are those of ours too."""

    __slots__ = ()

    def get_node_location(self, node: Node) -> ir.Location | None:
        """The location of what is made of `node`."""
        return location_of(node, self._c)

    def dtype_to_type(self, dtype: Any) -> ir.Type:
        """The type of elements of `dtype`."""
        return ir.Type.parse(ELEMENT_TYPES[dtype], self._c)


class Importer(fx_importer.FxImporter):
    """Imports a graph; `functions` are those that are declared, to be given a body later."""

    __slots__ = ("functions",)

    def __init__(self, context: ir.Context) -> None:
        super().__init__(context=context, graph_node_importer_cls=NodeImporter)
        self._cc = Locations(context, py_attr_tracker=self._py_attr_tracker)
        self.functions: list[Function] = []

    def _import_all_child_modules(
        self, module: GraphModule, parent_name: str, import_symbolic_shape_expressions: bool = False
    ) -> None:
        for name, child in module.named_children():
            if isinstance(child, GraphModule):
                # Not private, as what calls them is yet to come.
                self.import_graph_module(child, func_name=f"{parent_name}.{name}")


class NodeImporter(fx_importer.GraphNodeImporter):
    """Ops of `FUNCTIONS` become calls of functions whose bodies are StableHLO."""

    __slots__ = ()

    def _import_torch_op_overload(
        self, loc: ir.Location, node: Node, concrete_target: Any = None
    ) -> None:
        if concrete_target is None and writer_of(node) is not None:
            declare(self, loc, node)
            return
        with _naming(node):
            super()._import_torch_op_overload(loc, node, concrete_target)

    def _import_hop(self, loc: ir.Location, node: Node, hop: Any) -> None:
        if writer_of(node) is not None:
            declare(self, loc, node)
            return
        with _naming(node):
            super()._import_hop(loc, node, hop)


class _naming:  # noqa: N801 - used as a verb
    """Errors of torch-mlir's importer as those of the op at hand."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, Fp8Error):
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise Fp8Error(f"{spell(self._node)} cannot be imported: {reason}") from error
