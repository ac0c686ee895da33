"""What several targets refuse of a fused op: rules of the hardware and of cuBLASLt.

A rule takes the fused op and the device, and yields what is in the way. The documentation of cuBLAS
that rules cite is https://docs.nvidia.com/cuda/cublas/, "Narrow Precision Data Types Usage" and
`cublasLtMatmul()`; that of XLA is xla/service/gpu/transforms/gemm_rewriter.cc in openxla/xla.
"""

from collections.abc import Callable, Iterator

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.fp8.scaled_dot.device import Device
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.fused_view import FusedView, Side

Rule = Callable[[FusedView, Device], Iterator[Obstacle]]

E5M2 = ("f8E5M2", "f8E5M2FNUZ")
_FNUZ = ("f8E4M3FNUZ", "f8E5M2FNUZ")
_MAX_BATCH = 65535


def obstacle(view: FusedView, kind: str, part: str, message: str, edit: str) -> Obstacle:
    """An obstacle at the fused op."""
    return Obstacle(kind, part, message, view.location, edit)


def compute_capability(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """FP8 tensor cores start with compute capability 8.9 (cuBLAS, table of scaling modes; XLA,
    `CreateF8CustomCall`: "only available on Ada, Hopper, and later"; pytorch,
    `scaled_mm_arch_allowed`); AMD's with gfx942.
    """
    if not device.formats:
        message = f"{device.name} multiplies no FP8: the dot runs in 16 bits"
        edit = "run it on compute capability 8.9 or newer, or on gfx942 or newer"
        yield obstacle(view, "compute-capability", "dot", message, edit)


def formats(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Operands are E4M3FN or E5M2, on gfx942 their FNUZ forms (XLA, `CreateF8CustomCall`: "The
    input types must be F8E5M2 or F8E4M3FN" on CUDA; cuBLAS, table of data types).
    """
    for side in view.sides:
        if not device.formats or side.element in device.formats:
            continue
        where = "; of FNUZ formats only AMD's gfx942 has products" if side.element in _FNUZ else ""
        known = " and ".join(device.formats)
        message = f"FP8 kernels of {device.name} multiply {known}, not {side.element}"
        wanted = device.formats[side.element in E5M2]
        edit = f"quantize the {side.part} to {wanted}"
        yield obstacle(view, "format", side.part, f"{message}{where}", edit)


def both_e5m2(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """At least one operand is E4M3 (cuBLAS, table of data types; XLA, `CreateF8CustomCall`;
    pytorch, `_scaled_mm_out_cuda`: "Multiplication of two Float8_e5m2 matrices is not supported").
    Tensor cores multiply two E5M2 (PTX ISA, `wgmma.mma_async`), so a kernel of ours does.
    """
    if all(side.scale_element == "f8E8M0FNU" for side in view.sides):
        return  # which kernels of blocks of 32 refuse, or take, by their own rules
    if all(side.element in E5M2 for side in view.sides):
        narrow = "f8E4M3FNUZ" if view.sides[0].element.endswith("FNUZ") else "f8E4M3FN"
        edit = f"quantize the operand that is no gradient to {narrow}"
        message = "both operands are E5M2, of which GPU libraries have no product"
        yield obstacle(view, "both-e5m2", "dot", message, edit)


def contracting_dims(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """A GEMM sums over one dimension (XLA, `CreateF8CustomCall`: "A and B must have one contracting
    dimension"; cuBLASLt and torch._scaled_mm take matrices).
    """
    count = len(view.sides[0].contracting)
    if count > 1:
        message = f"a GEMM sums over one dimension, this dot over {count}"
        edit = "reshape the contracting dimensions of both FP8 operands into one"
        yield obstacle(view, "contracting-dims", "dot", message, edit)
    elif not count:
        message = "the dot sums over no dimension, a GEMM over one"
        yield obstacle(view, "contracting-dims", "dot", message, "give both operands a K of 1")


def batch_count(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """At most 65535 products in one batch (XLA, `GemmIsSupportedByCublasLt`: "Batch count must be
    <2^16", a limit of cublasLt's API).
    """
    side = view.sides[0]
    count = side.size(side.batching)
    if count > _MAX_BATCH:
        message = f"the batch has {count} products, cuBLASLt takes at most {_MAX_BATCH}"
        edit = f"split the batch into parts of at most {_MAX_BATCH}"
        yield obstacle(view, "batch-count", "dot", message, edit)


def multiples_of_16(
    view: FusedView, device: Device, dimensions: dict[str, tuple[Side, tuple[int, ...]]]
) -> Iterator[Obstacle]:
    """Of the named dimensions, those that are no multiples of 16."""
    sizes_by_name = {name: side.size(which) for name, (side, which) in dimensions.items()}
    wrong = {name: size for name, size in sizes_by_name.items() if size % 16}
    if wrong:
        sizes = ", ".join(f"{name} = {size}" for name, size in wrong.items())
        padded = ", ".join(f"{name} to {size + -size % 16}" for name, size in wrong.items())
        message = f"FP8 kernels take dimensions that are multiples of 16: {sizes}"
        edit = f"pad with zeros: {padded}"
        yield obstacle(view, "dims-multiple-of-16", "dot", message, edit)


def result_type(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """D is f32, f16, bf16, E4M3 or, where an operand is E5M2, E5M2 (cuBLAS, table of data types;
    XLA, `TypesAreSupportedByCublasLt`: no E4M3 x E4M3 -> E5M2).
    """
    wide = ("f32", "f16", "bf16")
    allowed = (*wide, *device.formats)
    if view.result not in allowed:
        message = f"the result is {view.result}; it can be {', '.join(allowed)}"
        yield obstacle(view, "result-type", "output", message, "convert the result to one of these")
    elif view.result in E5M2 and not any(side.element in E5M2 for side in view.sides):
        message = f"the product of two E4M3 operands cannot be stored as {view.result}"
        edit = f"quantize the result to {device.formats[0]}, or leave it in 16 bits"
        yield obstacle(view, "result-type", "output", message, edit)


def unclamped_output(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """A conversion of cuBLASLt's output to FP8 saturates; StableHLO's gives NaN or infinity."""
    if view.result in device.formats and not view.parts.saturate:
        fate = "infinity" if view.result == "f8E5M2" else "NaN"
        message = (
            f"the conversion to {view.result} is not clamped: beyond the range it gives {fate}, "
            "where the kernel saturates"
        )
        yield obstacle(view, "unclamped-output", "output", message, clamp_edit(view.result))


def clamp_edit(result: str) -> str:
    limit = float(FORMATS[result].max)
    return f"clamp to -{limit:g} and {limit:g} just before the conversion to {result}"


def amax_of_fp8_alone(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Amax comes with an FP8 output alone (XLA: "the computation of DAmax can be elided only when
    the output of the GEMM is requested in FP8 format"; cuBLAS,
    CUBLASLT_MATMUL_DESC_AMAX_D_POINTER).
    """
    if view.parts.amax and view.result not in device.formats:
        message = f"the kernel gives amax with an FP8 result alone, this one is {view.result}"
        edit = "quantize the result to FP8, or compute amax by itself"
        yield obstacle(view, "amax", "amax", message, edit)


def matrix_with_fp8_output(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """C is bf16 or f16 where D is FP8 (cuBLAS, table of data types; XLA, `F8ConvertD`: "conflicts
    with the existing fusion of the addition of a matrix bias with element type other than BF16 or
    F16").
    """
    is_fp8 = view.result in device.formats
    if view.parts.c is not None and is_fp8 and view.epilogue_type not in ("bf16", "f16"):
        message = f"with an FP8 result the added matrix is bf16 or f16, not {view.epilogue_type}"
        edit = "dequantize to bf16 and add the matrix in bf16"
        yield obstacle(view, "matrix-bias-type", "output", message, edit)
