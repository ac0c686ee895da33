"""`fp8-translate --interpret`: run a module in the reference interpreter and print its results."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._arguments import both_dashes

if TYPE_CHECKING:
    from torch_mlir import ir

    from mlir_fp8.interpreter.record import Recorded

INTERPRET_OPTIONS = ("args", "interpreter_print_dense", "probe_output_dir", "entry", "time_limit")
"""Those that go with `--interpret` only."""
_FORM = "as in --args='[dense<1> : tensor<2xi32>, ...]'"
_SECONDS = 60.0


def add_interpret_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("with --interpret")
    group.add_argument(*both_dashes("args"), metavar="ARRAY", help=f"the arguments, {_FORM}")
    group.add_argument(*both_dashes("interpreter-print-dense"), action="store_true", default=None,
                       help="print results as dense<...> constants")  # fmt: skip
    group.add_argument(*both_dashes("probe-output-dir"), metavar="DIR",
                       help="where interpreter.probe writes .npy files and index.csv")  # fmt: skip
    group.add_argument(*both_dashes("entry"), metavar="NAME",
                       help="the function to run (default: main, or the only one)")  # fmt: skip
    group.add_argument(*both_dashes("time-limit"), metavar="SECONDS", type=float,
                       help=f"how long it may take (default: {_SECONDS:g})")  # fmt: skip


def interpret(name: str, data: bytes, options: argparse.Namespace) -> bytes:
    """What `interpreter.print` was given, then one result after the other."""
    from mlir_fp8.base.context import make_context
    from mlir_fp8.interpreter.limits import check_seconds
    from mlir_fp8.interpreter.run import register_interpreter_dialect
    from mlir_fp8.judging.interpretation import evaluate

    context = make_context()
    register_interpreter_dialect(context)
    module = _parse(data, name, context)
    texts = _argument_texts(options.args, context)
    limit = _SECONDS if options.time_limit is None else options.time_limit
    check_seconds("--time-limit", limit)
    directory = options.probe_output_dir
    if directory is not None and not Path(directory).is_dir():
        raise Fp8Error(f"--probe-output-dir: '{directory}' is no directory")
    evaluation = evaluate(
        module,
        lambda inner: [_parse_attribute(text, inner) for text in texts],
        entry=options.entry or "main",
        seconds=limit,
        name=name,
    )
    if directory is not None:
        from mlir_fp8.tools._probe_files import write_probes

        write_probes(Path(directory), evaluation.probes)
    print_one = _dense_text if options.interpreter_print_dense else _tensor_text
    printed = [f"{each.name} = {print_one(each, context)}\n" for each in evaluation.printed]
    results = [print_one(result, context) + "\n" for result in evaluation.results]
    return "".join(printed + results).encode()


def _parse(data: bytes, name: str, context: "ir.Context") -> "ir.Module":
    from mlir_fp8.interpreter.check_syntax import check_ops_to_custom_calls
    from mlir_fp8.reading.loader import parse

    if b"check.expect" in data and b"\0" not in data:
        data = check_ops_to_custom_calls(data.decode(errors="surrogateescape")).encode(
            errors="surrogateescape"
        )
    return parse(data, name, context)


def _argument_texts(text: str | None, context: "ir.Context") -> list[str]:
    """The constants in `--args`, each printed in full."""
    from torch_mlir import ir

    from mlir_fp8.interpreter.limits import check_element_type

    if text is None:
        return []
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text()
        except OSError as error:
            raise Fp8Error(f"--args: cannot read '{text[1:]}': {error.strerror}") from None
        except UnicodeDecodeError:
            raise Fp8Error(f"--args: '{text[1:]}' is no text, {_FORM}") from None
    array = _parse_attribute(text, context)
    if not isinstance(array, ir.ArrayAttr):
        raise Fp8Error(f"--args is no array of constants, {_FORM}")
    for index in range(len(array)):
        try:
            each = array[index]
        except TypeError:
            raise _complex_error() from None
        if not isinstance(each, ir.DenseElementsAttr):
            raise Fp8Error(f"--args: {each} is no dense constant, {_FORM}")
        check_element_type(f"--args: argument {index}", each.type)
    return [str(each) for each in array]


def _complex_error() -> Fp8Error:
    """The bindings have no class for dense complex numbers."""
    return Fp8Error(
        "--args: complex numbers cannot be given here: give real and imaginary parts, or use "
        "mlir_fp8.interpret"
    )


def _parse_attribute(text: str, context: "ir.Context") -> "ir.Attribute":
    from torch_mlir import ir

    from mlir_fp8.reading.float_literals import refuse_lost_literals

    if not text.strip():  # MLIR's parser crashes
        raise Fp8Error(f"--args is empty: give them {_FORM}")
    refuse_lost_literals(text, "--args")
    try:
        return ir.Attribute.parse(text.strip(), context)
    except TypeError:
        raise _complex_error() from None
    except ir.MLIRError as error:
        diagnostics = error.error_diagnostics
        reason = diagnostics[0].message if diagnostics else str(error)
        raise Fp8Error(f"--args: {reason.splitlines()[0]}: give them {_FORM}") from None


def _dense_text(value: "Recorded", context: "ir.Context") -> str:
    from mlir_fp8.interpreter.dense_values import dense

    return str(dense(value.array, value.spec.element, context))


def _tensor_text(value: "Recorded", context: "ir.Context") -> str:
    """As StableHLO's own tool prints: `tensor<2xi8> {`, a line per row, `}`."""
    from mlir_fp8.interpreter.dense_values import element_texts

    texts = element_texts(value.array, value.spec.element, context)
    shape = value.spec.shape
    if not shape:
        return f"{value.spec} {{{texts[0]}}}"
    return "\n".join([f"{value.spec} {{", *_rows(texts, shape, "  "), "}"])


def _rows(texts: Sequence[str], shape: Sequence[int], indent: str) -> list[str]:
    if len(shape) == 1 or shape[0] == 0:
        return [f"{indent}[{', '.join(texts)}]"]
    size = len(texts) // shape[0]
    lines = [f"{indent}["]
    for i in range(shape[0]):
        lines += _rows(texts[i * size : (i + 1) * size], shape[1:], indent + "  ")
        if i + 1 < shape[0]:
            lines[-1] += ","
    return [*lines, f"{indent}]"]
