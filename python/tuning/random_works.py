"""Random products of all kinds that have kernels, whose values a card is checked by."""

import dataclasses
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import MOST_ROWS, FewRows
from mlir_fp8.lowering.gpu.kernels.grouped.shape import Grouped
from mlir_fp8.tuning.gated_works import GatedWork
from mlir_fp8.tuning.grouped_works import GroupedWork
from mlir_fp8.tuning.modules import Shape, candidates, chosen_form
from mlir_fp8.tuning.pieces import Piece
from mlir_fp8.tuning.works import Work

_F8 = ("f8E4M3FN", "f8E5M2")
_WIDE = ("bf16", "f16", "f32")


def random_pieces(
    count: int, seed: int, most: int = 700
) -> Iterator[tuple[Piece, str, Shape, str]]:
    """So many products: as what each is timed, a form of its kernel and the name of that.

    Sizes are up to about `most`. A kernel that no random sizes fit is drawn again.
    """
    chosen = random.Random(seed)
    kinds = [name for name, (weight, _) in _KINDS.items() for _ in range(weight)]
    made = 0
    while made < count:
        name = kinds[made % len(kinds)]
        kernel, work = _KINDS[name][1](chosen, most)
        try:
            forms = candidates(work, kernel) or [chosen_form(work, kernel)]
        except Fp8Error:
            continue  # no sum of so few columns is a matrix's, say
        form, shape = chosen.choice(forms)
        made += 1
        if chosen.random() < 0.4 and (fewer := _on_few_blocks(chosen, shape)) is not None:
            yield work, kernel, fewer, f"{form} on few blocks"
        else:
            yield work, kernel, shape, form


def _on_few_blocks(chosen: random.Random, shape: Shape) -> Shape | None:
    """With so few blocks that each has several tiles, as of matrices that are much larger."""
    if isinstance(shape, FewRows):
        return None
    product = shape.product if isinstance(shape, Grouped) else shape
    product = dataclasses.replace(product, blocks=product.together * chosen.randint(1, 3))
    made = dataclasses.replace(shape, product=product) if isinstance(shape, Grouped) else product
    try:
        made.check()
    except Fp8Error:
        return None
    return made


