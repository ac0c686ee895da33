"""`fp8-explain`: which dots of a module run in FP8 where, and why others do not; its lint."""

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._command import STANDARD_STREAM, read_input, run_command, write_output
from mlir_fp8.tools._explain_options import Options, parse_arguments
from mlir_fp8.tools._wall import run_walled

if TYPE_CHECKING:
    from torch_mlir import ir

    from mlir_fp8.explaining.verdicts import Explanation


def console_main() -> None:
    """The `fp8-explain` command."""
    run_walled(_run, "fp8-explain")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `fp8-explain` on `argv` (default: the process's arguments); returns the exit status."""
    return run_command(_run, argv, "fp8-explain")


def _run(argv: Sequence[str]) -> int:
    options = parse_arguments(argv)
    if options is None:
        return 0
    # Imported where needed: `--help` must not wait for MLIR to load.
    from mlir_fp8.base.context import make_context
    from mlir_fp8.explaining.optimized_hlo import is_optimized
    from mlir_fp8.lowering.fp8.scaled_dot.device import parse_device
    from mlir_fp8.reading.hlo import is_hlo_text
    from mlir_fp8.reading.loader import parse

    parse_device(options.compute_capability, options.cuda_version)
    name, data = read_input(options.input)
    if options.wire:
        return _wire(name, data, options)
    if options.optimized:
        return _compare(name, data, options)
    text = data.decode(errors="replace") if is_hlo_text(data) else ""
    try:
        if is_optimized(text) and not options.lint:
            return _explain(text, name, options)
        module = parse(data, name, make_context())
        return _lint(module, name, options) if options.lint else _explain(module, name, options)
    except MemoryError as error:
        raise Fp8Error(f"{name}: out of memory: {error}") from None


def _explain(module: "ir.Module | str", name: str, options: Options) -> int:
    from mlir_fp8.explaining.explain import explain
    from mlir_fp8.tools._explain_page import Style, page

    explanation = explain(
        module,
        options.target,
        compute_capability=options.compute_capability,
        cuda_version=options.cuda_version,
        kernels=options.kernels or "",
        name=name,
    )
    if options.json:
        _say(explanation.to_json() + "\n")
    else:
        style = Style(_is_coloured(options))
        rows = page(explanation, style, only_missing=options.only_missing, callers=options.callers)
        _say(rows)
    _require(explanation, options)
    return 0


def _compare(name: str, data: bytes, options: Options) -> int:
    from mlir_fp8.base.context import make_context
    from mlir_fp8.explaining.compared import compared
    from mlir_fp8.explaining.compiled_hlo import compiled_hlo
    from mlir_fp8.reading.loader import parse
    from mlir_fp8.tools._explain_compared import compared_page
    from mlir_fp8.tools._explain_page import Style

    module = parse(data, name, make_context())
    if options.hlo is None:
        hlo_name, text = "XLA's HLO", compiled_hlo(module, name)
    else:
        hlo_name, held = read_input(options.hlo)
        text = held.decode(errors="replace")
    comparison = compared(
        module,
        text,
        name=name,
        hlo_name=hlo_name,
        compute_capability=options.compute_capability,
        cuda_version=options.cuda_version,
    )
    if options.json:
        _say(json.dumps(comparison.to_dict(), indent=2) + "\n")
    else:
        _say(compared_page(comparison, Style(_is_coloured(options))))
    if options.require_agreement and comparison.disagreements:
        first = comparison.disagreements[0]
        count = len(comparison.disagreements)
        more = f", the first of {count} such dots" if count > 1 else ""
        raise Fp8Error(f"{first.row.location}: {first.disagreement}{more}")
    return 0


def _wire(name: str, data: bytes, options: Options) -> int:
    from mlir_fp8.base.context import make_context
    from mlir_fp8.explaining.wire import wire
    from mlir_fp8.reading.loader import parse
    from mlir_fp8.tools._explain_page import Style
    from mlir_fp8.tools._explain_wire import wire_page

    module = parse(data, name, make_context())
    report = wire(module, name)
    if options.optimized:
        from mlir_fp8.explaining.partitioned import partitioned_hlo

        hlo = partitioned_hlo(module, name)
        report = wire(parse(hlo.encode(), name, make_context()), name, report)
    if options.json:
        _say(report.to_json() + "\n")
    else:
        _say(wire_page(report, Style(_is_coloured(options))))
    limit = options.max_wire_bytes
    if limit is not None and report.bytes > limit:
        raise Fp8Error(
            f"{name}: each device sends {report.bytes} bytes a step, where --max-wire-bytes allows"
            f" {limit}"
        )
    return 0


def _require(explanation: "Explanation", options: Options) -> None:
    from mlir_fp8.explaining.verdicts import NOT_FP8, NOT_FUSED, PARTLY

    requirements = (
        (options.require_partly_fused, {NOT_FUSED}, "FP8", "fused"),
        (options.require_fused, {NOT_FUSED, PARTLY}, "FP8", "wholly fused"),
        (options.require_all, {NOT_FUSED, PARTLY, NOT_FP8}, "all", "wholly fused"),
    )
    for is_required, verdicts, which, how in requirements:
        for target in explanation.targets if is_required else ():
            missing = explanation.places(target, verdicts)
            if missing:
                first = f", the first of {len(missing)} such dots" if len(missing) > 1 else ""
                raise Fp8Error(
                    f"{missing[0]}: not {how} for {target}{first} ({which} dots are required to be)"
                )


def _lint(module: "ir.Module", name: str, options: Options) -> int:
    from mlir_fp8.explaining.lint import lint
    from mlir_fp8.explaining.verdicts import warnings_json
    from mlir_fp8.tools._explain_page import Style, warnings_page

    warnings = lint(module, name=name)
    if options.json:
        _say(warnings_json(name, warnings) + "\n")
    else:
        _say(warnings_page(name, warnings, Style(_is_coloured(options))))
    if warnings and options.require_clean:
        count = "1 warning" if len(warnings) == 1 else f"{len(warnings)} warnings"
        raise Fp8Error(f"{name}: {count}, where --require-clean allows none")
    return 0


def _say(text: str) -> None:
    write_output(STANDARD_STREAM, text.encode())


def _is_coloured(options: Options) -> bool:
    if options.color != "auto":
        return options.color == "always"
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return is_terminal and not os.environ.get("NO_COLOR")


if __name__ == "__main__":
    console_main()
