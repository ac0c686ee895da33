"""Loop annotations for LLVM's vectorizer reach LLVM IR."""

import re

import pytest
from torch_mlir import ir

from mlir_fp8 import pipelines
from mlir_fp8.aot.llvm_ir import llvm_ir
from mlir_fp8.base.context import make_context
from mlir_fp8.passes.pass_pipeline import run_pipeline

WIDE = {"vectorize.width": 8, "interleave.count": 2}
PLAIN = {"interleave.count": 1}
FOR = "scf.for %i = %c0 to %c64 step %c1"
LOAD = "%x = memref.load %a[%i] : memref<64xf32>"


def hints(loop: str) -> list[dict[str, int]]:
    """Those of each loop, in the order of LLVM IR."""
    text = (
        "func.func @main(%a: memref<64xf32>, %b: memref<64xf32>, %c: memref<f32>) {\n"
        "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
        f"%c64 = arith.constant 64 : index\n%c15 = arith.constant 15 : index\n{loop}\nreturn\n}}"
    )
    module = ir.Module.parse(text, make_context())
    lowering = pipelines.to_llvm()
    run_pipeline(module, lowering[lowering.index("scf-for-loop-fusion") :])
    lines = llvm_ir(module).splitlines()
    nodes = dict(line.split(" = ", 1) for line in lines if line.startswith("!"))
    found = []
    for line in lines:
        for loop_id in re.findall(r"!llvm\.loop (!\d+)", line):
            inner = "".join(nodes[each] for each in re.findall(r"!\d+", nodes[loop_id])[1:])
            found.append(
                {k: int(v) for k, v in re.findall(r'"llvm\.loop\.([\w.]+)", i32 (\d+)', inner)}
            )
    return found


@pytest.mark.parametrize(
    "body",
    [
        "%y = math.exp %x : f32",
        "%w = arith.extf %x : f32 to f64\n%e = math.exp %w {mlir_fp8.to_f32} : f64\n"
        "%y = arith.truncf %e : f64 to f32",
    ],
    ids=["of f32", "of f64 for f32"],
)
def test_functions_fill_registers(body: str) -> None:
    loop = f"{FOR} {{\n{LOAD}\n{body}\nmemref.store %y, %b[%i] : memref<64xf32>\n}}"
    assert hints(loop) == [WIDE]
    assert hints(loop.replace("%c64", "%c15")) == [PLAIN]  # trip count below 2 * 8


def test_arithmetic_is_as_llvm_likes() -> None:
    body = "%y = arith.addf %x, %x : f32\nmemref.store %y, %b[%i] : memref<64xf32>"
    loop = f"{FOR} {{\n{LOAD}\n{body}\n}}"
    assert hints(loop) == []  # neither a width nor a limit


def test_sums_of_functions_keep_their_order() -> None:
    """A vectorization width would let LLVM reassociate the sum."""
    loop = (
        f"{FOR} {{\n{LOAD}\n%e = math.exp %x : f32\n%old = memref.load %c[] : memref<f32>\n"
        "%y = arith.addf %old, %e : f32\nmemref.store %y, %c[] : memref<f32>\n}"
    )
    assert hints(loop) == []  # neither a width nor a limit
