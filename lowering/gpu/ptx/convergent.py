"""Inline PTX that all threads of a warp come to together, as `wgmma` and its like must."""

import re

_CALL = re.compile(r"^(.* call .* asm sideeffect .*\))$", re.MULTILINE)


def with_convergent_assembly(ir_text: str) -> str:
    """LLVM IR as MLIR writes it, in which no inline assembly with side effects is duplicated.

    `llvm.inline_asm` has no attribute for that; without it LLVM copies instructions into both sides
    of a branch.
    """
    return _CALL.sub(r"\1 convergent", ir_text)
