"""`fp8-quantize`: weights in f8 with scales, what each layer costs, and which a bound allows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._command import (
    STANDARD_STREAM,
    print_to_stderr,
    read_input,
    run_command,
    write_output,
)
from mlir_fp8.tools._quantize_options import (
    BLOCK_RECIPES,
    MX_RECIPES,
    Options,
    parse_arguments,
)
from mlir_fp8.tools._wall import run_walled

if TYPE_CHECKING:
    from torch_mlir import ir

    from mlir_fp8.quantized import Quantized
    from mlir_fp8.tools._quantize_batches import Batches


def console_main() -> None:
    """The `fp8-quantize` command."""
    run_walled(_run, "fp8-quantize")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `fp8-quantize` on `argv` (default: the process's arguments); returns the exit status."""
    return run_command(_run, argv, "fp8-quantize")


def _run(argv: Sequence[str]) -> int:
    options = parse_arguments(argv)
    if options is None:
        return 0
    from mlir_fp8.base.context import make_context
    from mlir_fp8.lowering.fp8.weights.names import as_pattern
    from mlir_fp8.quantization import quantize
    from mlir_fp8.reading.loader import parse
    from mlir_fp8.reading.pt2 import read_program
    from mlir_fp8.reading.torch_files import is_torch_file
    from mlir_fp8.tools._quantize_batches import batches_of

    name, data = read_input(options.input)
    program = read_program(data, name) if is_torch_file(data) else None
    module = parse(data, name, make_context()) if program is None else program.module
    names, batches = batches_of(options, module, program)
    weights, caches = _named(options.weights), _named(options.cache)
    if not weights and program is not None:
        weights = [as_pattern(each) for each in program.state]
    if not weights and (not caches or options.needs_weights):
        raise Fp8Error(f"{name}: which weights? Name them by --weights, '*' for all arguments")
    if options.formats is not None:
        _by_format(options, module, weights, names, batches, program)
        return 0
    smoothing = _smoothing(options, module, weights, batches)
    recipe = _recipe(options, module, weights, batches, smoothing) if weights else None
    wide = _named(options.wide)
    lines: list[str] = []
    if options.report or options.target_sqnr is not None:
        lines, wide = _measured(options, module, recipe, weights, wide, batches, smoothing)
    made = quantize(
        module,
        recipe,
        entry=options.entry,
        weights=weights,
        scales=options.scales,
        wide=wide,
        smoothing=smoothing,
        cache=caches,
        cache_scales=options.cache_scales,
        packed=options.packed or False,
    )
    if options.remarks:
        for each in (*made.weights, *made.caches, *made.packing, *made.decisions):
            print_to_stderr(f"remark: {each}")
    given = dict(zip(names, batches[0], strict=True)) if batches else {}
    _write(options, [made], given, program)
    if options.output != STANDARD_STREAM:
        if options.output is None and not options.report:
            lines += map(str, (*made.weights, *made.caches))
        lines += [_total(made)] if weights else []
        write_output(STANDARD_STREAM, "".join(f"{line}\n" for line in lines).encode())
    return 0


def _named(text: str) -> list[str]:
    return [each for each in text.split(";") if each]


def _smoothing(
    options: Options, module: "ir.Module", weights: Sequence[str], batches: "Batches"
) -> Any:
    from mlir_fp8.inference.smoothing import Smoothing

    if options.smoothing is None:
        return None
    made = Smoothing(module, weights=weights, strength=options.smoothing, entry=options.entry)
    for name, reason in made.left.items():
        print_to_stderr(f"remark: weight '{name}' is not smoothed: it {reason}")
    return made.run(batches, progress=len(batches) > 1)


def _recipe(
    options: Options,
    module: "ir.Module",
    weights: Sequence[str],
    batches: "Batches",
    smoothing: Any,
) -> Any:
    from mlir_fp8.inference.calibration import Calibration
    from mlir_fp8.lowering.fp8.scaling.int8_recipe import Int8Scaling
    from mlir_fp8.lowering.fp8.scaling.recipes import CurrentScaling, StaticScaling, WeightOnly

    if options.recipe == "static":
        calibration = Calibration(
            module,
            weights=weights,
            observer=options.observer,
            per=options.per,
            smoothing=smoothing,
            entry=options.entry,
        )
        return StaticScaling(calibration.run(batches, progress=len(batches) > 1))
    if options.recipe in BLOCK_RECIPES:
        if options.per != "tensor" or options.scales != "channel":
            raise Fp8Error(f"--recipe={options.recipe} has scales of blocks: drop --per, --scales")
        return _block_recipe(options.recipe)
    if options.recipe == "current":
        return CurrentScaling(per=options.per)
    if options.recipe == "int8":
        return Int8Scaling(per=options.per)
    if options.per != "tensor":
        raise Fp8Error("--per is that of activations: take --recipe=current or static")
    return WeightOnly()


def _block_recipe(name: str) -> Any:
    from mlir_fp8.lowering.fp8.scaling.block_recipes import MXScaling, NVFP4Scaling

    if name not in MX_RECIPES:
        return NVFP4Scaling()
    format_, rounding = MX_RECIPES[name]
    return MXScaling(format_, scale_rounding=rounding)


