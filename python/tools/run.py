"""`fp8-run`: run a module on arrays from files, or on random ones, compiled or by other engines."""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mlir_fp8.base.errors import Fp8Error, InternalError
from mlir_fp8.failures.trace import step
from mlir_fp8.tools._command import (
    STANDARD_STREAM,
    print_to_stderr,
    read_input,
    run_command,
    write_output,
)
from mlir_fp8.tools._run_options import Options, parse_arguments
from mlir_fp8.tools._wall import run_walled

if TYPE_CHECKING:
    import numpy as np
    from torch_mlir import ir

    from mlir_fp8.arrays.tensor_specs import TensorSpec
    from mlir_fp8.xla.artifact import Artifact


def console_main() -> None:
    """The `fp8-run` command."""
    run_walled(_run, "fp8-run")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `fp8-run` on `argv` (default: the process's arguments); returns the exit status."""
    return run_command(_run, argv, "fp8-run")


def _run(argv: Sequence[str]) -> int:
    options = parse_arguments(argv)
    if options is None:
        return 0
    name, data = read_input(options.input)
    try:
        return _process(name, data, options)
    except InternalError:
        raise
    except Fp8Error as error:
        raise Fp8Error(_named(str(error), name)) from None
    except MemoryError as error:
        raise Fp8Error(f"{name}: out of memory: {error}") from None


def _process(name: str, data: bytes, options: Options) -> int:
    if options.backend == "xla" and options.on_mesh is None:
        from mlir_fp8.xla.compilation import ready_artifact

        artifact = ready_artifact((data, name), options.for_xla)
        if artifact is not None:
            return _process_artifact(artifact, name, data, options)
    # Imported where needed: `--help` must not wait for MLIR to load.
    from mlir_fp8.base.context import make_context
    from mlir_fp8.compiling.argument_names import result_names
    from mlir_fp8.compiling.entry import entry_signature
    from mlir_fp8.reading.loader import parse
    from mlir_fp8.reading.pt2 import read_program
    from mlir_fp8.reading.torch_files import is_torch_file
    from mlir_fp8.tools import _run_arguments, _run_given

    started = time.perf_counter()
    program = read_program(data, name) if is_torch_file(data) else None
    module = parse(data, name, make_context()) if program is None else program.module
    _report(options, "load", time.perf_counter() - started)
    # Everything that can be wrong with the files comes before the compilation, which takes seconds.
    files = _run_arguments.Files(options, module, program)
    module = files.module
    takes, gives = entry_signature(module, options.entry)
    if options.simulate_devices is not None:
        from mlir_fp8.simulation.grid import check_devices, grid_of, of_devices

        replicas, partitions = grid_of(module, check_devices(options.simulate_devices))
        takes, gives = of_devices(module, replicas * partitions, takes, gives)
    if options.on_mesh is not None or options.compare:
        from mlir_fp8.simulation.grid import of_devices, several_devices

        replicas, partitions = several_devices(module) or (1, 1)
        count = options.device_count if options.on_mesh else replicas * partitions
        if count > 1:
            takes, gives = of_devices(module, count, takes, gives)
    arguments = files.arguments(takes)
    labels = result_names(module, options.entry)
    expected = _run_given.expected(options, gives, labels)
    _check_output(options, gives)
    if options.rounds_for_others:
        from mlir_fp8.judging.rounded import rounded_copy

        module = rounded_copy(
            module,
            options.entry,
            rounding=options.rounding,
            seed=options.seed or 0,
            saturate=options.saturate,
        )
    if options.compare is not None:
        return _compare(name, module, options, arguments)
    if options.report is not None:
        from mlir_fp8.tools import _run_statistics

        started = time.perf_counter()
        summary = _run_statistics.write_reports(
            options.report,
            name,
            module,
            arguments,
            entry=options.entry,
            saturate=options.saturate,
        )
        _report(options, "report", time.perf_counter() - started)
        _say(summary)
        return 0
    results = _results(module, options, arguments, gives)
    return _deliver(options, gives, labels, results, expected)


def _process_artifact(artifact: "Artifact", name: str, data: bytes, options: Options) -> int:
    """What XLA runs as it is, without MLIR."""
    from mlir_fp8.tools import _run_given

    takes, gives, labels = artifact.arguments, artifact.results, artifact.result_names
    arguments = _run_given.Given(options, artifact.argument_names, {}).arguments(takes)
    expected = _run_given.expected(options, gives, labels)
    _check_output(options, gives)
    results = _by_xla((data, name), options, arguments)
    return _deliver(options, gives, labels, results, expected)


def _by_xla(
    source: "ir.Module | tuple[bytes, str]", options: Options, arguments: "Sequence[np.ndarray]"
) -> "tuple[np.ndarray, ...]":
    from mlir_fp8.xla.compilation import compile_for_xla

    started = time.perf_counter()
    compiled = compile_for_xla(source, options.for_xla)
    _report(options, "to XLA", time.perf_counter() - started)
    started = time.perf_counter()
    results = compiled(*arguments, as_="numpy")
    _report(options, "run", time.perf_counter() - started)
    return results


def _on_mesh(
    module: "ir.Module", options: Options, arguments: "Sequence[np.ndarray]"
) -> "tuple[np.ndarray, ...]":
    started = time.perf_counter()
    if options.processes > 1:
        from mlir_fp8.compiling.execution import bytecode
        from mlir_fp8.xla.processes import run_in_processes

        results = run_in_processes(
            (bytecode(module), options.input),
            arguments,
            options.for_xla,
            options.on_mesh,
            devices=options.device_count,
            processes=options.processes,
        )
        _report(options, "run", time.perf_counter() - started)
        return results
    from mlir_fp8.xla.sharded_compilation import compile_sharded

    compiled = compile_sharded(module, options.for_xla, options.on_mesh)
    _report(options, "to XLA", time.perf_counter() - started)
    started = time.perf_counter()
    results = compiled(*arguments, as_="numpy")
    _report(options, "run", time.perf_counter() - started)
    return results


def _results(
    module: "ir.Module",
    options: Options,
    arguments: "Sequence[np.ndarray]",
    gives: "Sequence[TensorSpec]",
) -> "tuple[np.ndarray, ...]":
    if options.on_mesh is not None:
        return _on_mesh(module, options, arguments)
    if options.backend == "xla":
        return _by_xla(module, options, arguments)
    if options.backend not in (None, "llvm"):
        from mlir_fp8.judging.judges import run_by

        started = time.perf_counter()
        results = run_by(options.backend, module, arguments, options.entry, gives)
    elif options.simulate_devices is not None:
        started, results = _simulated(module, options, options.simulate_devices, arguments)
    else:
        from mlir_fp8.compiling.compilation import compile as compile_module

        def stages(stage: str, seconds: float, _: "ir.Module") -> None:
            _report(options, stage, seconds)

        compiled = compile_module(
            module,
            entry=options.entry,
            saturate=options.saturate,
            rounding=options.rounding,
            seed=options.seed or 0,
            allow_excess_precision=options.allow_excess_precision,
            threads=options.threads,
            on_stage=stages if options.timing else None,
        )
        if options.timing:
            from mlir_fp8.lowering.kernels.vector_code.target import host_target

            print_to_stderr(f"{'kernels for':<16}{host_target().name:>11}")
        started = time.perf_counter()
        with step("native code"):
            results = compiled(*arguments)
    _report(options, "run", time.perf_counter() - started)
    return results


def _simulated(
    module: "ir.Module",
    options: Options,
    devices: int | tuple[int, int],
    arguments: "Sequence[np.ndarray]",
) -> "tuple[float, tuple[np.ndarray, ...]]":
    """When the run started, and its results."""
    from mlir_fp8.compiling.compilation import compile as compile_module

    compiled = compile_module(
        module,
        simulate_devices=devices,
        entry=options.entry,
        saturate=options.saturate,
        rounding=options.rounding,
        seed=options.seed or 0,
        allow_excess_precision=options.allow_excess_precision,
    )
    started = time.perf_counter()
    with step("native code"):
        return started, compiled(*arguments)


def _compare(
    name: str, module: "ir.Module", options: Options, arguments: "Sequence[np.ndarray]"
) -> int:
    from mlir_fp8.judging.judges import compare
    from mlir_fp8.tools import _run_judges

    assert options.compare is not None
    verdict = compare(
        module,
        *arguments,
        judges=options.compare,
        tolerance=options.tolerance,
        entry=options.entry,
    )
    for opinion in verdict.opinions:
        _report(options, opinion.judge, opinion.seconds)
    _say(_run_judges.table(verdict, lambda refusal: _named(refusal, name)))
    if not verdict.is_comparison:
        raise Fp8Error(f"{name}: fewer than two judges can run it: nothing is compared")
    if options.reduce is not None:
        from mlir_fp8.tools._run_reduce import reduce_to_files

        reduce_to_files(module, arguments, verdict, options)
        return 0
    failed = sum(not each.is_good for each in verdict.agreements)
    if failed:
        raise Fp8Error(
            f"{failed} of {len(verdict.agreements)} comparisons with {verdict.reference} "
            f"differ by more than {options.tolerance:g}"
        )
    return 0


def _check_output(options: Options, specs: "Sequence[TensorSpec]") -> None:
    if options.output is not None and options.output.endswith(".npy") and len(specs) != 1:
        raise Fp8Error(
            f"'{options.output}' would hold one result, '{options.entry}' gives {len(specs)}: "
            "write an .npz"
        )
    if options.output is not None:
        from mlir_fp8.tools import _run_files

        _run_files.check_output(options.output, specs)


def _deliver(
    options: Options,
    specs: "Sequence[TensorSpec]",
    labels: Sequence[str],
    results: "Sequence[np.ndarray]",
    expected: "Sequence[np.ndarray] | None",
) -> int:
    from mlir_fp8.judging.comparison import compare
    from mlir_fp8.tools import _run_files, _run_report

    if options.output is not None:
        _run_files.write_arrays(options.output, results)
    if options.print:
        _say(_run_report.values(specs, labels, results))
    if expected is not None:
        comparisons = [
            compare(got, want, options.tolerance)
            for got, want in zip(results, expected, strict=True)
        ]
        _say(_run_report.table(specs, labels, comparisons))
        failed = sum(not comparison.is_good for comparison in comparisons)
        if failed:
            raise Fp8Error(
                f"{failed} of {len(results)} results differ from '{options.expect}' "
                f"by more than {options.tolerance:g}"
            )
    if options.output is None and not options.print and expected is None:
        _say(_run_report.summary(specs, labels, results))
    return 0


def _say(lines: Iterator[str]) -> None:
    write_output(STANDARD_STREAM, "".join(f"{line}\n" for line in lines).encode())


def _report(options: Options, stage: str, seconds: float) -> None:
    if options.timing:
        print_to_stderr(f"{stage:<16}{seconds:9.3f} s")


def _named(message: str, name: str) -> str:
    """`message` with the input's name in its place: MLIR calls text in memory `-`."""
    for anonymous in ("-:", "<module>:"):
        if message.startswith(anonymous):
            return f"{name}:{message.removeprefix(anonymous)}"
    return message


if __name__ == "__main__":
    console_main()
