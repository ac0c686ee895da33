"""`mlir_fp8.explain`: for each dot and convolution, which targets run it in FP8, or why not."""

from collections.abc import Sequence
from dataclasses import replace

from torch_mlir import ir

from mlir_fp8.base.context import check_module
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.module_places import module_place
from mlir_fp8.base.operations import operations
from mlir_fp8.explaining.inlined import inlined_copy
from mlir_fp8.explaining.kernels import kernel_rows
from mlir_fp8.explaining.library_calls import is_library_call, row_of_call
from mlir_fp8.explaining.optimized_hlo import TARGET, explain_optimized, is_optimized
from mlir_fp8.explaining.places import Places, callers, name_in
from mlir_fp8.explaining.torch_programs import is_of_torch, module_path, quantized_copy
from mlir_fp8.explaining.verdicts import (
    FUSED,
    NOT_FP8,
    NOT_FUSED,
    PARTLY,
    Answer,
    Explanation,
    Hindrance,
    Row,
)
from mlir_fp8.failures.internal_error import public
from mlir_fp8.lowering.fp8.block_scaled_dot_to_fp8 import BlockScaledDotToFp8
from mlir_fp8.lowering.fp8.fp8_fuse_scaled_dot import fuse
from mlir_fp8.lowering.fp8.scaled_dot.device import Device, parse_device
from mlir_fp8.lowering.fp8.scaled_dot.findings import Finding, Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.fused_view import Form
from mlir_fp8.lowering.fp8.scaled_dot.operand import match_operand
from mlir_fp8.lowering.fp8.scaled_dot.product import PRODUCTS
from mlir_fp8.lowering.fp8.scaled_dot.targets import TARGETS, blocks, refusals, takes
from mlir_fp8.lowering.frontend.stablehlo_expand_custom_calls import expand_products
from mlir_fp8.lowering.rewriting.stablehlo import element_type, names

_NO_FP8 = "not-fp8"


@public
def explain(
    module: ir.Module | str,
    target: str | Sequence[str] = "fp8",
    *,
    compute_capability: str = "9.0",
    cuda_version: str = "12.9",
    kernels: str = "",
    name: str = "<module>",
) -> Explanation:
    """A row for each dot and convolution of `module`, which stays as it is.

    `module` may also be the text of HLO that XLA:GPU has optimized: rows are then its calls of
    cuBLAS and cuDNN and its kernels of products, and `target` can only be `xla-gpu`, which the
    default stands for there.
    `target` is one of `fp8`, `xla-gpu`, `cublaslt`, `torch-scaled-mm`, several of them, or "all";
    `compute_capability` an NVIDIA one, such as "8.9", or an AMD architecture, such as "gfx942";
    `name` stands in places for a module that was read from no file. Private functions are inlined
    first. Rows of a PyTorch program have the path of their module, and say what of those that are
    not FP8 would run if they were. With `kernels`, "h100" or "h200", the explanation also has what
    `fp8-kernels-for-xla-gpu` makes of the quantizations and updates of scales. Raises `Fp8Error`
    for an unknown target or device.
    """
    targets = _targets(target)
    if kernels and (TARGET not in targets or isinstance(module, str)):
        raise Fp8Error(f"kernels are of modules for target {TARGET}: ask for it")
    if isinstance(module, str) and is_optimized(module):
        return _explained_hlo(module, targets, name)
    check_module(module)
    assert isinstance(module, ir.Module)
    device = parse_device(compute_capability, cuda_version)
    rows = _rows(module, targets, device, name)
    if is_of_torch(module) and any(_is_not_fp8(row) for row in rows):
        rows = _with_prospects(rows, module, targets, device, name)
    of_ops = kernel_rows(module, kernels, name) if kernels else ()
    return Explanation(name, device.name, targets, rows, of_ops)


def _with_prospects(
    rows: tuple[Row, ...], module: ir.Module, targets: Sequence[str], device: Device, name: str
) -> tuple[Row, ...]:
    """What becomes of rows that are not FP8 where the compiler scales them: with "current"."""
    try:
        would_be = _rows(quantized_copy(module), targets, device, name)
    except Fp8Error:  # nothing to quantize, or not by this compiler
        return rows
    if len(would_be) != len(rows):
        return rows
    return tuple(
        replace(row, if_quantized=other.answers) if _is_not_fp8(row) else row
        for row, other in zip(rows, would_be, strict=True)
    )


