"""Whether the forms that a table names can run what they were timed for."""

import dataclasses
from typing import Any

from mlir_fp8.lowering.gpu.kernels.few_rows.shape import FewRows
from mlir_fp8.lowering.gpu.kernels.product.blocks import Blocks
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue, Product
from mlir_fp8.lowering.gpu.xla.times import FORMS, GATE, PARTS, Timed


def check_form(timed: Timed) -> None:
    """Raise `Fp8Error` where a kernel of that form does not run at the size that was timed."""
    form: dict[str, Any] = dict(zip(FORMS[timed.kernel], timed.form, strict=True))
    if timed.kernel == "few_rows":
        a_type = "f8E4M3FN" if timed.kind.startswith("f8") else "bf16"
        k_major = timed.kind.endswith("[n, k]")
        shape = FewRows(timed.m, timed.n, timed.k, a_type, "f8E4M3FN", k_major=k_major)
        dataclasses.replace(shape, **form).check()
        return
    exact, gated = timed.kind.startswith("exact"), timed.kind.endswith(GATE)
    blocks = Blocks(1, 32, by_k=True) if timed.kind == PARTS else None
    Product(
        timed.m,
        timed.n // 2 if gated else timed.n,
        timed.k,
        epilogue=Epilogue(gate="f32") if gated else Epilogue(),
        up="apart" if gated else "",
        exact_sums=exact,
        a_blocks=blocks,
        b_blocks=blocks,
        **form,
    ).check()
