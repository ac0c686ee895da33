"""What no form of StableHLO makes XLA:GPU run as one FP8 product.

The rules are those of openxla/xla, in xla/service/gpu/transforms: gemm_rewriter.cc
(`CreateF8CustomCall`, `GemmIsSupportedByCublasLt`), cudnn_fused_conv_rewriter.cc (`F8GraphConv`).
"""

import math
from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.context import op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.fp8 import Product

PLATFORMS = {
    "cuda": (("f8E4M3FN", "f8E5M2"),),
    "rocm": (("f8E4M3FN", "f8E5M2"), ("f8E4M3FNUZ", "f8E5M2FNUZ")),
}
"""The families of formats that each platform multiplies; gfx942 has FNUZ, gfx950 the others."""

NO_E5M2 = "XLA has no FP8 product of two E5M2"
_MAX_BATCH = 65535


def check_platform(platform: str) -> None:
    if platform not in PLATFORMS:
        raise Fp8Error(f"option 'platform' is one of {', '.join(PLATFORMS)}, not '{platform}'")


def are_both_e5m2(parts: Product) -> bool:
    """Of which XLA:GPU has no FP8 product: it wants one E4M3 operand."""
    formats = (str(ir.RankedTensorType(each.type).element_type) for each in (parts.a, parts.b))
    return all(each.startswith("f8E5M2") for each in formats)


def refuse_unsupported(parts: Product, platform: str) -> None:
    """Raise for what stays no FP8 product of `platform` whatever the form."""
    reason = next(_reasons(parts, platform), "")
    if reason:
        raise op_error(parts.op, reason)


def _reasons(parts: Product, platform: str) -> Iterator[str]:
    formats = [str(ir.RankedTensorType(each.type).element_type) for each in (parts.a, parts.b)]
    families = PLATFORMS[platform]
    if not any(set(formats) <= set(family) for family in families):
        multiplied = " or ".join(" and ".join(family) for family in families)
        yield (
            f"multiplies {formats[0]} by {formats[1]}: XLA:GPU on {platform} multiplies "
            f"{multiplied}; quantize to these{_elsewhere(formats, platform)}"
        )
    if not parts.is_dot:
        if platform != "cuda":
            yield "is a convolution: XLA has FP8 ones on cuda alone; dequantize on this platform"
        return
    numbers = _stablehlo.DotDimensionNumbers(parts.op.attributes["dot_dimension_numbers"])
    shape = ir.RankedTensorType(parts.a.type).shape
    batch = math.prod(shape[dim] for dim in numbers.lhs_batching_dimensions)
    if batch > _MAX_BATCH:
        yield f"has {batch} batches, cublasLt takes at most {_MAX_BATCH}: split the batch"


def _elsewhere(formats: list[str], platform: str) -> str:
    others = [name for name in PLATFORMS if name != platform]
    for other in others:
        if any(set(formats) <= set(family) for family in PLATFORMS[other]):
            return f", or give platform={other}"
    return ""
