"""Constant right operands of products, packed as the module is compiled."""

from dataclasses import replace
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import memref

from mlir_fp8.base.operations import is_used, operations
from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.products.choices import choice_of
from mlir_fp8.lowering.kernels.products.choices_table import PACKED
from mlir_fp8.lowering.kernels.products.packed_form import packed_form
from mlir_fp8.lowering.kernels.products.panels import DEPTH_UNIT, panel_size
from mlir_fp8.lowering.kernels.vector_code.expression import Expression, Leaf
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_GLOBAL, _GET = "memref.global", "memref.get_global"


class PackedConstants:
    """The constants of a module that are packed so far, each once for each layout."""

    def __init__(self, module: ir.Operation, target: KernelTarget) -> None:
        self._target = target
        self._globals = {_name(op): op for op in operations(module, _GLOBAL)}
        self._made: dict[tuple[str, tuple[int, ...], int, int], str] = {}
        self._module = module

    def packed(self, op: ir.Operation, product: Contraction) -> Contraction | None:
        """`product`, of `op`, by panels of its constant right operand; None where it has none.

        Nor where both operands are not packed, as for few rows.
        """
        if choice_of(product, self._target).kernel != PACKED:
            return None
        size = panel_size(self._target, packed_form(product, self._target))
        k, n = product.sizes[product.k], product.sizes[product.n]
        if size is None or k % DEPTH_UNIT or n <= size[0]:
            return None
        for key, leaf in product.right.sources.items():
            if isinstance(leaf, Leaf):
                held = self._constant(leaf, product)
                if held is not None:
                    return self._placed(op, product, (key, leaf), held, size)
        return None

    def _constant(self, leaf: Leaf, product: Contraction) -> ir.Operation | None:
        """The global that `leaf` reads all elements of, each once."""
        maker = None if isinstance(leaf.buffer.owner, ir.Block) else leaf.buffer.owner.operation
        if (
            maker is None
            or maker.name != _GET
            or leaf.subview is not None
            or leaf.groups
            or leaf.bits
        ):
            return None
        held = self._globals.get(ir.FlatSymbolRefAttr(maker.attributes["name"]).value)
        if held is None or "constant" not in held.attributes or leaf.offset:
            return None
        k, n = product.sizes[product.k], product.sizes[product.n]
        steps = leaf.strides[product.k], leaf.strides[product.n]
        is_whole = steps in ((n, 1), (1, k)) and int(np.prod(leaf.buffer.type.shape)) == k * n
        value = held.attributes.get("initial_value", None)
        is_read = is_whole and isinstance(value, ir.DenseElementsAttr) and not value.is_splat
        return held if is_read else None

    def _placed(
        self,
        op: ir.Operation,
        product: Contraction,
        read: tuple[ir.Value, Leaf],
        held: ir.Operation,
        size: tuple[int, int],
    ) -> Contraction:
        (key, leaf), (width, unit) = read, size
        k, n = product.sizes[product.k], product.sizes[product.n]
        places = (_name(held), leaf.strides, width, unit)
        count = -(-n // width)
        shape = [count, k // unit, width, *([unit] if unit > 1 else [])]
        with ir.Location.unknown(op.context):
            type_ = ir.MemRefType.get(shape, leaf.buffer.type.element_type)
        if places not in self._made:
            matrix = np.array(ir.DenseElementsAttr(held.attributes["initial_value"])).reshape(-1)
            is_transposed = leaf.strides[product.k] == 1 and leaf.strides[product.n] != 1
            matrix = matrix.reshape(n, k).T if is_transposed else matrix.reshape(k, n)
            whole = np.zeros((k, count * width), matrix.dtype)
            whole[:, :n] = matrix
            panels = whole.reshape(k // unit, unit, count, width).transpose(2, 0, 3, 1)
            self._made[places] = self._new(held, type_, np.ascontiguousarray(panels))
        with ir.InsertionPoint(op), op.location:
            buffer = memref.get_global(type_, self._made[places])
        dims = len(leaf.strides)
        strides, groups, steps = [*leaf.strides], [1] * dims, [0] * dims
        strides[product.n], groups[product.n], steps[product.n] = k * width, width, unit
        strides[product.k] = width * unit
        if unit > 1:
            groups[product.k], steps[product.k] = unit, 1
        moved = Leaf(buffer, tuple(strides), 0, None, tuple(groups), tuple(steps))
        right = Expression(product.right.root, {**product.right.sources, key: moved})
        return replace(product, right=right)

    def _new(self, held: ir.Operation, type_: ir.MemRefType, panels: np.ndarray) -> str:
        """A global of `panels` next to `held`; gives its name."""
        name = f"{_name(held)}_packed_{len(self._made)}"
        with ir.InsertionPoint(held), held.location:
            array: Any = panels.reshape(type_.shape)
            value = ir.DenseElementsAttr.get(array, type=type_.element_type)
            kept = {each: held.attributes[each] for each in held.attributes}
            new = {
                "sym_name": ir.StringAttr.get(name),
                "type": ir.TypeAttr.get(type_),
                "initial_value": value,
            }
            ir.Operation.create(_GLOBAL, attributes={**kept, **new})
        return name

    def erase_unread(self) -> None:
        """Erase the constants that only packed products read."""
        packed = {places[0] for places in self._made}
        gets = [op for op in operations(self._module, _GET) if not is_used(op.results[0])]
        for op in gets:
            op.erase()
        read = {
            ir.FlatSymbolRefAttr(op.attributes["name"]).value
            for op in operations(self._module, _GET)
        }
        for name in packed - read:
            self._globals[name].erase()


def _name(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value
