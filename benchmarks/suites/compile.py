"""Compile time: the models and 500 mixed ops, from text to a program that runs."""

import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.cases import OURS, Case, Check, Contender, Sample, checks_itself
from benchmarks.engine import Engine
from benchmarks.engines import engines
from benchmarks.plan import Plan
from benchmarks.suites import models
from benchmarks.values import Agreement, near

ROUNDS = (3, 5)
TEN_OPS = """\
  %a{i} = stablehlo.dot_general %x{i}, %y, contracting_dims = [1] x [0]
    : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %b{i} = stablehlo.tanh %a{i} : tensor<16x16xf32>
  %c{i} = stablehlo.convert %b{i} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
  %d{i} = stablehlo.transpose %c{i}, dims = [1, 0]
    : (tensor<16x16xf8E4M3FN>) -> tensor<16x16xf8E4M3FN>
  %e{i} = stablehlo.add %d{i}, %c{i} : tensor<16x16xf8E4M3FN>
  %f{i} = stablehlo.convert %e{i} : (tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
  %g{i} = stablehlo.reduce(%f{i} init: %zero) applies stablehlo.maximum across dimensions = [1]
    : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
  %h{i} = stablehlo.broadcast_in_dim %g{i}, dims = [0] : (tensor<16xf32>) -> tensor<16x16xf32>
  %p{i} = stablehlo.compare GT, %h{i}, %b{i} : (tensor<16x16xf32>, tensor<16x16xf32>)
    -> tensor<16x16xi1>
  %x{j} = stablehlo.select %p{i}, %f{i}, %h{i} : tensor<16x16xi1>, tensor<16x16xf32>
"""
"""From %x{i} to %x{j}."""


def cases(plan: Plan) -> Iterator[Case]:
    # The widest code, and as many threads for whoever compiles with several.
    all_ = list(engines(replace(plan, threads=plan.threads[-1:])))
    for name in models.names(plan):
        arguments, wanted = models.arrays_of(name, "in"), models.arrays_of(name, "out")
        check = functools.partial(near, wanted, models.TOLERANCE)
        yield _case(name, models.text_of(name), arguments, check, all_)
        yield Case(f"{name}, stages", (_stages(name),), rounds=ROUNDS)
    rounds = 5 if plan.quick else 50
    generator = np.random.default_rng(0)
    arguments = [generator.standard_normal((16, 16), np.float32) for _ in range(2)]
    name = f"{10 * rounds} mixed ops"
    yield _case(name, mixed_ops(rounds), arguments, Agreement(1e-3).check, all_)


def _case(
    name: str,
    text: str,
    arguments: list[np.ndarray],
    check: Callable[..., Check],
    all_: list[Engine],
) -> Case:
    contenders = (
        _compiling(engine, text, arguments, check(is_strict=engine.is_strict)) for engine in all_
    )
    return Case(name, tuple(contenders), rounds=ROUNDS, starts_processes=True)


def _compiling(engine: Engine, text: str, arguments: list[np.ndarray], check: Check) -> Contender:
    def checked(executable: Any) -> Any:
        program = engine.bind(executable, arguments)
        return check(program.results(program.run()))

    return Contender(engine.name, lambda: engine.compile(text), checked, engine.threads)


def _stages(name: str) -> Contender:
    """Ours from the artifact, stage by stage."""
    import mlir_fp8

    def run() -> Sample:
        seconds: dict[str, float] = {}
        started = time.perf_counter()
        module = mlir_fp8.load(models.FOLDER / f"{name}.mlirbc")
        seconds["load s"] = time.perf_counter() - started
        mlir_fp8.compile(module, on_stage=lambda n, s, _: seconds.update({f"{n} s": s}))
        return Sample(time.perf_counter() - started, seconds)

    return Contender(OURS, run, checks_itself)


def mixed_ops(rounds: int) -> str:
    """A module of so many rounds of `TEN_OPS`."""
    return "\n".join(
        [
            "func.func @main(%x0: tensor<16x16xf32>, %y: tensor<16x16xf32>) -> tensor<16x16xf32> {",
            "  %zero = stablehlo.constant dense<0.0> : tensor<f32>",
            *(TEN_OPS.format(i=i, j=i + 1) for i in range(rounds)),
            f"  return %x{rounds} : tensor<16x16xf32>\n}}",
        ]
    )
