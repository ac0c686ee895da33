"""The command line of `fp8-explain`."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.scaled_dot.target_names import SUMMARIES
from mlir_fp8.tools._arguments import ArgumentParser, both_dashes, given_arguments
from mlir_fp8.tools._command import STANDARD_STREAM

_DESCRIPTION = """\
Say for each dot and convolution of a module whether a target runs it in FP8, and if not, what is
missing or in the way, where, and the smallest edit that mends it. FILE is MLIR text, MLIR bytecode,
a StableHLO portable artifact, HLO text or a .pt2 file of torch.export.save, and may hold MHLO and
CHLO; - is standard input."""

_TARGETS = "\n".join(f"  {name:<16} {summary}" for name, summary in SUMMARIES.items())
_EPILOG = f"""\
targets:
{_TARGETS}

verdicts:
  fused            one call does all of it
  partly fused     the product runs in FP8; something before or after it stays outside
  not fused        an operand comes from FP8, and the product does not run in FP8
  not FP8          no operand comes from FP8

optimized:
  --optimized says which kernel XLA:GPU made of each dot, beside what our rules predict: it compiles
  the module, which takes a GPU, or reads what XLA made of it: --hlo=FILE, a dump of --xla_dump_to.

lint:
  --lint prints what is suspicious whatever runs the module, in place of the rows: unclamped-cast,
  scale-constant, double-scale, mismatched-scale, amax-of-scaled, f8-accumulation, e4m3-gradient.

wire:
  --wire prints what each device sends, in the place of the rows: of each collective what it would
  be in FP8, what keeps it wide and the smallest edit. With --optimized, of those that XLA's
  partitioner writes, for as many CPU devices as the module is for. --max-wire-bytes=N fails where
  a step sends more.

The exit status is 1 for an error, and where a --require-... is not met. docs/explain.md has all
obstacles, rules and the keys of the JSON.

