"""Matrix products of f8 and of the types that it is compared with.

Operands are small whole numbers, so that sums are exact. The right one is k x n; "transposed" is
n x k, as weights are, which torch gets too.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.cases import OURS, Case, Check, Contender
from benchmarks.engine import Engine
from benchmarks.engines import engines
from benchmarks.plan import Plan
from benchmarks.values import identical

SIZES = ((1, 4096, 4096), (8, 4096, 4096), (64, 64, 64), (256, 256, 256), (1024, 1024, 1024))
"""m, n and k."""
QUICK = ((1, 64, 64), (16, 16, 16))
CUBES = (1, 4, 16, 64, 256, 512, 1024, 2048, 4096)
F8, F8_MIXED = ("f8E4M3FN", "f8E4M3FN"), ("f8E5M2", "f8E4M3FN")
ELEMENTS = {
    F8: ("_scaled_mm", "bf16", "f32"),
    F8_MIXED: ("_scaled_mm",),
    ("bf16", "bf16"): ("bf16",),
    ("f32", "f32"): ("f32",),
}
"""Of the operands, and which products of torch's are beside them."""
ROUNDS, LARGE_ROUNDS = (5, 51), (2, 51)


def cases(plan: Plan) -> Iterator[Case]:
    if plan.growth:
        # One after the other by size: who is too slow for the next one is known then.
        cubes = QUICK[1:] if plan.quick else tuple((edge,) * 3 for edge in CUBES)
        for elements in (F8, F8_MIXED):
            yield from (_case(size, elements, plan) for size in cubes)
        return
    for size in QUICK if plan.quick else SIZES:
        yield from (_case(size, elements, plan) for elements in ELEMENTS)


def _case(size: tuple[int, ...], elements: tuple[str, str], plan: Plan) -> Case:
    from mlir_fp8.dialects.float_formats import FORMATS

    m, n, k = size
    left, right = operands(size)
    check = identical(left @ right)
    arrays = [
        array.astype(FORMATS[element].dtype)
        for array, element in zip((left, right), elements, strict=True)
    ]
    contenders: list[Contender] = []
    for engine in engines(plan):
        contenders.append(_by(engine, program_text(size, elements, 0), arrays, check))
        if engine.name == OURS and not plan.growth:
            turned = [arrays[0], np.ascontiguousarray(arrays[1].T)]
            ours = Engine(f"{OURS}, transposed", engine.threads, engine.compile, engine.bind)
            contenders.append(_by(ours, program_text(size, elements, 1), turned, check))
    if "torch" in plan.peers:
        contenders += _torch(ELEMENTS[elements], elements, (left, right), plan)
    name, shape = " x ".join(elements), "x".join(map(str, size))
    is_large = m * n * k > 1 << 30
    rounds = LARGE_ROUNDS if is_large else ROUNDS
    return Case(name, tuple(contenders), shape, 2 * m * n * k, "FLOP", rounds)


def _by(engine: Engine, text: str, arrays: list[np.ndarray], check: Check) -> Contender:
    return engine.contender(text, arrays, lambda results: check(results[0]))


def operands(size: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Two of f32, whose products' sums are exact in f32: they stay below 2^24."""
    m, n, k = size
    generator = np.random.default_rng(0)
    left, right = (generator.integers(-4, 5, shape) for shape in ((m, k), (k, n)))
    return left.astype(np.float32), right.astype(np.float32)


def program_text(size: tuple[int, ...], elements: tuple[str, str], contracting: int) -> str:
    """The product as a module, with sums of f32, or of i32; `contracting` is a dimension."""
    m, n, k = size
    left = f"tensor<{m}x{k}x{elements[0]}>"
    right = f"tensor<{f'{n}x{k}' if contracting else f'{k}x{n}'}x{elements[1]}>"
    result = f"tensor<{m}x{n}x{'i32' if elements[0] == 'i8' else 'f32'}>"
    return f"""
    func.func @main(%a: {left}, %b: {right}) -> {result} {{
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [{contracting}]
        : ({left}, {right}) -> {result}
      return %0 : {result}
    }}"""


def _torch(
    kinds: tuple[str, ...], elements: tuple[str, str], arrays: tuple[np.ndarray, ...], plan: Plan
) -> Iterator[Contender]:
    """With the right operand as n x k, which `_scaled_mm` asks for."""
    from benchmarks.peers import module, torch_cpu

    torch = module("torch")
    left, right = torch.from_numpy(arrays[0]), torch.from_numpy(arrays[1].T.copy())
    want = left @ right.T

    def check(found: Any) -> dict[str, float]:
        identical(torch_cpu.numbers(want.to(found.dtype)))(torch_cpu.numbers(found))
        return {}

    def product(kind: str) -> Callable[[], Any]:
        if kind == "f32":
            return lambda: left @ right.T
        if kind == "bf16":
            narrow = left.bfloat16(), right.bfloat16()
            return lambda: narrow[0] @ narrow[1].T
        one = torch.tensor(1.0)
        types = [getattr(torch, torch_cpu.TYPES[element]) for element in elements]
        a, b = left.to(types[0]), right.to(types[1])
        return lambda: torch._scaled_mm(a, b.T, one, one, out_dtype=torch.float32)

    for kind in kinds:
        for threads in plan.threads:
            run = torch_cpu.on_threads(threads, product(kind))
            yield Contender(f"torch {kind}", run, check, threads)