def _size(chosen: random.Random, most: int) -> int:
    """Any, of whole tiles, or of parts of one."""
    each = chosen.choice([1, 32, 128])
    return each * chosen.randint(1, max(1, most // each))


def _pair(chosen: random.Random) -> tuple[str, str]:
    return chosen.choice(_F8), chosen.choice(_F8)


def _steps(chosen: random.Random) -> dict[str, Any]:
    """What comes behind a sum; the results of activations that have no exact ones are near."""
    quantized = chosen.random() < 0.4
    return {
        "result": chosen.choice(_F8 if quantized else _WIDE),
        "bias": chosen.choice(["", "", "f32", "bf16"]),
        "activation": chosen.choice(["none", "none", "relu", "gelu_tanh", "gelu_erf"]),
        "amax": chosen.random() < 0.4,
        "quantized": quantized,
        "c": chosen.choice(["", "", "", "f32", "bf16"]),
    }


def _product(chosen: random.Random, most: int) -> tuple[str, Work]:
    steps = _steps(chosen)
    batches = chosen.choice([1, 1, 1, chosen.randint(2, 5)])
    work = Work(
        max(1, _size(chosen, most) // batches),
        _size(chosen, most),
        16 * chosen.randint(1, 120 // batches),
        *_pair(chosen),
        k_major=chosen.random() < 0.7,
        a_scale=chosen.choice(["", "tensor", "row"]),
        b_scale=chosen.choice(["", "tensor", "column"]),
        fast_accum=chosen.random() < 0.6,
        batches=batches,
        turned=steps["quantized"] and batches == 1 and chosen.random() < 0.5,
        **steps,
    )
    return "product", work


def _shared(chosen: random.Random, most: int) -> tuple[str, Work]:
    """Long sums of few tiles."""
    name, work = _product(chosen, most)
    sizes = {"m": chosen.randint(1, most // 3), "n": chosen.randint(1, most // 3)}
    long = 16 * chosen.randint(64, 250)
    return name, dataclasses.replace(work, **sizes, k=long, batches=1, turned=False)


def _blocks(chosen: random.Random, most: int) -> tuple[str, Work]:
    steps = {**_steps(chosen), "c": ""}
    squares = 128 * chosen.randint(1, max(1, most // 128))
    k = chosen.choice([16 * chosen.randint(1, 8), 128 * chosen.randint(1, 8)])
    work = Work(
        _size(chosen, most),
        squares,
        k,
        *_pair(chosen),
        k_major=chosen.random() < 0.7,
        blocks="1x128",
        **steps,
    )
    return "product", work


def _mx(chosen: random.Random, most: int) -> tuple[str, Work]:
    name, work = _blocks(chosen, most)
    sizes = {"n": _size(chosen, most), "k": 32 * chosen.randint(1, 40)}
    return name, dataclasses.replace(work, blocks="mx", **sizes)


def _few_rows(chosen: random.Random, most: int) -> tuple[str, Work]:
    a_type = chosen.choice([*_F8, *_WIDE])
    wide = chosen.random() < 0.3  # enough for the forms that are timed
    work = Work(
        chosen.randint(1, MOST_ROWS),
        chosen.randint(most, 8 * most) if wide else _size(chosen, most),
        chosen.randint(1, 600 if wide else 1500),
        a_type,
        chosen.choice(_F8),
        k_major=chosen.random() < 0.7,
        result=chosen.choice(_WIDE),
    )
    if work.is_weight_only:
        return "few_rows", dataclasses.replace(work, a_scale="")
    steps = {
        "a_scale": chosen.choice(["", "tensor", "row"]),
        "b_scale": chosen.choice(["", "tensor", "column"]),
        "bias": chosen.choice(["", "", "f32", "bf16"]),
        "activation": chosen.choice(["none", "relu"]),
    }
    return "few_rows", dataclasses.replace(work, **steps)


def _grouped(chosen: random.Random, most: int) -> tuple[str, GroupedWork]:
    mode = chosen.choice(["forward", "dx", "dw"])
    groups = chosen.randint(1, 9)
    rows = 16 * chosen.randint(1, most // 16)
    parts = [chosen.choice([0, chosen.randint(0, 2 * rows // groups)]) for _ in range(groups)]
    sizes: list[int] = []
    for part in parts:
        sizes.append(min(part, rows - sum(sizes)))
    inner = 16 * chosen.randint(1, 40)
    m, k = (inner, rows) if mode == "dw" else (rows - chosen.randint(0, 15), inner)
    sizes = [min(each, m) for each in sizes] if mode != "dw" else sizes
    work = GroupedWork(
        mode,
        m,
        _size(chosen, most // 2),
        k,
        tuple(sizes),
        *_pair(chosen),
        a_scale=chosen.choice(["", "tensor", "row", "group"]),
        b_scale=chosen.choice(["", "tensor", "column", "group"]),
        result=chosen.choice(_WIDE),
        fast_accum=chosen.random() < 0.6,
    )
    return "grouped_product", work


def _gated(chosen: random.Random, most: int) -> tuple[str, GatedWork]:
    work = GatedWork(
        _size(chosen, most // 2),
        _size(chosen, most // 2),
        16 * chosen.randint(1, 60),
        *_pair(chosen),
        type=chosen.choice(_WIDE),
        joined=chosen.random() < 0.5,
        quantized=chosen.random() < 0.5,
        fast_accum=chosen.random() < 0.6,
    )
    return "gated", work


_KINDS: Mapping[str, tuple[int, Callable[[random.Random, int], tuple[str, Piece]]]] = {
    "product": (5, _product),
    "shared": (2, _shared),
    "blocks": (2, _blocks),
    "mx": (1, _mx),
    "few_rows": (4, _few_rows),
    "grouped": (4, _grouped),
    "gated": (2, _gated),
}
"""Of each kind so many of twenty."""
