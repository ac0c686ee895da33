"""Casts of numpy arrays, beside a copy of as many bytes.

Contenders fill an array that they are given (ml_dtypes: `np.copyto`; torch: `copy_`), so that no
page of the operating system is counted; XLA:CPU gives new ones. The copy moves half as many bytes
as both arrays have: it reads and writes as many as the cast.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.cases import OURS, Case, Contender, refusing
from benchmarks.plan import Plan
from benchmarks.values import identical

PAIRS = (
    ("f32", "f8E4M3FN"),
    ("f8E4M3FN", "f32"),
    ("f32", "f8E5M2"),
    ("f8E5M2", "f32"),
    ("bf16", "f8E4M3FN"),
    ("f8E4M3FN", "bf16"),
    ("f16", "f8E4M3FN"),
    ("f8E4M3FN", "f16"),
    ("f8E4M3FN", "f8E5M2"),
)
USUAL, QUICK = 24, 12
GROWING = range(8, 29, 2)
"""Powers of two: 2^28 numbers of f32 are 1 GiB."""


def cases(plan: Plan) -> Iterator[Case]:
    powers = GROWING if plan.growth else (USUAL,)
    if plan.quick:
        powers = (QUICK - 2, QUICK) if plan.growth else (QUICK,)
    for source, target in PAIRS[:2] if plan.growth or plan.quick else PAIRS:
        for power in powers:
            yield _case(source, target, power, plan)


def _case(source: str, target: str, power: int, plan: Plan) -> Case:
    import mlir_fp8
    from mlir_fp8.dialects.float_formats import FORMATS

    held, given = FORMATS[source].dtype, FORMATS[target].dtype
    numbers = np.random.default_rng(0).standard_normal(1 << power, np.float32)
    array, out = numbers.astype(held), np.zeros(1 << power, given)
    check = identical(array.astype(given))
    contenders = [
        Contender(OURS, lambda t=t: mlir_fp8.cast(array, given, out=out, threads=t), check, t)
        for t in plan.threads
    ]
    if "numpy" in plan.peers:
        contenders.append(_copy((array.nbytes + out.nbytes) // 2))
    if "ml_dtypes" in plan.peers:
        contenders.append(Contender("ml_dtypes", lambda: _ml_dtypes(array, out), check))
    for name, key, peer in (("torch", "torch", _torch), ("XLA:CPU", "xla", _xla)):
        for threads in plan.threads if key in plan.peers else ():
            try:
                run, codes = peer(source, target, array, threads)
            except Exception as error:  # peers raise whatever they please
                contenders.append(refusing(name, threads, error))
                continue
            contenders.append(Contender(name, run, lambda found, c=codes: check(c(found)), threads))
    pair, size = f"{source} to {target}", f"2**{power}"
    return Case(pair, tuple(contenders), size, 1 << power, "elem")


def _copy(size: int) -> Contender:
    from_, to = np.ones(size, np.uint8), np.zeros(size, np.uint8)

    def copy() -> np.ndarray:
        np.copyto(to, from_)
        return to

    return Contender("copy", copy, identical(from_))


def _ml_dtypes(array: np.ndarray, out: np.ndarray) -> np.ndarray:
    np.copyto(out, array, casting="unsafe")
    return out


def _torch(
    source: str, target: str, array: np.ndarray, threads: int
) -> tuple[Callable[[], Any], Callable[[Any], np.ndarray]]:
    from benchmarks.peers import module, torch_cpu

    torch = module("torch")
    held = torch_cpu.tensor(array, source)
    result = torch.empty(array.size, dtype=getattr(torch, torch_cpu.TYPES[target]))
    return torch_cpu.on_threads(threads, lambda: result.copy_(held)), torch_cpu.codes


def _xla(
    source: str, target: str, array: np.ndarray, threads: int
) -> tuple[Callable[[], Any], Callable[[Any], np.ndarray]]:
    from benchmarks.peers import xla_cpu

    before, after = (f"tensor<{array.size}x{element}>" for element in (source, target))
    text = (
        f"func.func @main(%x: {before}) -> {after} {{\n"
        f"%y = stablehlo.convert %x : ({before}) -> {after}\nreturn %y : {after}\n}}"
    )
    engine = xla_cpu.engine(threads)
    run, results = engine.bind(engine.compile(text), [array])
    return run, lambda found: results(found)[0]