examples:
  fp8-explain model.mlirbc
  fp8-explain model.pt2 --target=torch-scaled-mm
  fp8-explain model.mlir --target=xla-gpu --compute-capability=9.0 --only-missing
  fp8-explain model.mlir --target=xla-gpu --kernels=h200
  fp8-explain model.mlir --target=all --json
  fp8-explain model.mlir --target=xla-gpu --require-fused
  fp8-explain model.mlir --lint --require-clean
  fp8-explain sharded.mlir --wire --optimized --max-wire-bytes=100000000
  fp8-explain model.mlir --hlo=module_0001.main.sm_9.0_gpu_after_optimizations.txt"""


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    input: str
    target: list[str]
    compute_capability: str
    cuda_version: str
    kernels: str | None
    json: bool
    color: str
    only_missing: bool
    callers: bool
    require_fused: bool
    require_partly_fused: bool
    require_all: bool
    lint: bool
    require_clean: bool
    optimized: bool
    hlo: str | None
    require_agreement: bool
    wire: bool
    max_wire_bytes: int | None


def parse_arguments(argv: Sequence[str]) -> Options | None:
    """The options that `argv` gives; None after `--help` or `--version`, which were printed.

    Raises `Fp8Error` for what cannot be understood.
    """
    given = given_arguments(_parser(), argv)
    if given is None:
        return None
    _check(given)
    defaults = {"target": ["fp8"], "compute_capability": "9.0", "cuda_version": "12.9"}
    return Options(**given | {name: of for name, of in defaults.items() if given[name] is None})


def _parser() -> ArgumentParser:
    parser = ArgumentParser("fp8-explain", _DESCRIPTION, _EPILOG)
    add = parser.add_argument
    add("input", nargs="?", default=STANDARD_STREAM, metavar="FILE",
        help="the module, or - for standard input (the default)")  # fmt: skip
    add(*both_dashes("target"), action="append", choices=(*SUMMARIES, "all"), metavar="TARGET",
        help=f"{', '.join(SUMMARIES)} or all; may be repeated")  # fmt: skip
    add(*both_dashes("compute-capability"), metavar="X.Y",
        help="of the GPU: 8.9, 9.0 (the default), 10.0, ...; or AMD's gfx942, gfx950")  # fmt: skip
    add(*both_dashes("cuda-version"), metavar="X.Y",
        help="what is known to be there (default: 12.9)")  # fmt: skip
    add(*both_dashes("kernels"), metavar="CARD",
        help="with --target=xla-gpu: which of our kernels h100 or h200 would run")  # fmt: skip
    add(*both_dashes("json"), action="store_true", help="for scripts")
    add(*both_dashes("color"), choices=("auto", "always", "never"), default="auto",
        help="auto: on a terminal, unless NO_COLOR is set")  # fmt: skip
    add(*both_dashes("only-missing"), action="store_true",
        help="print only FP8 dots that are not wholly fused")  # fmt: skip
    add(*both_dashes("callers"), action="store_true",
        help="print also where the function that a row is in was called from")  # fmt: skip
    add(*both_dashes("require-fused"), action="store_true",
        help="fail if an FP8 dot is not wholly fused on a target")  # fmt: skip
    add(*both_dashes("require-partly-fused"), action="store_true",
        help="fail if an FP8 dot is not fused at all")  # fmt: skip
    add(*both_dashes("require-all"), action="store_true",
        help="fail if any dot is not wholly fused, FP8 or not")  # fmt: skip
    add(*both_dashes("lint"), action="store_true", help="print what is suspicious instead")
    add(*both_dashes("require-clean"), action="store_true",
        help="with --lint: fail if anything is")  # fmt: skip
    add(*both_dashes("optimized"), action="store_true",
        help="print what XLA:GPU made of each dot, and how it was predicted")  # fmt: skip
    add(*both_dashes("hlo"), metavar="FILE",
        help="--optimized, of HLO that XLA:GPU made of the module before")  # fmt: skip
    add(*both_dashes("require-agreement"), action="store_true",
        help="with --optimized: fail if a dot became another than was predicted")  # fmt: skip
    add(*both_dashes("wire"), action="store_true", help="print what each device sends instead")
    add(*both_dashes("max-wire-bytes"), type=int, metavar="N",
        help="with --wire: fail if each device sends more in a step")  # fmt: skip
    add("--version", action="store_true", default=argparse.SUPPRESS,
        help="print the versions of the parts")  # fmt: skip
    return parser


def _check(given: dict[str, object]) -> None:
    rows = ("target", "compute_capability", "cuda_version", "kernels", "only_missing", "callers",
            "require_fused", "require_partly_fused", "require_all")  # fmt: skip
    most = given["max_wire_bytes"]
    if isinstance(most, int) and most < 0:
        raise Fp8Error(f"--max-wire-bytes={given['max_wire_bytes']}: it is a number from 0 up")
    if given["wire"]:
        _check_wire(given, (*rows, "lint", "require_clean", "hlo", "require_agreement"))
        return
    if given["max_wire_bytes"] is not None:
        raise Fp8Error("--max-wire-bytes goes with --wire")
    if given["lint"]:
        for name in rows:
            if given[name] not in (None, False):
                raise Fp8Error(f"--{name.replace('_', '-')} goes without --lint, which has no rows")
        if given["optimized"] or given["hlo"] is not None:
            raise Fp8Error("--optimized and --lint are two questions: ask one")
    elif given["require_clean"]:
        raise Fp8Error("--require-clean goes with --lint")
    given["optimized"] = bool(given["optimized"]) or given["hlo"] is not None
    if given["require_agreement"] and not given["optimized"]:
        raise Fp8Error("--require-agreement goes with --optimized or --hlo")
    if given["optimized"]:
        targets = given["target"]
        if targets not in (None, ["xla-gpu"]):
            raise Fp8Error("--optimized is of XLA:GPU: the target can only be xla-gpu")
        for name in ("kernels", "only_missing", "callers", "require_fused", "require_partly_fused",
                     "require_all"):  # fmt: skip
            if given[name]:
                raise Fp8Error(f"--{name.replace('_', '-')} goes without --optimized")


def _check_wire(given: dict[str, object], others: Sequence[str]) -> None:
    for name in others:
        if given[name] not in (None, False):
            raise Fp8Error(f"--{name.replace('_', '-')} goes without --wire, which has no dots")
