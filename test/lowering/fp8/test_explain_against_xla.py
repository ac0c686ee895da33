"""What `fp8-explain --target=xla-gpu` says against the oracle of XLA's rewriter.

Both were written from the rewriter's source, one for fused ops, the other for programs.
"""

from pathlib import Path

import numpy as np
import pytest
import scaled_dot_programs as programs
from xla_gpu_matcher import verdicts

import mlir_fp8

ROOT = Path(__file__).parents[1]
FILES = [
    *sorted((ROOT / "patterns").glob("*.mlir")),
    *sorted((ROOT.parent / "models").glob("*[a-z].mlir")),
]
KINDS = {"fused": "MATCH", "partly fused": "PARTIAL", "not fused": "REJECT", "not FP8": "REJECT"}


def compared(source: Path | str) -> list[tuple[str, str]]:
    """For each dot, what the oracle says and what is explained."""
    module = mlir_fp8.load(source)
    rows = mlir_fp8.explain(module, "xla-gpu").rows
    explained = [KINDS[row.answers[0].verdict] for row in rows if row.op == "dot_general"]
    return list(zip((each.kind for each in verdicts(module)), explained, strict=True))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_files(file: Path) -> None:
    pairs = compared(file)
    assert pairs and all(oracle == explained for oracle, explained in pairs)


def random_program(seed: int) -> str:
    """Of sizes that XLA makes GEMMs of."""
    program = programs.Program(np.random.default_rng(seed))
    formats = ["f8E4M3FN", program.choose(programs.FAMILIES[0])]
    m, k, n = (int(program.random.choice([8, 16, 32])) for _ in range(3))
    element = program.choose(programs.WIDE)
    is_raw = program.chance(0.3)
    lhs = programs._operand(program, (m, k), formats[0], element, is_raw)
    rhs = programs._operand(program, (k, n), formats[1], element, is_raw)
    result = "f32" if program.chance() else element
    total = programs._dot(program, lhs, rhs, (), result)
    if is_raw and result == "f32":
        total = programs._sum_scales(program, total)
    programs._epilogue(program, total, formats[0])
    return program.text()


def test_random_programs(exhaustive: bool) -> None:
    """An FP8 product is never promised that XLA does not make, nor the other way round.

    Of what follows the product the oracle asks for the next op alone, and no constants are folded
    for it.
    """
    seen: set[tuple[str, str]] = set()
    for seed in range(150 if exhaustive else 40):
        text = random_program(seed)
        for oracle, explained in compared(text):
            assert (oracle == "REJECT") == (explained == "REJECT"), text
            if explained == "MATCH" and "i32" not in text:
                assert oracle == "MATCH", text
            seen.add((oracle, explained))
    assert {("REJECT", "REJECT"), ("PARTIAL", "PARTIAL"), ("MATCH", "MATCH")} <= seen
