"""Which dots of a StableHLO module XLA:GPU makes `__cublas$lt$matmul$f8` of: an oracle for tests.

Written from openxla/xla, xla/service/gpu/transforms/gemm_rewriter.cc (commit 01631ca806a9), not
from the pass that it judges: `MatchFp8Param`, `CreateF8CustomCall`, `GemmIsSupportedByCublasLt` and
`TypesAreSupportedByCublasLt` are here, what follows the dot is in xla_gpu_epilogue.py. Where XLA
works on HLO that other passes made of the module, the oracle asks for more than the rewriter:

- dots as DotDecomposer leaves them: batch dimensions first, one other dimension, one contracted;
- no size of 1: AlgebraicSimplifier::RemoveDegenerateDimensionFromDot would leave a vector;
- no convert between a scale and its broadcast: the rewriter itself takes one, but XLA loses such
  dots (seen on an H100). A convert of a constant is folded before.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir, passmanager
from xla_gpu_epilogue import Gemm, fuse_epilogue
from xla_gpu_hlo import (
    broadcast_scalar,
    defining,
    element,
    is_f8,
    is_lost,
    is_scalar,
    is_zero,
    shape,
)

MAX_BATCH = 65535
# Default of xla_gpu_gemm_rewrite_size_threshold: smaller dots are loops.
MIN_SIZE = 100

OCP = ("f8E4M3FN", "f8E5M2")
NANOO = ("f8E4M3FNUZ", "f8E5M2FNUZ")
# {lhs, rhs} to the results that TypesAreSupportedByCublasLt lists.
RESULTS = {
    frozenset({"f8E4M3FN"}): {"bf16", "f8E4M3FN", "f16", "f32"},
    frozenset({"f8E4M3FN", "f8E5M2"}): {"bf16", "f8E4M3FN", "f8E5M2", "f16", "f32"},
    frozenset({"f8E4M3FNUZ"}): {"bf16", "f8E4M3FNUZ", "f16", "f32"},
    frozenset({"f8E4M3FNUZ", "f8E5M2FNUZ"}): {"bf16", "f8E4M3FNUZ", "f8E5M2FNUZ", "f16", "f32"},
    frozenset({"bf16"}): {"bf16", "f32"},
    frozenset({"f16"}): {"f16", "f32"},
    frozenset({"f32"}): {"f32"},
}
COMMUTATIVE = {
    "broadcast_in_dim",
    "dynamic_slice",
    "pad",
    "reshape",
    "select",
    "slice",
    "transpose",
}


@dataclass(frozen=True)
class Verdict:
    """What becomes of one dot: MATCH wholly, PARTIAL (an FP8 call, `reason` stays outside), REJECT.

    `gemm` is the call, for MATCH and PARTIAL.
    """

    kind: str
    reason: str
    gemm: Gemm | None


class RejectError(Exception):
    """Why a dot becomes no FP8 call."""


@dataclass(frozen=True)
class Param:
    """MatchedFp8Param: an operand's f8 value, and its scale if it has one."""

    fp8_input: ir.Value
    scale: ir.Value | None
    moves: int
    """How many ops that move data stand between the dequantize and the product."""


def verdicts(module: ir.Module, platform: str = "cuda") -> list[Verdict]:
    """One verdict for each dot_general of `module`, in order; calls are inlined in a copy of it."""
    clone = _inlined(module)  # whose ops live as long as this name
    return [_verdict(dot, platform) for dot in _named(clone, "dot_general")]


def fp8_convolutions(module: ir.Module) -> list[bool]:
    """Whether each convolution becomes a cuDNN graph on f8 operands.

    From cudnn_fused_conv_rewriter.cc (commit 0e1ce7684170), F8GraphConv: each operand is f8, or a
    convert of one, times or over a broadcast scalar or not, right before the convolution.
    """
    clone = _inlined(module)
    found: list[bool] = []
    for convolution in _named(clone, "convolution"):
        try:
            params = [_match_fp8_param(operand) for operand in convolution.operands]
        except RejectError:
            found.append(False)
            continue
        is_scaled = all(param.scale is None or is_scalar(param.scale) for param in params)
        is_direct = all(param.moves == 0 for param in params)
        found.append(is_scaled and is_direct)
    return found


def _inlined(module: ir.Module) -> ir.Operation:
    clone = module.operation.clone()
    with clone.context, ir.Location.unknown():
        pipeline = "builtin.module(inline{default-pipeline= },cse,symbol-dce)"
        passmanager.PassManager.parse(pipeline).run(clone)
    return clone.operation


def _named(module: ir.Operation, op_name: str) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation | ir.OpView) -> ir.WalkResult:
        if op.operation.name == f"stablehlo.{op_name}":
            found.append(op.operation)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return found


def _verdict(dot: ir.Operation, platform: str) -> Verdict:
    try:
        gemm = _gemm(dot, platform)
    except RejectError as reject:
        return Verdict("REJECT", str(reject), None)
    left = fuse_epilogue(gemm, platform)
    if gemm.d_type == "f8E5M2" and set(gemm.operand_types) == {"f8E4M3FN"}:
        return Verdict("REJECT", "cuBLASLt has no E5M2 result of two E4M3 operands", None)
    return Verdict("PARTIAL" if left else "MATCH", left, gemm)


