"""Whether numbers of f8 are lost where scales of f8E8M0FNU make bf16 of them.

2^-127 times a subnormal f8E4M3FN is below bf16's last place, not below f32's. Such a product is
computed in f32. Blocks of zeros, to which some quantizers give such scales, lose nothing.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.vector_code.expression import Expression, Leaf
from mlir_fp8.lowering.kernels.vector_code.scaled_codes import ScaledCodes, scaled_codes
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_LANES = 64


@dataclass(frozen=True)
class LossyScales:
    """The leaves of an operand some of whose numbers may be lost, and the function that looks."""

    scale: Leaf
    codes: Leaf
    text: str
    """Its parameters are both buffers, the offsets in them, and a flag of i32, set where any is."""


def lossy_scales(product: Contraction) -> list[LossyScales]:
    """Of each operand of `product`, which is multiplied as bf16, that may have such scales."""
    found: list[LossyScales] = []
    for side in (product.left, product.right):
        codes = scaled_codes(side)
        if codes is not None and codes.lossy_scales:
            found.append(_looking(product, side, codes))
    return found


def _looking(product: Contraction, side: Expression, codes: ScaledCodes) -> LossyScales:
    scale, code = side.leaves[codes.scale_leaf], side.leaves[codes.leaf]
    text = KernelText()
    for name in ("scales", "codes"):
        text.line(f"%{name} = memref.cast %{name[0]} : memref<1xi8> to memref<?xi8>")
    text.line("%flags = memref.cast %to : memref<1xi32> to memref<?xi32>")
    least = codes.lossy_scales
    outer = [
        (d, size // scale.group(d), scale.strides[d])
        for d, size in enumerate(product.sizes)
        if scale.strides[d]
    ]
    with _where_small(text, outer, least), contextlib.ExitStack() as stack:
        places = {}
        at = "%s_at"
        for d, count, stride in outer:
            loop = text.loop(text.index(0), text.index(count), text.index(1))
            places[d] = stack.enter_context(loop)
            at = text.add(at, text.mul(places[d], stride))
        stack.enter_context(text.when(_is_below(text, f"%scales[{at}]", least)))
        place = "%q_at"
        for d, stride in enumerate(code.strides):
            if not stride:
                continue
            start = text.index(0)
            count = scale.group(d) if d in places else product.sizes[d]
            if d in places:
                start = text.mul(places[d], count)
            loop = text.loop(text.index(0), text.index(count), text.index(1))
            inside = text.add(start, stack.enter_context(loop))
            place = text.add(place, text.mul(inside, stride))
        byte = text.value(f"memref.load %codes[{place}] : memref<?xi8>")
        mask = text.constant(f"{codes.format.magnitude_mask} : i8")
        magnitude = text.value(f"arith.andi {byte}, {mask} : i8")
        is_lost = text.value(f"arith.cmpi ne, {magnitude}, {text.constant('0 : i8')} : i8")
        with text.when(is_lost):
            one = text.constant("1 : i32")
            text.line(f"memref.store {one}, %flags[{text.index(0)}] : memref<?xi32>")
    buffers = [("%s", "memref<1xi8>"), ("%s_at", "index"), ("%c", "memref<1xi8>")]
    numbers = [("%q_at", "index"), ("%to", "memref<1xi32>")]
    return LossyScales(scale, code, text.function("NAME", [*buffers, *numbers]))


@contextlib.contextmanager
def _where_small(text: KernelText, outer: list[tuple[int, int, int]], least: int) -> Iterator[None]:
    """What follows is done if any scale is small; asked first where they lie side by side."""
    size = 1
    for _, count, stride in sorted(outer, key=lambda each: each[2]):
        size = size * count if stride == size else 0
    if not size:
        yield
        return
    vector = f"vector<{_LANES}xi8>"
    last = size // _LANES * _LANES
    most = text.constant(f"dense<-1> : {vector}")
    step = text.index(_LANES)
    with text.fold(text.index(0), text.index(last), step, [most], [vector]) as fold:
        at, carried, found = fold
        each = text.value(f"vector.load %scales[{text.add('%s_at', at)}] : memref<?xi8>, {vector}")
        carried[0] = text.value(f"arith.minui {carried[0]}, {each} : {vector}")
    smallest = text.value(f"vector.reduction <minui>, {found[0]} : {vector} into i8")
    rest = text.index(last), text.index(size), text.index(1)
    with text.fold(*rest, [smallest], ["i8"]) as (at, carried, found):
        each = text.value(f"memref.load %scales[{text.add('%s_at', at)}] : memref<?xi8>")
        carried[0] = text.value(f"arith.minui {carried[0]}, {each} : i8")
    bound = text.constant(f"{least} : i8")
    with text.when(text.value(f"arith.cmpi ult, {found[0]}, {bound} : i8")):
        yield


def _is_below(text: KernelText, place: str, least: int) -> str:
    scale = text.value(f"memref.load {place} : memref<?xi8>")
    return text.value(f"arith.cmpi ult, {scale}, {text.constant(f'{least} : i8')} : i8")
