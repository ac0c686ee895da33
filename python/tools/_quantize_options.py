"""The command line of `fp8-quantize`."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.weights.layouts import LAYOUTS
from mlir_fp8.tools._arguments import ArgumentParser, both_dashes, given_arguments

_DESCRIPTION = """\
Make the weights of one function of a module f8, with scales beside them, and products with them
FP8. FILE is MLIR text, bytecode, a StableHLO portable artifact or a .pt2 file. docs/inference.md
says what becomes of a weight. Without -o, what would become of each is printed."""

MX_RECIPES = {
    "mxfp8": ("f8E4M3FN", "ceil"),
    "mxfp6": ("f6E2M3FN", "even"),
    "mxfp4": ("f4E2M1FN", "even"),
}
"""`MXScaling` by what its formats are called: the format, and how scales are rounded, which of each
is what loses least of normally distributed numbers."""
BLOCK_RECIPES = (*MX_RECIPES, "nvfp4")
RECIPES = ("weight_only", "current", "static", "int8", *BLOCK_RECIPES)
FORMATS = ("current", *BLOCK_RECIPES)
"""What `--formats` may name."""

_EXAMPLES = """\
weights, caches:
  Names of arguments and patterns with * and ?, and of weights constants for those of the module,
  with ; between them. Of a .pt2 file all that is in it is meant where nothing is said.

arguments:
  As fp8-run takes them. They are the batch that static scales, --smoothing, --report and
  --target-sqnr are measured on, and hold the weights that --prepared writes. With --batches they
  are those that all batches share: PATH is a folder with a file for each batch, or a file whose
  arrays have all batches along a further first dimension.

