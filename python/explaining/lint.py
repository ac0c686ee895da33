"""`mlir_fp8.lint`: what is suspicious about a module's FP8, whatever runs it."""

from collections.abc import Callable, Iterator

from torch_mlir import ir

from mlir_fp8.base.context import check_module
from mlir_fp8.base.module_places import module_place
from mlir_fp8.base.operations import operations
from mlir_fp8.explaining import rules_of_casts, rules_of_products, rules_of_scales
from mlir_fp8.explaining.inlined import inlined_copy
from mlir_fp8.explaining.intervals import Intervals
from mlir_fp8.explaining.verdicts import LintWarning
from mlir_fp8.failures.internal_error import public
from mlir_fp8.passes.pass_pipeline import run_pipeline

OpRule = Callable[[ir.Operation], Iterator[tuple[str, str]]]
"""A rule about one op: what is wrong with it, and the edit."""


@public
def lint(module: ir.Module, *, name: str = "<module>") -> list[LintWarning]:
    """The warnings about `module`, which stays as it is, in the order of its ops.

    Private functions are inlined first, and values that are computed twice are taken for one.
    `name` stands in places for a module that was read from no file.
    """
    check_module(module)
    copy = inlined_copy(module, name)
    run_pipeline(copy, ["cse"], name=name)
    with copy.context:
        found = list(_warnings(copy.operation, name))
    return list(dict.fromkeys(found))


def _warnings(root: ir.Operation, name: str) -> Iterator[LintWarning]:
    intervals = Intervals()
    gradients = rules_of_products.gradient_warnings(root)
    rules: dict[str, OpRule] = {
        "unclamped-cast": lambda op: rules_of_casts.unclamped_cast(op, intervals),
        "scale-constant": rules_of_scales.scale_constant,
        "double-scale": rules_of_scales.double_scale,
        "mismatched-scale": rules_of_scales.mismatched_scale,
        "amax-of-scaled": rules_of_scales.amax_of_scaled,
        "f8-accumulation": rules_of_products.accumulation,
        "e4m3-gradient": lambda op: iter(gradients.get(op, ())),
    }
    for op in operations(root):
        for rule, check in rules.items():
            for message, edit in check(op):
                yield LintWarning(rule, message, module_place(op.location, name), edit)


RULES = (
    "unclamped-cast",
    "scale-constant",
    "double-scale",
    "mismatched-scale",
    "amax-of-scaled",
    "f8-accumulation",
    "e4m3-gradient",
)
"""The rules' names."""
