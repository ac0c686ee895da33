"""Weights of f6 and f4 as bytes without gaps between codes, which `fp8.unpack` reads."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.dialects import fp8
from mlir_fp8.dialects._fp8_unpack import packed_size
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect


@dataclass(frozen=True)
class BitLayout:
    """A tensor of `shape` and `element`, whose rows are whole bytes."""

    shape: tuple[int, ...]
    element: str

    @staticmethod
    def of(type_: ir.RankedTensorType) -> "BitLayout | str":
        """That of a tensor of f6 or f4 with a static shape, or why it has none."""
        element = str(type_.element_type)
        if not type_.rank or not type_.has_static_shape:
            return f"is {type_}, not of a static shape of rank 1 or more"
        if packed_size(element, type_.shape[-1]) is None:
            count = type_.shape[-1]
            return f"has {count} numbers of {element} side by side, which are no whole bytes"
        return BitLayout(tuple(type_.shape), element)

    def attribute(self) -> ir.Attribute:
        """The type of the tensor."""
        element = ir.Type.parse(self.element)
        return ir.TypeAttr.get(ir.RankedTensorType.get(list(self.shape), element))

    @property
    def packed_shape(self) -> tuple[int, ...]:
        """The shape of the argument, of ui8."""
        size = packed_size(self.element, self.shape[-1])
        assert size is not None
        return (*self.shape[:-1], size)

    def packed_type(self, _: ir.Type) -> ir.Type:
        """The type of the argument."""
        ui8 = ir.IntegerType.get_unsigned(8)
        return ir.RankedTensorType.get(list(self.packed_shape), ui8)

    def matrix(self, packed: ir.Value) -> ir.Value:
        """The tensor of `packed`, at the insertion point."""
        load_fp8_dialect(packed.context)
        return fp8.unpack(packed, ir.Type.parse(self.element))