def _by_format(
    options: Options,
    module: "ir.Module",
    weights: Sequence[str],
    names: Sequence[str],
    batches: "Batches",
    program: Any,
) -> None:
    """Choose a format for each layer, say which, and write the module."""
    from mlir_fp8.inference.formats import FormatTrial
    from mlir_fp8.lowering.fp8.weights.names import as_pattern
    from mlir_fp8.quantization import quantize

    assert options.formats is not None and options.target_sqnr is not None
    wide = _named(options.wide)
    recipes = {
        each: "current" if each == "current" else _block_recipe(each)
        for each in _named(options.formats)
    }
    trial = FormatTrial(module, recipes, batches, weights=weights, wide=wide, entry=options.entry)
    choice = trial.choose(options.target_sqnr)
    before = trial.bytes_of({})
    found = _spelled(choice.sqnr, choice.batches).strip()
    lines = [f"weights of {before} bytes take {choice.bytes}: {found}"]
    width = max(map(len, choice.formats))
    lines += [f"{name:<{width}}  {own or 'wide'}" for name, own in choice.formats.items()]
    made: list[Quantized] = []
    for each, recipe in recipes.items():
        if chosen := choice.weights_in(each):
            given = [as_pattern(name) for name in chosen]
            held = made[-1].module if made else module
            made.append(quantize(held, recipe, entry=options.entry, weights=given, wide=wide))
    arguments = dict(zip(names, batches[0], strict=True)) if batches else {}
    if options.remarks:
        for each in made:
            for one in (*each.weights, *each.decisions):
                print_to_stderr(f"remark: {one}")
    _write(options, made, arguments, program, choice.weights_in(None))
    write_output(STANDARD_STREAM, "".join(f"{line}\n" for line in lines).encode())


def _measured(
    options: Options,
    module: "ir.Module",
    recipe: Any,
    weights: Sequence[str],
    wide: list[str],
    batches: "Batches",
    smoothing: Any,
) -> tuple[list[str], list[str]]:
    """What `--report` and `--target-sqnr` print, and what then stays wide."""
    from mlir_fp8.inference.search import Trial

    trial = Trial(
        module,
        recipe,
        batches,
        weights=weights,
        scales=options.scales,
        wide=wide,
        smoothing=smoothing,
        entry=options.entry,
    )
    costs = trial.costs(_print_measured if len(batches) > 1 else None)
    lines: list[str] = []
    if options.report:
        width = max(len(each.name) for each in costs)
        lines.append(f"{'layer':<{width}}  SQNR of the results with it alone in FP8")
        lines += [f"{each.name:<{width}}  {_spelled(each.sqnr, each.batches)}" for each in costs]
        lines.append(f"{'all of them':<{width}}  {_spelled(*trial.measured(trial.names))}")
    if options.target_sqnr is None:
        return lines, wide
    choice = trial.choose(options.target_sqnr, costs)
    found = _spelled(choice.sqnr, choice.batches).strip()
    lines.append(f"{len(choice.in_fp8)} of {len(costs)} layers in FP8: {found}")
    lines += [f"wide: {each}" for each in choice.wide]
    return lines, [*wide, *choice.wide]


def _spelled(sqnr: float, batches: Sequence[float]) -> str:
    """An SQNR, and of more than one batch that of the worst and the mean of all, in dB."""
    if len(batches) < 2:
        return f"{sqnr:6.2f} dB"
    mean = sum(batches) / len(batches)
    return f"{sqnr:6.2f} dB (worst batch {min(batches):.2f}, mean {mean:.2f})"


def _print_measured(done: int, total: int) -> None:
    print_to_stderr(f"measured {done} of {total} layers")


def _total(made: "Quantized") -> str:
    from mlir_fp8.lowering.fp8.weights.decisions import total_bytes

    return total_bytes(made.weights)


def _write(
    options: Options,
    made: "Sequence[Quantized]",
    given: dict[str, Any],
    program: Any,
    wide: Sequence[str] = (),
) -> None:
    """Write the module of the last of `made`, which follow each other, and the weights of all.

    `wide` are weights that none of them knows.
    """
    from mlir_fp8.quantized import weights_of
    from mlir_fp8.serialization.serialize import serialize
    from mlir_fp8.tensors.array_files import save_arrays

    module = made[-1].module
    if options.prepared is not None:
        held = given if program is None else {**program.state, **given}
        names = [each.name for each in weights_of(module, options.entry)]
        missing = [name for name in names if name not in held]
        if missing:
            raise Fp8Error(f"--prepared needs weight '{missing[0]}': give it with --args")
        prepared: dict[str, Any] = {}
        for each in made:
            own = {one.name for one in (*each.weights, *each.caches)}
            prepared |= each.prepare({name: held[name] for name in held if name in own})
        prepared |= {name: held[name] for name in wide}
        save_arrays(options.prepared, prepared)
    if options.output is not None:
        is_artifact = options.output.endswith(".mlirbc")
        data = serialize(module) if is_artifact else str(module).encode() + b"\n"
        write_output(options.output, data)


if __name__ == "__main__":
    console_main()
