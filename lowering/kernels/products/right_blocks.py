"""Blocks of the right operand as f32 vectors; codes are decoded a full register at a time."""

from dataclasses import dataclass

from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.lowering.kernels.products.right_scale import RightScale
from mlir_fp8.lowering.kernels.vector_code.byte_tables import floats
from mlir_fp8.lowering.kernels.vector_code.code_blocks import (
    SeenNans,
    bits_factor,
    decoded_codes,
    has_marked_nan,
    sliced,
    taken_for_floats,
)
from mlir_fp8.lowering.kernels.vector_code.decode import converts_by_half, half_factor
from mlir_fp8.lowering.kernels.vector_code.expression import multiplied
from mlir_fp8.lowering.kernels.vector_code.nibbles import OF_WORD
from mlir_fp8.lowering.kernels.vector_code.nibbles import load as load_nibbles
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.scaled_codes import ScaledCodes, scaled_codes
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText
from mlir_fp8.lowering.kernels.vector_code.word_scales import word_scales


@dataclass(frozen=True)
class RightBlocks:
    """Loads several vectors of a reader's elements at a time, along its inner dimension."""

    reader: Reader
    target: KernelTarget
    scale: RightScale

    @property
    def pieces(self) -> int:
        """f32 vectors in a block: as many as a register of codes decodes to."""
        return OF_WORD if self.scale.by_nibbles else 4

    @property
    def size(self) -> int:
        """Elements of a block."""
        return self.pieces * self.target.lanes

    @property
    def codes(self) -> FloatFormat | None:
        """The format of the operand where its codes are decoded by tables, or through f16."""
        if self.scale.by_tables or self.scale.by_nibbles:
            return self._scaled.format
        fmt = self.reader.expression.decoded_format() if self.target.half_converts else None
        return fmt if fmt is not None and converts_by_half(fmt) else None

    @property
    def _scaled(self) -> ScaledCodes:
        """The codes, and the scales that they may have."""
        found = scaled_codes(self.reader.expression)
        assert found is not None
        return found

    @property
    def nans(self) -> SeenNans | None:
        """The NaN detector, where `load` decodes NaN codes to finite numbers."""
        fmt = None if self.scale.by_tables or self.scale.by_nibbles else self.codes
        return SeenNans(fmt, self.size) if fmt is not None and has_marked_nan(fmt) else None

    def load(
        self, text: KernelText, outer: str, inner: str, seen: str
    ) -> tuple[list[tuple[int, str]], str]:
        """The vectors with their offsets in the block, and the loop-carried `seen` after them.

        `seen` is the state of `nans`; unused without it. Lanes are in `spread_order` where the
        scale is `by_bits`.
        """
        fmt, lanes = self.codes, self.target.lanes
        if fmt is None:
            found = []
            # Two vectors at once: fewer 8-bit codes would not fill a register.
            for start in range(0, self.size, 2 * lanes):
                wide = self.element(text, outer, text.add(inner, start), 2 * lanes)
                for part in (0, lanes):
                    found.append((start + part, sliced(text, wide, part, lanes, 2 * lanes, "f32")))
            return found, seen
        if self.scale.by_nibbles:
            at = outer, inner
            return load_nibbles(text, self.target, self.reader, self._scaled, at), seen
        if self.scale.by_tables:
            return self._looked_up(text, outer, inner), seen
        codes = self.reader.codes(text, outer, inner, self.size)
        if self.scale.by_bits:
            found = taken_for_floats(text, fmt, codes, self.size)
        else:
            found = decoded_codes(text, self.target, fmt, codes, self.size)
        factor = bits_factor(fmt) if self.scale.by_bits else half_factor(fmt)
        if not self.scale.is_short and factor != 1.0:
            found = [(at, multiplied(text, each, factor, lanes)) for at, each in found]
        nans = self.nans
        return found, seen if nans is None else nans.with_codes(text, seen, codes)

    def _looked_up(self, text: KernelText, outer: str, inner: str) -> list[tuple[int, str]]:
        """The vectors of codes that are looked up, times their scales."""
        scaled, reader, lanes = self._scaled, self.reader, self.target.lanes
        codes = reader.looked_up(text, (outer, inner), scaled.leaf)
        found = floats(text, scaled.format, codes, spread=bool(self.scale.of_word))
        if scaled.scale is None:
            return found
        if self.scale.of_word:
            at, vector = (outer, inner), f"vector<{lanes}xf32>"
            scales = word_scales(text, self.target, reader, scaled, at, self.scale.of_word)
            return [
                (start, text.value(f"arith.mulf {numbers}, {scales} : {vector}"))
                for start, numbers in found
            ]
        leaf, vector = reader.expression.leaves[scaled.scale_leaf], f"vector<{lanes}xf32>"
        block = leaf.group(reader.inner)
        # Scales of blocks along the vector, or one for each of its lanes.
        is_one = block > 1 or not leaf.strides[reader.inner]
        known: dict[int, str] = {}
        products: list[tuple[int, str]] = []
        for start, numbers in found:
            first = start // block * block if self.size % block == 0 else start
            if first not in known or not is_one:
                at = outer, text.add(inner, first if is_one else start)
                each = reader.scale(text, self.target, scaled, at, 1 if is_one else lanes)
                if is_one:
                    each = text.value(f"vector.broadcast {each} : vector<1xf32> to {vector}")
                known[first] = each
            product = text.value(f"arith.mulf {numbers}, {known[first]} : {vector}")
            products.append((start, product))
        return products

    def element(self, text: KernelText, outer: str, inner: str, lanes: int) -> str:
        """A vector of `lanes` elements, with NaNs."""
        fmt = self.codes
        if self.scale.by_bits and self.scale.is_short and fmt is not None:
            value = self.reader.load(text, self.target, outer, inner, lanes)
            return multiplied(text, value, 1 / bits_factor(fmt), lanes)
        is_whole = not self.scale.is_short
        return self.reader.load(text, self.target, outer, inner, lanes, scaled=is_whole)
