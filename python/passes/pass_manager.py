"""One pass manager from a pipeline text that mixes upstream, StableHLO and this project's passes.

MLIR's own pipeline parser does not know passes written in Python, so the text is split here:
upstream elements are added as text, own passes as callables, all to a single `PassManager`, so that
timing, IR printing and verification cover everything.
"""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.source_place import split_place
from mlir_fp8.lowering import pass_class, pass_names
from mlir_fp8.passes.lost_shardings import shardings_in, tell_lost
from mlir_fp8.passes.pipeline_refusal import MODULE_ANCHOR, held_stderr, refusal, required_anchor
from mlir_fp8.passes.pipeline_text import Element, parse_element, parse_elements, parse_options

_ANY_ANCHOR = "any"

_UNKNOWN_PLACE = "unknown: "


def build_pass_manager(pipeline: str | Sequence[str], context: ir.Context) -> PassManager:
    """The pass manager of `pipeline`, on `builtin.module`.

    A string is a whole textual pipeline, `builtin.module(a,b{x=1},func.func(c))`, with explicit
    nesting as in MLIR. A sequence holds elements, each as it would stand in that text; there, a
    pass that runs on another op (`chlo-legalize-to-stablehlo` on `func.func`) is nested by itself,
    as for the flags of `mlir-opt`. Names in `mlir_fp8.pipelines.PIPELINES` expand to their passes.
    """
    if isinstance(pipeline, str):
        anchor, elements = _anchored(pipeline)
    else:
        anchor = MODULE_ANCHOR
        elements = tuple(element for text in pipeline for element in parse_elements(text))
    with context, held_stderr() as native_stderr:
        manager = PassManager(anchor)
        for element in _expanded(elements):
            if element.nested is None and element.name in pass_names():
                _add_own(manager, element)
                continue
            _check_nesting(element, context)
            try:
                _add_upstream(manager, element, implicit=not isinstance(pipeline, str))
            except ValueError:
                raise refusal(element, anchor, native_stderr, own_names()) from None
    return manager


def run_manager(manager: PassManager, module: ir.Operation) -> None:
    """Run `manager` on `module`; raises `MLIRError`, or what one of our passes raised."""
    _raised.error = None
    try:
        manager.run(module)
    except ir.MLIRError:
        error, _raised.error = _raised.error, None
        if error is not None:
            raise error from error.__cause__
        raise


_raised = threading.local()
"""What a pass of this thread raised: an exception must not unwind through MLIR."""


def own_names() -> list[str]:
    """This project's passes and named pipelines."""
    from mlir_fp8.pipelines import PIPELINES

    return [*pass_names(), *PIPELINES]


def _anchored(pipeline: str) -> tuple[str, tuple[Element, ...]]:
    whole = parse_element(pipeline)
    if whole.nested is None:
        raise Fp8Error(
            f"a pipeline names the op that it runs on: write '{MODULE_ANCHOR}({pipeline.strip()})'"
        )
    if whole.name not in (MODULE_ANCHOR, _ANY_ANCHOR):
        raise Fp8Error(
            f"a pipeline runs on {MODULE_ANCHOR}, not on {whole.name}: "
            f"write '{MODULE_ANCHOR}({whole.text})'"
        )
    return whole.name, whole.nested


def _expanded(elements: Sequence[Element]) -> Iterator[Element]:
    from mlir_fp8.pipelines import PIPELINES, WITH_OPTIONS

    for element in elements:
        if element.nested is not None or element.name not in PIPELINES:
            yield element
            continue
        options = parse_options(element.name, element.options)
        if options and element.name not in WITH_OPTIONS:
            raise Fp8Error(f"pipeline '{element.name}' has no options")
        texts = PIPELINES[element.name](*([options] if options else []))
        yield from _expanded([parse_element(text) for text in texts])


def _add_own(manager: PassManager, element: Element) -> None:
    pass_type = pass_class(element.name)
    instance = pass_type.from_options(element.name, parse_options(element.name, element.options))
    is_told = ".fp8." in pass_type.__module__  # of those after, modules are of one device

    def run(op: ir.Operation, external: Any) -> None:
        # Errors become diagnostics, so that diagnostic handlers get them too.
        with op.context:
            try:
                before = shardings_in(op.operation) if is_told else {}
                instance.run(op.operation)
                tell_lost(before, op.operation, element.name)
            except Fp8Error as error:
                _emit(str(error))
                external.signal_pass_failure()
            except ir.MLIRError as error:
                for diagnostic in error.error_diagnostics:
                    diagnostic.location.emit_error(diagnostic.message)
                external.signal_pass_failure()
            except BaseException as error:
                _raised.error = error
                external.signal_pass_failure()

    # `argument` is what IR dumps and `--dump-pass-pipeline` show: with the options it can be rerun.
    manager.add(run, name=pass_type.__name__, argument=element.text)


def _emit(message: str) -> None:
    place, reason = split_place(message)
    if place is None:
        ir.Location.unknown().emit_error(reason.removeprefix(_UNKNOWN_PLACE))
        return
    ir.Location.file(place.file, place.line, place.column).emit_error(reason)


def _add_upstream(manager: PassManager, element: Element, *, implicit: bool) -> None:
    try:
        manager.add(element.text)
    except ValueError as error:
        nested_on = required_anchor(error)
        if not implicit or element.nested is not None or nested_on is None:
            raise
        manager.add(f"{nested_on}({element.text})")


def _check_nesting(element: Element, context: ir.Context) -> None:
    if element.nested is None:
        return
    if element.name != _ANY_ANCHOR and not _is_op(element.name, context):
        # MLIR would accept it, and never run anything.
        raise Fp8Error(f"'{element.text}' would never run: '{element.name}' is no registered op")
    for nested in element.nested:
        if nested.nested is None and nested.name in own_names():
            raise Fp8Error(
                f"'{nested.name}' runs on the whole {MODULE_ANCHOR}: "
                f"it cannot stand inside '{element.name}(...)'"
            )
        _check_nesting(nested, context)


def _is_op(name: str, context: ir.Context) -> bool:
    with contextlib.suppress(ValueError):
        context.get_dialect_descriptor(name.partition(".")[0])
    return context.is_registered_operation(name)
