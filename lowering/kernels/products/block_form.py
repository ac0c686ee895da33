"""What packed blocks of a product hold: the form of their elements, how deep they are."""

from mlir_fp8.lowering.kernels.products.amx_tile import STEP
from mlir_fp8.lowering.kernels.products.last_places import LastPlaces
from mlir_fp8.lowering.kernels.products.pack import Pack
from mlir_fp8.lowering.kernels.products.pack_bytes import PackBytes
from mlir_fp8.lowering.kernels.products.packed_form import UNITS, element_bytes, packed_form
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.products.tile import UNROLL
from mlir_fp8.lowering.kernels.vector_code.reader import Reader


class BlockForm:
    """That of the product whose function `parts` emits."""

    def __init__(self, parts: ProductParts) -> None:
        self.parts = parts
        self.form = packed_form(parts.product, parts.target)
        self.unit = UNITS[self.form]
        """Elements of the reduction per step of the micro-kernel."""
        self.bytes = element_bytes(parts.product, parts.target)
        loses = self.form == "fours" or (self.form == "bf16" and parts.target.tiles)
        self.places = LastPlaces(parts) if loses else None

    @property
    def step(self) -> int:
        """What the depth of a block is padded to a multiple of."""
        return self.unit * (STEP if self.parts.target.tiles else UNROLL)

    @property
    def deepest(self) -> int:
        """The most that is summed in a block, padded."""
        return -(-min(self.parts.k, self.parts.target.depth) // self.step) * self.step

    def depths(self, depth: str) -> str:
        """The reduction size of the block that begins at `depth`."""
        text = self.parts.text
        return text.minimum(
            text.sub(text.index(self.parts.k), depth), text.index(self.parts.target.depth)
        )

    def padded(self, depth: str) -> tuple[str, str]:
        """The padded depth of a block, and the steps of the tile kernel for it."""
        padded = self.parts.text.rounded_up(self.depths(depth), self.step)
        return padded, self.parts.text.div(padded, self.unit) if self.unit > 1 else padded

    def pack(self, reader: Reader, side: str, width: int) -> str:
        """The packing kernel of a side, whose panels have `width` elements, 0 for none."""
        parts = self.parts
        if parts.product.is_integer:
            unit = self.unit if side == "right" else 1
            return parts.pack_bytes(PackBytes(reader, 32 // self.unit, unit, width))
        form = {"left": "bf16", "right": "pairs"}[side] if self.form == "bf16" else self.form
        return parts.pack(Pack(reader, form, width=width))
