"""The command line of `fp8-opt`: flags and passes in any order, as `mlir-opt` takes them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._command import STANDARD_STREAM

_DEFAULT_MARKER = "// -----"
_FLAG = re.compile(r"--?(?P<name>[A-Za-z][\w.-]*)(?:=(?P<value>.*)|\{(?P<braces>.*)\})?", re.DOTALL)
_TRUTH = {None: True, "true": True, "1": True, "false": False, "0": False}


@dataclass
class Options:
    """What the command line asks for."""

    input: str | None = None
    output: str | None = None
    pass_pipeline: str | None = None
    passes: list[str] = field(default_factory=list)
    """Pipeline elements, in the order of their flags."""
    split_input_file: str | None = None
    """The marker line between chunks."""
    output_split_marker: str | None = None
    verify_diagnostics: str | None = None
    """`all` or `only-expected`."""
    run_reproducer: bool = False
    verify_each: bool = True
    allow_unregistered_dialect: bool = False
    emit_bytecode: bool = False
    mlir_print_op_generic: bool = False
    mlir_print_debuginfo: bool = False
    mlir_print_local_scope: bool = False
    mlir_elide_elementsattrs_if_larger: int | None = None
    mlir_print_ir_before_all: bool = False
    mlir_print_ir_after_all: bool = False
    mlir_print_ir_after_change: bool = False
    mlir_print_ir_after_failure: bool = False
    mlir_print_ir_module_scope: bool = False
    mlir_timing: bool = False
    dump_pass_pipeline: bool = False
    list_passes: bool = False
    show_dialects: bool = False
    version: bool = False
    help: bool = False

    @property
    def prints_ir_after(self) -> bool:
        """Whether the IR is printed after passes; `change` and `failure` say after which."""
        return (
            self.mlir_print_ir_after_all
            or self.mlir_print_ir_after_change
            or self.mlir_print_ir_after_failure
        )

    @property
    def prints_ir(self) -> bool:
        """Whether the IR is printed before or after passes."""
        return self.mlir_print_ir_before_all or self.prints_ir_after


@dataclass(frozen=True)
class Flag:
    """How one flag is written; `usage` shows its value, `absent` is the value without `=`."""

    kind: Literal["switch", "text", "number", "optional"]
    usage: str
    help: str
    absent: str = ""


FLAGS: dict[str, Flag] = {
    "o": Flag("text", "FILE", "write there (default: standard output)"),
    "pass-pipeline": Flag("text", "TEXT", "run a whole pipeline: 'builtin.module(...)'"),
    "run-reproducer": Flag("switch", "", "run the pipeline that FILE, a reproducer, holds"),
    "split-input-file": Flag(
        "optional",
        "MARKER",
        f"process the chunks between '{_DEFAULT_MARKER}' lines",
        _DEFAULT_MARKER,
    ),
    "output-split-marker": Flag("text", "MARKER", "the line between the chunks' outputs"),
    "verify-diagnostics": Flag(
        "optional", "only-expected", "check diagnostics against expected-* comments", "all"
    ),
    "verify-each": Flag("switch", "0|1", "verify after every pass (default: 1)"),
    "allow-unregistered-dialect": Flag("switch", "", "accept ops of unknown dialects"),
    "emit-bytecode": Flag("switch", "", "write MLIR bytecode instead of text"),
    "mlir-print-op-generic": Flag("switch", "", "print every op in generic form"),
    "mlir-print-debuginfo": Flag("switch", "", "print locations"),
    "mlir-print-local-scope": Flag("switch", "", "print without aliases"),
    "mlir-elide-elementsattrs-if-larger": Flag("number", "N", "elide larger constants"),
    "mlir-print-ir-before-all": Flag("switch", "", "print the IR before every pass, on stderr"),
    "mlir-print-ir-after-all": Flag("switch", "", "print the IR after every pass"),
    "mlir-print-ir-after-change": Flag("switch", "", "print the IR after passes that changed it"),
    "mlir-print-ir-after-failure": Flag("switch", "", "print the IR after a pass that failed"),
    "mlir-print-ir-module-scope": Flag("switch", "", "always print the whole module there"),
    "mlir-timing": Flag("switch", "", "print the time of every pass, on stderr"),
    "dump-pass-pipeline": Flag("switch", "", "print the pipeline that runs, on stderr"),
    "list-passes": Flag("switch", "", "list all passes and pipelines, with options"),
    "show-dialects": Flag("switch", "", "list the registered dialects"),
    "version": Flag("switch", "", "print the versions of the parts"),
    "help": Flag("switch", "", "print this text"),
}
_SHORT = {"h": "help"}
_FIELDS = {"o": "output"}


def parse_arguments(argv: Sequence[str]) -> Options:
    """The options that `argv` gives; raises `Fp8Error` for what cannot be understood."""
    options = Options()
    arguments = list(argv)
    given: set[str] = set()
    while arguments:
        argument = arguments.pop(0)
        if argument == "--":
            for path in arguments:
                _set_input(options, path)
            break
        if argument == STANDARD_STREAM or not argument.startswith("-"):
            _set_input(options, argument)
            continue
        match = _FLAG.fullmatch(argument)
        if match is None:
            raise Fp8Error(f"cannot understand '{argument}' (see --help)")
        name = _SHORT.get(match["name"], match["name"])
        if name not in FLAGS:
            options.passes.append(_pass_element(match))
            continue
        if match["braces"] is not None:
            raise Fp8Error(f"--{name} takes no '{{...}}'")
        value = match["value"]
        if FLAGS[name].kind in ("text", "number"):
            if name in given:
                raise Fp8Error(f"{_spelled(name)} is given twice")
            if value is None and not arguments:
                raise Fp8Error(f"{_spelled(name)} needs a value")
            value = arguments.pop(0) if value is None else value
        given.add(name)
        setattr(options, _FIELDS.get(name, name.replace("-", "_")), _value(name, value))
    _check(options)
    return options


def _set_input(options: Options, path: str) -> None:
    if options.input is not None:
        raise Fp8Error(f"one input at a time: '{options.input}' or '{path}'")
    options.input = path


def _pass_element(match: re.Match[str]) -> str:
    text = match["braces"] if match["value"] is None else match["value"]
    return match["name"] if not text else f"{match['name']}{{{text}}}"


def _spelled(name: str) -> str:
    return f"-{name}" if len(name) == 1 else f"--{name}"


def _value(name: str, text: str | None) -> bool | int | str | None:
    flag = FLAGS[name]
    if flag.kind == "switch":
        if text not in _TRUTH:
            raise Fp8Error(f"--{name}: '{text}' is neither true nor false")
        return _TRUTH[text]
    if flag.kind == "optional":
        return text or flag.absent
    if flag.kind == "number":
        if text is None or not text.isdecimal():
            raise Fp8Error(f"--{name}: '{text}' is not a number")
        return int(text)
    return text


def _check(options: Options) -> None:
    if options.passes and options.pass_pipeline is not None:
        raise Fp8Error("--pass-pipeline cannot be used with individual passes: put them into it")
    if options.run_reproducer and (options.passes or options.pass_pipeline is not None):
        raise Fp8Error("--run-reproducer runs the pipeline of the file: name no passes")
    if options.run_reproducer and options.split_input_file is not None:
        raise Fp8Error(
            "--run-reproducer runs one module: it cannot be used with --split-input-file"
        )
    if options.verify_diagnostics not in (None, "all", "only-expected"):
        raise Fp8Error(
            f"--verify-diagnostics: '{options.verify_diagnostics}' is neither all nor only-expected"
        )
    if options.emit_bytecode and options.split_input_file is not None:
        raise Fp8Error(
            "--emit-bytecode writes one module: it cannot be used with --split-input-file"
        )