def _gemm(dot: ir.Operation, platform: str) -> Gemm:
    operand_types = [element(operand) for operand in dot.operands]
    if element(dot.results[0]) not in RESULTS.get(frozenset(operand_types), set()):
        raise RejectError(f"no {operand_types} to {element(dot.results[0])} in cuBLASLt")
    _check_dimensions(dot)
    params = [_match_fp8_param(operand) for operand in dot.operands]
    types = [element(param.fp8_input) for param in params]
    families = (OCP,) if platform == "cuda" else (OCP, NANOO)
    if not any(set(types) <= set(family) for family in families):
        raise RejectError(f"{platform} has no FP8 matmul of {types}")
    if all(each.startswith("f8E5M2") for each in types):
        raise RejectError("one operand must be E4M3")
    for param in params:
        if param.scale is not None and not is_scalar(param.scale):
            raise RejectError("the scaling factors must be scalars")
        if param.scale is not None and is_lost(param.scale):
            raise RejectError("a convert between the scale and its broadcast")
    sizes = shape(dot.results[0])[-2:]
    return Gemm(
        value=dot.results[0],
        operand_types=types,
        d_type=element(dot.results[0]),
        has_a_scale=params[0].scale is not None,
        is_sliced=any(size % 16 for size in sizes),
    )


def _check_dimensions(dot: ir.Operation) -> None:
    numbers = str(dot.attributes["dot_dimension_numbers"])
    shapes = [shape(operand) for operand in dot.operands]
    batch = len(_dims(numbers, "lhs_batching_dimensions"))
    sides: list[tuple[int, int]] = []
    for side, sizes in zip(("lhs", "rhs"), shapes, strict=True):
        contracting = _dims(numbers, f"{side}_contracting_dimensions")
        if len(contracting) != 1:
            raise RejectError("A and B must have one contracting dimension")
        if len(sizes) != batch + 2:
            raise RejectError("exactly one contracting and one non-contracting dimension")
        if _dims(numbers, f"{side}_batching_dimensions") != list(range(batch)):
            raise RejectError("batch dimensions are not the first ones")
        (free,) = set(range(batch, batch + 2)) - set(contracting)
        sides.append((sizes[free], sizes[contracting[0]]))
    (m, k), (n, _) = sides
    if min(m, n, k) <= 1:
        raise RejectError("a size of 1 makes it a matrix by a vector")
    if math.prod(shapes[0][:batch]) > MAX_BATCH:
        raise RejectError("too many batches")
    if (m + n) * k < MIN_SIZE:
        raise RejectError("too small")


def _dims(numbers: str, name: str) -> list[int]:
    after = numbers.partition(f"{name} = [")[2]
    return [int(each) for each in after.split("]")[0].split(",") if each.strip()]


def _match_fp8_param(operand: ir.Value) -> Param:
    path = _find_f8_subgraph(operand, set())
    if path is None:
        raise RejectError("an operand is made of nothing in f8")
    if len(path) == 1:
        return Param(path[0], None, 0)
    fp8_input, scale, start = path[0], None, 2
    if defining(path[1], "convert") is None:
        raise RejectError("what follows the f8 value is no convert")
    if len(path) > 2:
        op = defining(path[2], "multiply", "divide")
        scales = [] if op is None else _scales(op, path[1])
        if scales:
            scale, start = scales[0], 3
    for value, previous in zip(path[start:], path[start - 1 :], strict=False):
        op = defining(value, *COMMUTATIVE)
        if op is None:
            raise RejectError(f"{defining(value)} between the dequantize and the dot")
        if op.name == "stablehlo.select":
            other = op.operands[1 if op.operands[2] == previous else 2]
            if not is_zero(other):
                raise RejectError("select requires a zero operand")
    return Param(fp8_input, scale, len(path) - start)


def _scales(op: ir.Operation, converted: ir.Value) -> list[ir.Value]:
    """What is broadcast in a multiply by `converted`, either way round, or as its divisor."""
    others = [op.operands[1]] if op.operands[0] == converted else []
    if op.name == "stablehlo.multiply" and op.operands[1] == converted:
        others.append(op.operands[0])
    return [scale for other in others if (scale := broadcast_scalar(other)) is not None]


def _find_f8_subgraph(value: ir.Value, visited: set[ir.Value]) -> Sequence[ir.Value] | None:
    """FindF8SubgraphRecursive: the values from an f8 one to `value`."""
    if value in visited:
        return None
    visited.add(value)
    if is_f8(value):
        return [value]
    op = defining(value)
    if op is None:
        return None
    name = op.name.removeprefix("stablehlo.")
    if len(op.operands) == 1 or name in ("divide", "dynamic_slice", "pad"):
        tried = list(op.operands)[:1]
    elif name == "multiply":
        tried = list(op.operands)
    elif name == "select":
        tried = list(op.operands)[1:]
    else:
        return None
    paths = (_find_f8_subgraph(each, visited) for each in tried)
    return next(([*path, value] for path in paths if path is not None), None)
