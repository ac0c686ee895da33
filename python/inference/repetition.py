"""`mlir_fp8.repeat_steps`: many steps in one call, such as those that decode a token each."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from torch_mlir import ir

from mlir_fp8.artifacts.dense_resources import dense_copy
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import function_type
from mlir_fp8.failures.internal_error import public
from mlir_fp8.inference.loop_text import loop_text, step_signature
from mlir_fp8.inference.step_plan import StepPlan, step_plan
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.reading.loader import loaded

_STEP = "_mlir_fp8_step"


@public
def repeat_steps(
    module: ir.Module | str | Path | bytes,
    steps: int,
    carry: Mapping[int | str, int | str],
    *,
    counter: int | str | None = None,
    stack: Sequence[int | str] = (),
    entry: str = "main",
) -> ir.Module:
    """A module that runs `entry` of `module` `steps` times in one loop; `module` is left as it is.

    It takes what one step takes. `carry` says which result of a step is which argument of the next,
    by numbers or names, such as a KV cache and the token that was decoded; `counter` is an integer
    argument that is one more in each step, such as the place in the cache. All other arguments stay
    what they are. It gives what one step gives: of carried results the last, of each other result
    all steps', along a new dimension 0 of size `steps`; then those of carried results in `stack`.

    Names and attributes of arguments and results stay, so that `mlir_fp8.compile` may donate what
    is carried. Raises `Fp8Error` for arguments and results that are not there, or whose types
    differ.
    """
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
        raise Fp8Error(f"steps is {steps!r}: give a number from 1 up")
    held = dense_copy(loaded(module), make_context(), "module")
    function = find_entry(held.operation, entry)
    with held.context, function.location:
        plan = step_plan(held, function, entry, steps, carry, counter, stack)
        made = _parsed(held, function, plan, entry)
        _keep_attributes(function, made)
        ir.SymbolTable.set_symbol_name(function, _STEP)
        function.attributes["sym_visibility"] = ir.StringAttr.get("private")
        held.body.append(made)
        held.operation.verify()
    return held


def _parsed(module: ir.Module, function: ir.Operation, plan: StepPlan, entry: str) -> ir.Operation:
    """The function of the loop, in a module of its own that declares the step."""
    located = [each.location for each in function.regions[0].blocks[0].arguments]
    names = [each.name_str if isinstance(each, ir.NameLoc) else "" for each in located]
    loop = loop_text(plan, entry, _STEP, names)
    text = f"func.func private @{_STEP}{step_signature(plan)}\n{loop}"
    parsed = ir.Module.parse(text, module.context)
    made = parsed.body.operations[1].operation
    made.detach_from_parent()
    return made


def _keep_attributes(function: ir.Operation, made: ir.Operation) -> None:
    """Of arguments and of the results of one step; results after these have none."""
    if "arg_attrs" in function.attributes:
        made.attributes["arg_attrs"] = function.attributes["arg_attrs"]
    if "res_attrs" in function.attributes:
        entries = list(ir.ArrayAttr(function.attributes["res_attrs"]))
        more = len(function_type(made).results) - len(entries)
        made.attributes["res_attrs"] = ir.ArrayAttr.get([*entries, *[ir.DictAttr.get({})] * more])
