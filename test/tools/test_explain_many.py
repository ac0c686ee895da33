"""Modules of many dots: what explaining one costs does not grow with the others."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import mlir_fp8

WIDE, TYPE = "tensor<16x16xf32>", "tensor<16x16xf8E4M3FN>"
HEAD = f"""
func.func @main(%a: {TYPE}, %b: {TYPE}, %s: tensor<f32>) -> {WIDE} {{
  %lo = stablehlo.constant dense<-448.0> : {WIDE}
  %hi = stablehlo.constant dense<448.0> : {WIDE}
  %f = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> {WIDE}
  %r0 = stablehlo.constant dense<0.0> : {WIDE}"""
DOT = f"""
  %x{{0}} = stablehlo.convert %a : ({TYPE}) -> {WIDE}
  %y{{0}} = stablehlo.multiply %x{{0}}, %f : {WIDE}
  %z{{0}} = stablehlo.convert %b : ({TYPE}) -> {WIDE}
  %d{{0}} = stablehlo.dot %y{{0}}, %z{{0}} : ({WIDE}, {WIDE}) -> {WIDE}
  %e{{0}} = stablehlo.divide %d{{0}}, %f : {WIDE}
  %c{{0}} = stablehlo.clamp %lo, %e{{0}}, %hi : {WIDE}
  %q{{0}} = stablehlo.convert %c{{0}} : ({WIDE}) -> {TYPE}
  %w{{0}} = stablehlo.convert %q{{0}} : ({TYPE}) -> {WIDE}
  %r{{1}} = stablehlo.add %r{{0}}, %w{{0}} : {WIDE}"""


def many(count: int) -> str:
    """Dots that share their operands, scales and clamp bounds."""
    dots = "".join(DOT.format(i, i + 1) for i in range(count))
    return f"{HEAD}{dots}\n  return %r{count} : {WIDE}\n}}"


@contextmanager
def counted_work() -> Iterator[list[int]]:
    """How many functions run inside, and how long the lists are that they return."""
    count = [0]

    def count_call(_frame: object, event: str, argument: object) -> None:
        count[0] += event in ("call", "c_call")
        if event == "return" and isinstance(argument, list):
            count[0] += len(argument)

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        yield count
    finally:
        sys.setprofile(before)


def work(count: int) -> int:
    module = mlir_fp8.load(many(count))
    with counted_work() as counted:
        explanation = mlir_fp8.explain(module, "all")
        warnings = mlir_fp8.lint(module)
    assert len(explanation.rows) == count and not warnings
    assert explanation.counts("fp8")["fused"] == count
    return counted[0]


def test_work_is_linear_in_the_number_of_dots() -> None:
    work(1)
    few, more = work(20), work(160)
    assert more < 8 * few
