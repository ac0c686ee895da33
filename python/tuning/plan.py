"""What `fp8-tune` times, and the random products whose values it checks."""

import dataclasses
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.tuning.making import Folder
from mlir_fp8.tuning.modules import (
    by_kernels,
    by_xla,
    candidates,
    chosen_form,
    kind_of_work,
    parsed,
    with_kernel,
    with_quantizers,
)
from mlir_fp8.tuning.quantizers import quantizer
from mlir_fp8.tuning.works import Work

MOST_ROWS = 64
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
_MATRIX = (16384, 8192)


def products(*, quick: bool) -> Iterator[Work]:
    for m, n, k, copies in ((128, 256, 256, 2),) if quick else _SIZES:
        for fast in (True, False):
            yield Work(m, n, k, copies=copies, fast_accum=fast)
    for m, n, k, copies in () if quick else _EPILOGUES:
        for fast in (True, False):
            yield Work(m, n, k, copies=copies, fast_accum=fast, result="f8E4M3FN", **_EPILOGUE)


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
    for kernel, works in (("product", products), ("few_rows", few_rows)):
        for work in works(quick=quick) if not only or kernel in only else ():
            kind = kind_of_work(work, kernel)
            variants = [("xla", by_xla(work)), *by_kernels(work, kernel)]
            made.time(work, kernel, kind, variants)
            yield f"{kernel} {work}: {len(variants) - 1} forms"
    made.close()


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
    written = 0
    for seed, (kernel, work) in enumerate(random_works(count, 7)):
        try:
            forms = candidates(work, kernel) or [chosen_form(work, kernel)]
        except Fp8Error:
            continue  # no sum of so few columns is a matrix's, say
        form, shape = random.Random(seed).choice(forms)
        module, plain = with_kernel(work, kernel, shape), parsed(work.text())
        name = f"check {seed} {kernel} {work} {form}"
        made.check(name, module, plain, work.arguments(), seed)
        written += 1
    return written


def random_works(count: int, seed: int) -> Iterator[tuple[str, Work]]:
    """Products of odd sizes, formats and epilogues, every second one of few rows."""
    chosen = random.Random(seed)
    for index in range(count):
        n = chosen.choice([chosen.randint(1, 700), 128 * chosen.randint(1, 6)])
        if index % 2:
            yield "few_rows", _few_rows(chosen, n)
        else:
            yield "product", _product(chosen, n)


_F8 = ("f8E4M3FN", "f8E5M2")


def _product(chosen: random.Random, n: int) -> Work:
    a_type, b_type = chosen.choice([("f8E4M3FN",) * 2, _F8, _F8[::-1]])
    quantized = chosen.random() < 0.4
    return Work(
        chosen.randint(1, 700),
        n,
        16 * chosen.randint(1, 120),
        a_type,
        b_type,
        a_scale=chosen.choice(["", "tensor", "row"]),
        b_scale=chosen.choice(["", "tensor", "column"]),
        result=chosen.choice(_F8 if quantized else ("bf16", "f16", "f32")),
        bias=chosen.choice(["", "", "f32", "bf16"]),
        activation=chosen.choice(["none", "relu"]),
        amax=chosen.random() < 0.4,
        quantized=quantized,
        fast_accum=chosen.random() < 0.6,
    )


def _few_rows(chosen: random.Random, n: int) -> Work:
    a_type = chosen.choice([*_F8, "bf16", "f16", "f32"])
    work = Work(
        chosen.randint(1, MOST_ROWS),
        n,
        chosen.randint(1, 1500),
        a_type,
        "f8E4M3FN" if a_type == "f8E5M2" else chosen.choice(_F8),
        k_major=chosen.random() < 0.7,
        result=chosen.choice(["bf16", "f16", "f32"]),
    )
    if work.is_weight_only:
        return dataclasses.replace(work, a_scale="")
    return dataclasses.replace(
        work,
        a_scale=chosen.choice(["", "tensor", "row"]),
        b_scale=chosen.choice(["", "tensor", "column"]),
        bias=chosen.choice(["", "", "f32", "bf16"]),
        activation=chosen.choice(["none", "relu"]),
    )
