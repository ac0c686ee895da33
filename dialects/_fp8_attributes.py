"""What attributes of `fp8` ops may be: which names an op takes, and which forms."""

from collections.abc import Callable, Collection, Mapping, Sequence

from torch_mlir import ir

SIZES = "operandSegmentSizes"
"""Which of the operands that may be left out are there, 0 or 1 for each operand."""

Form = tuple[str, Callable[[ir.Attribute], bool]]
"""What an attribute is, in words, and whether one is that."""


def _is_flag(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.UnitAttr | ir.BoolAttr)


FLAG: Form = ("a unit attribute, true or false", _is_flag)


def one_of(words: Collection[str]) -> Form:
    """A string that is one of `words`."""
    # Held against text: the value of a string that is not UTF-8 cannot be asked for.
    quoted = [f'"{word}"' for word in words]
    return f"one of {', '.join(quoted)}", lambda attribute: str(attribute) in quoted


def type_among(names: Collection[str]) -> Form:
    """A type that is spelled as one of `names`."""
    return (
        f"one of the types {', '.join(names)}",
        lambda attribute: isinstance(attribute, ir.TypeAttr) and str(attribute.value) in names,
    )


def sizes_form(names: Sequence[str], required: int) -> Form:
    """Which of the operands `names` are there, of which the first `required` are."""

    def is_sizes(attribute: ir.Attribute) -> bool:
        sizes = list(attribute) if isinstance(attribute, ir.DenseI32ArrayAttr) else []
        is_one_each = len(sizes) == len(names) and set(sizes) <= {0, 1}
        return is_one_each and sizes[:required] == [1] * required

    needed = f"{', '.join(names[: required - 1])} and {names[required - 1]}"
    which = f"an array<i32> with a 1 for each of {', '.join(names)} that is there, else 0"
    return f"{which}; {needed} are", is_sizes


def attributes_refusal(
    op: ir.Operation, forms: Mapping[str, Form], required: Collection[str] = ()
) -> str:
    """What is wrong with the attributes of `op`, or nothing.

    Names with a dot in them belong to others.
    """
    for name in sorted(op.attributes):
        if "." in name:
            continue
        if name not in forms:
            known = ", ".join(each for each in forms if each != SIZES)
            return f"has no attribute {name}, only {known}"
        expected, is_good = forms[name]
        try:
            attribute = op.attributes[name]
        except TypeError:  # dense complex numbers, for which the bindings have no class
            return f"has {name} of dense elements: it is {expected}"
        if not is_good(attribute):
            return f"has {name} = {attribute}: it is {expected}"
    for name in required:
        if name not in op.attributes:
            return f"needs the attribute {name}, {forms[name][0]}"
    return ""


def is_set(op: ir.Operation, flag: str) -> bool:
    """Whether a flag is there and not false."""
    return flag in op.attributes and op.attributes[flag] != ir.BoolAttr.get(False, op.context)


def type_of(op: ir.Operation, name: str) -> ir.Type | None:
    """The type that an attribute names; None where it is absent."""
    return ir.TypeAttr(op.attributes[name]).value if name in op.attributes else None


def string_of(op: ir.Operation, name: str, default: str) -> str:
    return ir.StringAttr(op.attributes[name]).value if name in op.attributes else default


def float_of(op: ir.Operation, name: str) -> float | None:
    return ir.FloatAttr(op.attributes[name]).value if name in op.attributes else None
