"""Put the codes and scales of a cache into the places of its wide numbers."""

from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.dialects import fp8
from mlir_fp8.lowering.fp8.caches.find import Cache, is_dot
from mlir_fp8.lowering.fp8.caches.products import attend
from mlir_fp8.lowering.fp8.caches.writes import Write, write_of
from mlir_fp8.lowering.fp8.ops.scaling import broadcast, with_shape
from mlir_fp8.lowering.fp8.scaling.quantizers import erase_unused
from mlir_fp8.lowering.fp8.scaling.threading import append_operands
from mlir_fp8.lowering.fp8.weights.moves import moved
from mlir_fp8.lowering.fp8.weights.scaled import Scaled, quantized
from mlir_fp8.lowering.rewriting.stablehlo import build, convert


def replace_cache(cache: Cache, scaled: Scaled, format_: str, *, is_written: bool) -> None:
    """Let `cache` be the codes of `scaled`, of `format_`; `scaled.codes` is its argument itself.

    With `is_written` the scales are written beside the codes, and given back as the last result.
    """
    work = _Replacing(cache, format_, is_written=is_written)
    work.replace(scaled.codes, scaled)
    for op, side, codes in work.dots:
        attend(op, side, codes)
    erase_unused(work.dead)


@dataclass
class _Replacing:
    cache: Cache
    format: str
    is_written: bool
    dots: list[tuple[ir.Operation, int, Scaled]] = field(default_factory=list)
    dead: list[ir.Operation] = field(default_factory=list)

    def replace(self, old: ir.Value, scaled: Scaled) -> None:
        """Let all that takes `old` take what `scaled` has, but for dots, which are noted."""
        for op, number in [(use.owner.operation, use.operand_number) for use in old.uses]:
            write = write_of(op, number)
            if is_dot(op):
                self.dots.append((op, number, scaled))
            elif write is not None:
                after = self._written(write, scaled)
                self.dead.append(op)
                self.replace(op.results[0], after)
            elif op.name == "stablehlo.while":
                self._carry(op, number, scaled)
            elif op.name in ("stablehlo.return", "func.return"):
                op.operands[number] = scaled.codes
                if self.is_written:
                    append_operands(op, [scaled.scale])
            else:
                after = moved(op, number, scaled)
                if after is None:
                    reason = f"moves cache '{self.cache.name}' so that scales cannot follow"
                    raise self.cache.refuse(op, f"{reason}: leave it to the dots")
                self.dead.append(op)
                self.replace(op.results[0], after)

    def _written(self, write: Write, scaled: Scaled) -> Scaled:
        with ir.InsertionPoint(write.op), write.op.location:
            if not self.is_written:
                scale = self._known_scale(write, scaled)
                x = convert(write.rows, ir.F32Type.get())
                element = ir.RankedTensorType(scaled.codes.type).element_type
                rows = fp8.quantize(x, scale, element, saturate=True)
                codes = write.into(scaled.codes, rows, [])
                return Scaled(codes, scaled.scale, scaled.blocks, scaled.name)
            self._check_whole(write, scaled)
            shared = [dim for dim, block in enumerate(scaled.blocks) if not block]
            own = {write.whole[dim] for dim in shared if dim in write.whole}
            sizes = write.row_shape
            made = quantized(
                write.rows, tuple(int(dim not in own) for dim in range(len(sizes))), self.format
            )
            ones = [1 if dim in own else size for dim, size in enumerate(sizes)]
            scale = _reshaped(made.scale, ones)
            codes = write.into(scaled.codes, made.codes, [])
            return Scaled(
                codes, write.into(scaled.scale, scale, shared), scaled.blocks, scaled.name
            )

    def _check_whole(self, write: Write, scaled: Scaled) -> None:
        """Refuse rows of which a part is written, or parts to several places."""
        for dim, (size, block) in enumerate(zip(self.cache.shape, scaled.blocks, strict=True)):
            if size > 1 and not block and dim not in write.uniform & write.whole.keys():
                reason = f"writes parts of what has one scale in cache '{scaled.name}'"
                raise self.cache.refuse(write.op, f"{reason}: write whole rows, take scales 'head'")

    def _known_scale(self, write: Write, scaled: Scaled) -> ir.Value:
        """The scale of the rows that `write` puts into the cache, of their rank or of rank 0."""
        sizes = list(ir.RankedTensorType(scaled.scale.type).shape)
        if not sizes:
            return scaled.scale
        own = write.row_shape
        if write.op.name == "stablehlo.dynamic_update_slice":
            taken = [min(pair) for pair in zip(sizes, own, strict=True)]
            attributes = {"slice_sizes": ir.DenseI64ArrayAttr.get(taken)}
            starts = list(write.op.operands)[2:]
            type_ = with_shape(scaled.scale, taken)
            return build("dynamic_slice", type_, [scaled.scale, *starts], attributes)
        kept = [dim for dim, size in enumerate(sizes) if size > 1]
        if any(dim not in write.whole for dim in kept):
            reason = f"writes some of the heads of cache '{scaled.name}' alone"
            raise self.cache.refuse(write.op, f"{reason}: write all, or take scales 'token'")
        places = [write.whole[dim] for dim in kept]
        ones = [size if dim in places else 1 for dim, size in enumerate(own)]
        heads = _reshaped(scaled.scale, [sizes[dim] for dim in kept])
        return broadcast(heads, with_shape(heads, ones), places)

    def _carry(self, loop: ir.Operation, number: int, scaled: Scaled) -> None:
        """Let `loop` carry codes in the place `number`, and the scale after all others."""
        types = [result.type for result in loop.results]
        types[number] = scaled.codes.type
        operands = list(loop.operands)
        operands[number] = scaled.codes
        more = [scaled.scale] if self.is_written else []
        new = ir.Operation.create(
            loop.name,
            results=[*types, *(each.type for each in more)],
            operands=[*operands, *more],
            attributes={name: loop.attributes[name] for name in loop.attributes},
            regions=2,
            loc=loop.location,
            ip=ir.InsertionPoint(loop),
        )
        for old_region, region in zip(loop.regions, new.regions, strict=True):
            old_region.blocks[0].append_to(region)
            block = region.blocks[0]
            block.arguments[number].set_type(scaled.codes.type)
            for each in more:
                block.add_argument(each.type, loop.location)
        for old, result in zip(loop.results, new.results, strict=False):
            old.replace_all_uses_with(result)
        loop.erase()
        for values in (list(new.regions[1].blocks[0].arguments), list(new.results)):
            scale = values[-1] if self.is_written else scaled.scale
            self.replace(values[number], Scaled(values[number], scale, scaled.blocks, scaled.name))


def _reshaped(value: ir.Value, shape: list[int]) -> ir.Value:
    type_ = with_shape(value, shape)
    return value if value.type == type_ else build("reshape", type_, [value])
