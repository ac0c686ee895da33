"""Forms of StableHLO ops that are newer than the ops themselves, and how to tell them.

The conditions are those of upstream's `VhloToVersion.cpp`: an op whose newer attributes have their
default values is written in its older form.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir

_BATCHING = re.compile(r"batching_dims = \[\d")
_TYPED_FFI = 4
# fmt: off
_MATH_OPS = ("cbrt", "cosine", "exponential_minus_one", "log", "log_plus_one", "logistic", "rsqrt",
             "sine", "sqrt", "tan", "tanh")
_REDUCING_OPS = ("all_reduce", "reduce", "reduce_scatter", "reduce_window", "scatter",
                 "select_and_scatter")
# fmt: on
_FUTURE = "!stablehlo.future<"


@dataclass(frozen=True)
class Form:
    """A form of an op: `holds` tells whether an op has it."""

    kind: str
    name: str
    version: str
    holds: Callable[[ir.Operation], bool]


def newer_forms(op: ir.Operation, name: str) -> Iterator[Form]:
    """The forms of `op`, called `name`, that are newer than the op."""
    return (form for form in _FORMS.get(name, ()) if form.holds(op))


def _has_accuracy(op: ir.Operation) -> bool:
    attribute = _attribute(op, "result_accuracy")
    return attribute is not None and "mode<DEFAULT>" not in str(attribute)


def _has_batching(name: str) -> Callable[[ir.Operation], bool]:
    return lambda op: _BATCHING.search(str(_attribute(op, name))) is not None


def _has(name: str) -> Callable[[ir.Operation], bool]:
    return lambda op: _attribute(op, name) is not None


def _is_typed_call(op: ir.Operation) -> bool:
    version = _attribute(op, "api_version")
    is_ffi = isinstance(version, ir.IntegerAttr) and version.value == _TYPED_FFI
    return is_ffi or isinstance(_attribute(op, "backend_config"), ir.DictAttr)


def _has_future(op: ir.Operation) -> bool:
    return any(str(value.type).startswith(_FUTURE) for value in (*op.operands, *op.results))


def _has_several_operands(op: ir.Operation) -> bool:
    return len(op.operands) > 1


def _has_region(op: ir.Operation) -> bool:
    return len(op.regions) > 0


def _promotes(op: ir.Operation) -> bool:
    pairs = zip(op.operands, op.results, strict=False)
    return any(element_type(value.type) != element_type(result.type) for value, result in pairs)


def element_type(type_: ir.Type) -> ir.Type:
    return type_.element_type if isinstance(type_, ir.ShapedType) else type_


def _attribute(op: ir.Operation, name: str) -> ir.Attribute | None:
    return op.attributes.get(name)


def _table() -> dict[str, list[Form]]:
    forms: dict[str, list[Form]] = {}

    def add(
        ops: str | Sequence[str],
        kind: str,
        name: str,
        version: str,
        holds: Callable[[ir.Operation], bool],
    ) -> None:
        for op in [ops] if isinstance(ops, str) else ops:
            form = Form(kind, f"{name} of {op}", version, holds)
            forms.setdefault(f"stablehlo.{op}", []).append(form)

    add("exponential", "attribute", "result_accuracy", "1.9.0", _has_accuracy)
    add(_MATH_OPS, "attribute", "result_accuracy", "1.10.0", _has_accuracy)
    batching = "batching dimensions"
    add(["gather", "dynamic_gather"], "attribute", batching, "1.1.0",
        _has_batching("dimension_numbers"))  # fmt: skip
    add("scatter", "attribute", batching, "1.1.0", _has_batching("scatter_dimension_numbers"))
    add("custom_call", "attribute", "typed FFI", "1.3.0", _is_typed_call)
    add("custom_call", "attribute", "result_tilings", "1.18.0", _has("result_tilings"))
    # The library lets 1.15 pass; the version log says 1.17, and older readers may refuse it.
    add("custom_call", "op", "future types", "1.17.0", _has_future)
    add(["send", "recv"], "attribute", "source_target_pairs", "1.12.0", _has("source_target_pairs"))
    add("composite", "op", "regions", "1.14.0", _has_region)
    add(["all_gather", "all_reduce", "all_to_all"], "op", "several operands", "1.5.0",
        _has_several_operands)  # fmt: skip
    add(_REDUCING_OPS, "op", "accumulation in another type", "0.17.0", _promotes)
    return forms


_FORMS = _table()