examples:
  fp8-quantize model.pt2 --recipe=current -o model.mlirbc --prepared=model.safetensors
  fp8-quantize model.mlir --weights='*.weight' --scales=block --remarks -o fp8.mlir
  fp8-quantize step.mlir --weights='w*' --cache='k.*;v.*' -o step.mlirbc
  fp8-quantize model.mlir --weights='*' --args in.npz --report
  fp8-quantize model.mlir --weights='w*' --args w.npz --batches=samples --recipe=static --report
  fp8-quantize model.pt2 --args x.npz --recipe=static --target-sqnr=25 -o model.mlirbc
  fp8-quantize model.pt2 --args x.npz --formats='mxfp8;mxfp6;nvfp4' --target-sqnr=25 -o m.mlirbc"""


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    input: str
    weights: str
    recipe: str
    scales: str
    per: str
    observer: str
    wide: str
    entry: str
    args: list[str] | None
    batches: str | None
    random: int | None
    smoothing: float | None
    cache: str
    cache_scales: str
    packed: str | None
    report: bool
    target_sqnr: float | None
    formats: str | None
    remarks: bool
    output: str | None
    prepared: str | None

    @property
    def measures(self) -> bool:
        """Whether the module is to be run."""
        is_measured = self.report or self.target_sqnr is not None
        return is_measured or self.recipe == "static" or self.smoothing is not None

    @property
    def needs_weights(self) -> bool:
        """Whether caches alone are not enough."""
        return self.measures or self.recipe != "weight_only" or self.packed is not None


def parse_arguments(argv: Sequence[str]) -> Options | None:
    """The options that `argv` gives; None after `--help` or `--version`, which were printed.

    Raises `Fp8Error` for what cannot be understood.
    """
    given = given_arguments(_parser(), argv)
    if given is None:
        return None
    if given["input"] is None:
        raise Fp8Error("which module? Name its FILE first (see fp8-quantize --help)")
    options = Options(**given)
    has_arguments = any(
        each is not None for each in (options.args, options.batches, options.random)
    )
    if options.batches is not None and options.random is not None:
        raise Fp8Error("--batches are no random arguments: drop --random")
    if options.measures and not has_arguments:
        what = "--target-sqnr" if options.target_sqnr is not None else "--report"
        what = "--smoothing" if options.smoothing is not None else what
        what = "--recipe=static" if options.recipe == "static" else what
        raise Fp8Error(f"{what} runs the module: give --args, --batches or --random")
    if options.recipe == "weight_only" and options.smoothing is not None:
        raise Fp8Error("--smoothing shifts scale of activations: take --recipe=current or static")
    if options.recipe != "static" and options.observer != "max":
        raise Fp8Error("--observer is that of --recipe=static")
    if options.target_sqnr is not None and not math.isfinite(options.target_sqnr):
        raise Fp8Error(f"--target-sqnr is {options.target_sqnr}: it is a number of dB")
    if options.formats is not None:
        _check_formats(options)
    if options.output == "-" and (options.report or options.target_sqnr is not None):
        raise Fp8Error("-o - would write the module into the report: name a file")
    if options.output is not None and options.output == options.prepared:
        raise Fp8Error(f"-o and --prepared are both '{options.output}': name two files")
    return options


def _check_formats(options: Options) -> None:
    assert options.formats is not None
    for each in options.formats.split(";"):
        if each not in FORMATS:
            raise Fp8Error(f"'{each}' is no format: --formats has {', '.join(FORMATS)}, with ;")
    if options.target_sqnr is None:
        raise Fp8Error("--formats are those that --target-sqnr chooses among: give a number of dB")
    others = {
        "--recipe": options.recipe != "weight_only",
        "--scales": options.scales != "channel",
        "--per": options.per != "tensor",
        "--cache": options.cache,
        "--packed": options.packed,
        "--smoothing": options.smoothing is not None,
        "--report": options.report,
    }
    if given := [name for name, is_there in others.items() if is_there]:
        raise Fp8Error(f"--formats says how layers are scaled: drop {given[0]}")


def _parser() -> ArgumentParser:
    parser = ArgumentParser("fp8-quantize", _DESCRIPTION, _EXAMPLES)
    parser.usage = (
        "fp8-quantize FILE [--weights=NAMES] [--recipe=RECIPE] [--scales=LAYOUT]\n"
        "                    [--per=tensor|row|channel] [--observer=OBSERVER] [--wide=NAMES]\n"
        "                    [--entry NAME] [--args FILE... | --random SEED] [--batches=PATH]\n"
        "                    [--smoothing=STRENGTH] [--cache=NAMES] [--cache-scales=token|head]\n"
        "                    [--packed[=TARGET]]\n"
        "                    [--report] [--target-sqnr=DB [--formats=NAMES]] [--remarks]\n"
        "                    [-o FILE] [--prepared=FILE]"
    )
    add = parser.add_argument
    add("input", nargs="?", metavar="FILE", help="the module, or - for standard input")
    add(*both_dashes("weights"), default="", metavar="NAMES", help="which weights, see below")
    add(*both_dashes("recipe"), default="weight_only", choices=RECIPES,
        help="of what weights are multiplied by: none, current or static scales, or of"
        " both: int8, blocks")  # fmt: skip
    add(*both_dashes("scales"), default="channel", choices=LAYOUTS, help="scales of weights")
    add(*both_dashes("per"), default="tensor", choices=("tensor", "row", "channel"),
        help="scales of activations: row with current and int8, channel with static")  # fmt: skip
    add(*both_dashes("observer"), default="max", metavar="OBSERVER",
        help="of static scales: max, mse or percentile=99.99")  # fmt: skip
    add(*both_dashes("wide"), default="default", metavar="NAMES",
        help="what stays wide; default: routers, and what end layers take")  # fmt: skip
    add(*both_dashes("entry"), default="main", metavar="NAME", help="the function (main)")
    inputs = parser.add_mutually_exclusive_group()
    inputs.add_argument(*both_dashes("args"), nargs="+", action="extend", metavar="FILE",
                        help="arguments: .npz, .npy or .safetensors")  # fmt: skip
    inputs.add_argument(*both_dashes("random"), type=_seed, metavar="SEED",
                        help="random arguments instead")  # fmt: skip
    add(*both_dashes("batches"), metavar="PATH",
        help="many batches: a folder of files, or a file of stacked arrays")  # fmt: skip
    add(*both_dashes("smoothing"), type=float, metavar="STRENGTH",
        help="shift scale of channels to weights, as SmoothQuant: 0 to 1, 0.5")  # fmt: skip
    add(*both_dashes("cache"), default="", metavar="NAMES",
        help="KV caches that become f8; --report measures with wide ones")  # fmt: skip
    add(*both_dashes("cache-scales"), default="token", choices=("token", "head"),
        help="of caches: written beside each row (token), or an argument (head)")  # fmt: skip
    add(*both_dashes("packed"), nargs="?", const="host", metavar="TARGET",
        help="take weights in panels as kernels here, or of TARGET, read them")  # fmt: skip
    add(*both_dashes("report"), action="store_true", help="print what each layer costs in FP8")
    add(*both_dashes("target-sqnr"), type=float, metavar="DB",
        help="keep as many layers in FP8 as leave results that close")  # fmt: skip
    add(*both_dashes("formats"), metavar="NAMES",
        help="of --target-sqnr: which of these each layer takes, fewest bytes first")  # fmt: skip
    add(*both_dashes("remarks"), action="store_true", help="say on stderr what becomes of each op")
    add("-o", dest="output", metavar="FILE", help="the module: text, or .mlirbc an artifact")
    add(*both_dashes("prepared"), metavar="FILE",
        help="the weights in f8 with their scales: .npz or .safetensors")  # fmt: skip
    return parser


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no seed: a number, 0 or more")
    return int(text)
