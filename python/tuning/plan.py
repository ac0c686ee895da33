"""What `fp8-tune` times, and the random products whose values it checks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch_mlir import ir

from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.tuning.attention_works import AttentionWork
from mlir_fp8.tuning.gated_works import GatedWork
from mlir_fp8.tuning.grouped_works import GroupedWork
from mlir_fp8.tuning.making import Folder
from mlir_fp8.tuning.modules import (
    by_attention_kernel,
    by_kernels,
    by_xla,
    kernel_in_table,
    kind_of_work,
    parsed,
    size_of,
    with_kernels,
    with_quantizers,
)
from mlir_fp8.tuning.pieces import Piece
from mlir_fp8.tuning.quantizers import quantizer
from mlir_fp8.tuning.random_works import random_pieces
from mlir_fp8.tuning.works import Work

_SIZES = (
    # M, N, K, copies
    (1024, 1024, 1024, 16),
    (2048, 2048, 2048, 8),
    (4096, 4096, 4096, 1),
    (8192, 8192, 8192, 1),
    (4096, 14336, 4096, 1),
    (8192, 4096, 16384, 1),
    (512, 8192, 8192, 4),
    (128, 8192, 8192, 8),
    (64, 8192, 8192, 8),
    (16, 8192, 8192, 8),
)
_EPILOGUE: dict[str, Any] = {"activation": "gelu_tanh", "amax": True, "quantized": True}
_EPILOGUES = ((2048, 2048, 2048, 8), (4096, 16384, 4096, 1), (8192, 8192, 8192, 1))
_FEW_ROWS = (1, 4, 16, 32, 64)
_SCALED_SIZES = ((4096, 4096, 4096, 1), (8192, 8192, 8192, 1), (128, 8192, 8192, 8))
"""Of products with scales of blocks."""
_GATED = ((2048, 4096, 4096, 4), (8192, 14336, 4096, 1))
_GROUPED = (8, 2048, 4096, 4096)
"""Groups, rows of each, N and K."""
_ATTENTION = AttentionWork(16, 8192, 128)
_MATRIX = (16384, 8192)


def products(*, quick: bool) -> Iterator[Work]:
    for m, n, k, copies in ((128, 256, 256, 2),) if quick else _SIZES:
        for fast in (True, False):
            yield Work(m, n, k, copies=copies, fast_accum=fast)
    for m, n, k, copies in () if quick else _EPILOGUES:
        for fast in (True, False):
            yield Work(m, n, k, copies=copies, fast_accum=fast, result="f8E4M3FN", **_EPILOGUE)


def blocks(*, quick: bool) -> Iterator[Work]:
    for m, n, k, copies in ((128, 256, 256, 2),) if quick else _SCALED_SIZES:
        for each in ("1x128", "mx"):
            yield Work(m, n, k, copies=copies, blocks=each, fast_accum=False)


def gated(*, quick: bool) -> Iterator[GatedWork]:
    for m, n, k, copies in ((128, 256, 256, 2),) if quick else _GATED:
        for fast in (True, False):
            yield GatedWork(m, n, k, copies=copies, fast_accum=fast)
            yield GatedWork(m, n, k, copies=copies, fast_accum=fast, quantized=True)


def grouped(*, quick: bool) -> Iterator[GroupedWork]:
    groups, rows, n, k = (4, 32, 128, 128) if quick else _GROUPED
    sizes = (rows,) * groups
    for fast in (True, False):
        yield GroupedWork("forward", groups * rows, n, k, sizes, fast_accum=fast)
        yield GroupedWork("dw", k, n, groups * rows, sizes, b_type="f8E5M2", fast_accum=fast)


def few_rows(*, quick: bool) -> Iterator[Work]:
    n, k = (2048, 1024) if quick else (8192, 8192)
    for a_type in ("f8E4M3FN", "bf16"):
        scale = "tensor" if a_type == "f8E4M3FN" else ""
        for m in (4,) if quick else _FEW_ROWS:
            yield Work(m, n, k, a_type, a_scale=scale, copies=8)
            if m in (1, 16):
                yield Work(m, n, k, a_type, a_scale=scale, k_major=False, copies=8)


def write(folder: Path, *, quick: bool, checks: int, only: Sequence[str] = ()) -> Iterator[str]:
    """Write everything a card needs into `folder`; yields a line for each step."""
    made = Folder(folder)
    if not only or "checks" in only:
        yield f"{_write_checks(made, checks)} random products to check"
    if not only or "rates" in only:
        for each in rates(quick=quick):
            made.rate(*each)
        yield "rates of quantizations"
    for step, (kernel, works) in _WORKS.items():
        for work in works(quick=quick) if not only or step in only else ():
            kind = kind_of_work(work, kernel)
            variants = [("xla", by_xla(work)), *by_kernels(work, kernel)]
            made.time(work, kernel_in_table(kernel), kind, size_of(work, kernel), variants)
            yield f"{step} {work}: {len(variants) - 1} forms"
    if not only or "attention" in only:
        work = AttentionWork(2, 256, 64) if quick else _ATTENTION
        for name, module in (
            ("attention", by_attention_kernel(work)),
            ("attention_by_xla", by_xla(work)),
        ):
            made.rate(name, module, work.arguments(), work.operations, "TFLOP/s")
        yield f"attention {work}"
    made.close()


_WORKS: Mapping[str, tuple[str, Callable[..., Iterator[Piece]]]] = {
    "product": ("product", products),
    "few_rows": ("few_rows", few_rows),
    "blocks": ("product", blocks),
    "gated": ("gated", gated),
    "grouped_product": ("grouped_product", grouped),
}
"""By the word of `only`."""


def rates(*, quick: bool) -> Iterator[tuple[str, ir.Module, list[dict[str, Any]], int]]:
    """Names of rates in a table, modules, arguments, and the bytes that these read and write."""
    rows, columns = (256, 384) if quick else _MATRIX
    x = f"tensor<{rows}x{columns}xbf16>"
    wide = [{"shape": [rows, columns], "dtype": "bf16", "kind": "normal", "std": 1.0}]
    size = rows * columns
    text = f"func.func @main(%x: {x}) -> {x} {{ %y = stablehlo.negate %x : {x} return %y : {x} }}"
    yield "copy", parsed(text), wide, 4 * size
    by_xla_too = (
        ("quantize_transpose", "delayed, transposed", 4),
        ("transposed", "delayed, alone transposed", 3),
        ("rows", "row", 3),
        ("groups", "1x128", 3),
    )
    for name, kind, bytes_ in by_xla_too:
        module = quantizer(kind, (rows, columns))
        run_pipeline(module, ["fp8-legalize-to-stablehlo"])
        yield f"{name}_by_xla", module, _taken(kind, rows, columns), bytes_ * size
    for name, kind, _ in by_xla_too[2:]:
        module = with_quantizers(quantizer(kind, (rows, columns)))
        yield f"quantize_{name}", module, _taken(kind, rows, columns), 3 * size
    for name, more in (("", 0), ("_by_8", 8), ("_of_any", 7)):
        kind, sizes = "delayed, transposed", (rows + more, columns + more)
        module = with_quantizers(quantizer(kind, sizes))
        yield f"quantize_transpose{name}", module, _taken(kind, *sizes), 4 * sizes[0] * sizes[1]


def _taken(kind: str, rows: int, columns: int) -> list[dict[str, Any]]:
    taken: list[dict[str, Any]] = [
        {"shape": [rows, columns], "dtype": "bf16", "kind": "normal", "std": 1.0}
    ]
    if kind.startswith("delayed"):
        taken.append({"shape": [], "dtype": "f32", "kind": "value", "value": 2.0**-6})
    return taken


def _write_checks(made: Folder, count: int) -> int:
    """Of sums without rounding, of which all bits count."""
    written = 0
    for seed, (work, kernel, shape, form) in enumerate(random_pieces(10 * count, 7)):
        if written == count:
            break
        if kernel == "gated" or getattr(work, "activation", "none") not in ("none", "relu"):
            continue
        module, plain = with_kernels([(work, kernel, shape)]), parsed(work.text())
        name = f"check {seed} {kernel} {work} {form}"
        made.check(name, module, plain, work.arguments(), seed)
        written += 1
    return written