def _is_not_fp8(row: Row) -> bool:
    return any(answer.verdict == NOT_FP8 for answer in row.answers)


def _rows(module: ir.Module, targets: Sequence[str], device: Device, name: str) -> tuple[Row, ...]:
    is_named = is_of_torch(module)
    copy = inlined_copy(module, name)
    with copy.context:
        expand_products(copy.operation)
        BlockScaledDotToFp8().run(copy.operation)
        products = [
            row_of_call(op, targets, name) if is_library_call(op) else _Product(op)
            for op in operations(copy.operation)
            if op.name in _ALL or is_library_call(op)
        ]
        # Keyed by order: the fusion replaces ops, and reports on each as it comes.
        findings = iter(fuse(copy.operation))
        return tuple(
            product
            if isinstance(product, Row)
            else _row(
                product,
                product.finding or next(findings),
                targets,
                device,
                name,
                is_named=is_named,
            )
            for product in products
        )


_FUSED = names("fp8", "scaled_dot scaled_convolution scaled_ragged_dot")
_ALL = PRODUCTS | _FUSED


class _Product:
    """What has to be known of a product before the fusion rewrites it."""

    def __init__(self, op: ir.Operation) -> None:
        self.form: Form | None = None
        self.finding: Finding | None = None
        self.places: Places | None = None
        if op.name in _FUSED:
            self.is_fp8 = True
            self.finding = _finding_of_fused(op)
            return
        self.places = Places(op)
        operands = tuple(str(element_type(value)) for value in list(op.operands)[:2])
        self.form = Form(
            str(element_type(op.results[0])),
            operands,
            self.places.between,
            self.places.converts_amax,
        )
        sides = (
            match_operand(value, part, assume_finite=False)
            for value, part in zip(list(op.operands)[:2], ("lhs", "rhs"), strict=True)
        )
        self.is_fp8 = any(not isinstance(side, Obstacle) or side.kind != _NO_FP8 for side in sides)


def _explained_hlo(text: str, targets: Sequence[str], name: str) -> Explanation:
    if not {"fp8", TARGET} & {*targets}:
        raise Fp8Error(f"{name}: was compiled by XLA:GPU: ask for target {TARGET}")
    return explain_optimized(text, name)


def _finding_of_fused(op: ir.Operation) -> Finding:
    operands = ", ".join(str(value.type) for value in op.operands)
    types = str(op.results[0].type)
    name = op.name.removeprefix("fp8.")
    return Finding(name, op.location, types, op, (), f"({operands})")


def _targets(target: str | Sequence[str]) -> tuple[str, ...]:
    names = [target] if isinstance(target, str) else list(target)
    if "all" in names:
        return tuple(TARGETS)
    for each in names:
        if each not in TARGETS:
            raise Fp8Error(f"'{each}' is no target: it is all, or one of {', '.join(TARGETS)}")
    return tuple(dict.fromkeys(names))


def _row(
    product: _Product,
    finding: Finding,
    targets: Sequence[str],
    device: Device,
    name: str,
    *,
    is_named: bool,
) -> Row:
    answers = tuple(_answer(product, finding, target, device, name) for target in targets)
    place = module_place(finding.location, name)
    around = tuple(module_place(each, name) for each in callers(finding.location))
    path = module_path(finding.location) if is_named else ""
    scope = name_in(finding.location)
    return Row(
        finding.name,
        place,
        around,
        finding.signature,
        finding.type,
        answers,
        module=path,
        scope=scope,
    )


def _answer(product: _Product, finding: Finding, target: str, device: Device, name: str) -> Answer:
    obstacles = list(finding.obstacles)
    if finding.fused is None:
        verdict = NOT_FUSED if product.is_fp8 else NOT_FP8
    else:
        refused = refusals(finding.fused, target, device, product.form)
        if product.places is not None:
            refused = [replace(each, location=product.places.of(each)) for each in refused]
        fused = finding.fused
        obstacles = [each for each in obstacles if not takes(fused, target, each)] + refused
        verdict = NOT_FUSED if any(map(blocks, refused)) else PARTLY if obstacles else FUSED
    hindrances = tuple(_hindrance(each, name) for each in obstacles)
    return Answer(target, verdict, hindrances)


def _hindrance(obstacle: Obstacle, name: str) -> Hindrance:
    place = module_place(obstacle.location, name)
    return Hindrance(obstacle.kind, obstacle.part, obstacle.message, place, obstacle.edit)
