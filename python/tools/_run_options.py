"""The command line of `fp8-run`."""

import argparse
import dataclasses
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.rounding_modes import OPTIONS
from mlir_fp8.judging.judge_names import JUDGES, are_judges, on_device
from mlir_fp8.pipelines import NEAREST_EVEN
from mlir_fp8.simulation.limits import MOST
from mlir_fp8.tools._arguments import ArgumentParser, both_dashes, given_arguments
from mlir_fp8.tools._command import STANDARD_STREAM
from mlir_fp8.tools._run_statistics import check_names
from mlir_fp8.xla.devices import check_device_name
from mlir_fp8.xla.mesh_option import parse_mesh
from mlir_fp8.xla.options import XlaOptions

_DESCRIPTION = """\
Compile one function of a module to native code and run it, or let other engines run it. FILE is
MLIR text, MLIR bytecode, a StableHLO portable artifact or a .pt2 file of torch.export.save, and may
hold MHLO and CHLO. Sizes that it leaves open (?) are those of the arrays given with --args.

Without -o, --print and --expect, each result's type and range are printed."""

_EXAMPLES = """\
array files:
  An .npz holds arguments as arg0, arg1, ... and results as res0, res1, ...; with any other key in
  it, its order counts. float8, bfloat16, i4 and i2 are kept as unsigned integers of their codes,
  under a key with the type as suffix: arg1@f8E4M3FN, res0@bf16. An .npy holds one argument; where
  the function declares a float8 (or bf16) one, uint8 (uint16) or what np.save made of an ml_dtypes
  array is taken as its codes. A .safetensors file (pip install 'mlir-fp8[torch]'), or the
  .safetensors.index.json of several, is mapped; its arrays are named arg0, arg1, ... or res0, res1,
  ..., as such files keep no order, unless there is one. -o writes the form that its name ends in.
  Types and shapes must be exactly the declared ones.
  Arguments that the module names are taken by name from all files, the others as above: weights of
  a .pt2 file are in it, and --args of its artifact may be model.safetensors x.safetensors.

random arguments:
  One numpy Generator(PCG64(SEED)) makes all arguments, in order. Floats are standard normal, drawn
  in f32 (f64 for f64) and rounded to the declared type, nearest-even; magnitudes only for
  f8E8M0FNU, which has no sign. Integers are 0 to 7 (what of that the type has),
  i1 is even odds.

expected results:
  Each result's relative L2 distance, ||got - want|| / ||want|| in f64, must not exceed the
  tolerance. NaN equals NaN, and an infinity one of its sign; elsewhere they are infinitely far.
  Integers and i1 must be equal. The exit status is 1 if a result fails.

judges:
  llvm compiles to native code, interpreter is StableHLO's reference interpreter, xla is XLA
  without excess precision, through jax (pip install 'mlir-fp8[xla]'), on the CPU or where --device
  says; xla-gpu and xla-gpu:1 are XLA on a GPU. --backend=xla needs jax alone, and no MLIR, for a
  portable artifact; JAX_COMPILATION_CACHE_DIR keeps what it compiles. --compare runs the same
  arguments through each and prints, per result, how far each is from the first that could run the
  module: the largest distance of two elements in ULP of the declared type, the relative L2
  distance, the share of identical elements, and the first that differs. A result fails as for
  --expect, and the exit status is 1; so it is when fewer than two judges can run the module.
  With --saturate and --rounding all of them run the same module, in which each rounding to f8, f6
  and f4 is spelled out (fp8-opt --round-small-floats).

reducing:
  --reduce small.mlir cuts a module that fails down to the smallest that two judges still differ on,
  mostly one op, and writes it with the arguments beside it, in small.npz: both, or neither. Values
  that the module computed become arguments, as the first judge computed them. What is written fails
  with --compare of the same judges. The exit status is 0 then, and 1 if the judges agree.

report:
  For every float value of the function, calls inlined: amax, the shares of NaN, overflow and
  underflow, the distance (SQNR) to the same program in f32, a histogram over exponents, and which
  8-bit format and scale would lose least. The .html is one page that loads nothing; docs/report.md
  has the keys of the .json. A summary is printed.

examples:
  fp8-run model.mlirbc --args in.npz -o out.npz
  fp8-run model.mlir --args x.npy scale.npy --print
  fp8-run model.pt2 --args x.safetensors
  fp8-run model.mhlo.mlir --args in.npz --expect out.npz --tolerance 1e-5
  fp8-opt model.mlir --canonicalize | fp8-run - --random 0 --timing
  fp8-run model.mlir --random 0 --compare=llvm,xla
  fp8-run model.mlirbc --args in.npz --backend=xla --device=gpu -o out.npz
  fp8-run model.mlir --random 0 --compare=llvm,xla --reduce small.mlir
  fp8-run model.mlir --args in.npz --report report.html report.json"""


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    input: str
    args: list[str] | None
    random: int | None
    entry: str
    output: str | None
    expect: str | None
    tolerance: float
    print: bool
    saturate: bool
    rounding: str
    seed: int | None
    allow_excess_precision: bool
    threads: int | None
    timing: bool
    backend: str | None
    compare: tuple[str, ...] | None
    reduce: str | None
    report: list[str] | None
    device: str = "cpu"
    simulate_devices: int | tuple[int, int] | None = None
    devices: int | None = None
    mesh: dict[str, int] | None = None
    processes: int = 1

    @property
    def for_xla(self) -> XlaOptions:
        """What `--backend=xla` compiles by."""
        return XlaOptions(
            self.device,
            self.entry,
            self.saturate,
            self.rounding,
            self.seed or 0,
            self.allow_excess_precision,
        )

    @property
    def on_mesh(self) -> dict[str, int] | int | None:
        """The devices that XLA runs on, where they are several: axes, or a number."""
        return self.mesh or self.devices

    @property
    def device_count(self) -> int:
        """How many devices these are."""
        return math.prod(self.mesh.values()) if self.mesh else self.devices or 1

    @property
    def is_compiled(self) -> bool:
        """Whether native code alone runs the module."""
        return self.backend in (None, "llvm") and not self.compare

    @property
    def rounds_for_others(self) -> bool:
        """Whether engines that round to nearest and do not saturate are asked for more."""
        is_left = not self.is_compiled and self.backend != "xla"
        return is_left and (self.saturate or self.rounding != NEAREST_EVEN)


def parse_arguments(argv: Sequence[str]) -> Options | None:
    """The options that `argv` gives; None after `--help` or `--version`, which were printed.

    Raises `Fp8Error` for what cannot be understood.
    """
    given = given_arguments(_parser(), argv)
    if given is None:
        return None
    if given["input"] is None:
        raise Fp8Error("which module? Name its FILE first, before --args (see fp8-run --help)")
    options = Options(**given)
    _check(options)
    if options.compare:
        judges = on_device(options.compare, options.device)
        return dataclasses.replace(options, compare=judges)
    return options


def _parser() -> ArgumentParser:
    parser = ArgumentParser("fp8-run", _DESCRIPTION, _EXAMPLES)
    parser.usage = (
        "fp8-run FILE [--args FILE... | --random SEED] [--entry NAME] [-o FILE]\n"
        "               [--expect FILE [--tolerance REL]] [--print] [--timing]\n"
        "               [--saturate] [--rounding=MODE] [--seed=N]\n"
        "               [--allow-excess-precision] [--threads=N]\n"
        "               [--simulate-devices=N]\n"
        "               [--backend=JUDGE | --compare=JUDGE,JUDGE... [--reduce FILE.mlir]\n"
        "                | --report FILE...] [--device=DEVICE]\n"
        "               [--devices=N] [--mesh=AXIS=N,AXIS=N...] [--processes=K]"
    )
    add = parser.add_argument
    add("input", nargs="?", metavar="FILE", help="the module, or - for standard input")
    inputs = parser.add_mutually_exclusive_group()
    inputs.add_argument(*both_dashes("args"), nargs="+", action="extend", metavar="FILE",
                        help="arguments: one .npz or .safetensors, or one .npy each")  # fmt: skip
    inputs.add_argument(*both_dashes("random"), type=_seed, metavar="SEED",
                        help="random arguments, the same ones for the same seed")  # fmt: skip
    add(*both_dashes("entry"), default="main", metavar="NAME",
        help="the function to run (default: main)")  # fmt: skip
    add("-o", dest="output", metavar="FILE",
        help="write the results: an .npz or .safetensors, or an .npy of one")  # fmt: skip
    add(*both_dashes("expect"), metavar="FILE",
        help="compare the results with these, an .npz, .safetensors or .npy")  # fmt: skip
    add(*both_dashes("tolerance"), type=_tolerance, default=1e-5, metavar="REL",
        help="largest relative L2 distance that passes with --expect or --compare "
             "(default: 1e-5)")  # fmt: skip
    add(*both_dashes("print"), action="store_true", help="print the results' values")
    add(*both_dashes("saturate"), action="store_true",
        help="round beyond an f8's range to its largest value, not to infinity or NaN")  # fmt: skip
    add(*both_dashes("rounding"), choices=OPTIONS, default=NEAREST_EVEN,
        help="how f8, f6 and f4 are rounded to (default: nearest-even)")  # fmt: skip
    add(*both_dashes("seed"), type=_seed, metavar="N",
        help="which random bits rng and --rounding=stochastic take (default: 0)")  # fmt: skip
    add(*both_dashes("allow-excess-precision"), action="store_true",
        help="keep f32 where the module rounds to bf16 or f16 between two ops")  # fmt: skip
    add(*both_dashes("threads"), type=int, metavar="N",
        help="how many threads share big loops and products "
             "(default: MLIR_FP8_NUM_THREADS, or all cores)")  # fmt: skip
    add(*both_dashes("timing"), action="store_true",
        help="print the seconds that each stage takes, on stderr")  # fmt: skip
    add(*both_dashes("simulate-devices"), type=_devices, metavar="N",
        help="run as many devices, or REPLICASxPARTITIONS, which meet in collectives; arrays "
             "of a program of each have a dimension of devices first")  # fmt: skip
    engines = parser.add_mutually_exclusive_group()
    engines.add_argument(*both_dashes("backend"), choices=JUDGES,
                         help="what runs the module (default: llvm)")  # fmt: skip
    engines.add_argument(*both_dashes("compare"), type=_judges, metavar="JUDGES",
                         help="by which judges to run it and compare: two or more of "
                              "llvm,interpreter,xla,xla-gpu")  # fmt: skip
    add(*both_dashes("device"), type=_device, default="cpu", metavar="DEVICE",
        help="where XLA runs: cpu, gpu or gpu:N (default: cpu)")  # fmt: skip
    add(*both_dashes("devices"), type=_positive, metavar="N",
        help="with --backend=xla: on how many devices of the CPU")  # fmt: skip
    add(*both_dashes("mesh"), type=_mesh, metavar="MESH",
        help="the axes of these devices, as in x=2,y=4 (default: the module's own)")  # fmt: skip
    add(*both_dashes("processes"), type=_positive, default=1, metavar="K",
        help="how many processes share the devices, by jax.distributed (default: 1)")  # fmt: skip
    add(*both_dashes("reduce"), metavar="FILE.mlir",
        help="with --compare: write the smallest module that still differs, and its "
             "arguments in FILE.npz")  # fmt: skip
    engines.add_argument(*both_dashes("report"), nargs="+", metavar="FILE",
                         help="report on every value: a page (.html), JSON (.json)")  # fmt: skip
    add("--version", action="store_true", default=argparse.SUPPRESS,
        help="print the versions of the parts")  # fmt: skip
    return parser


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 up")
    return int(text)


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 up")
    return value


def _judges(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not are_judges(names):
        known = ",".join(JUDGES)
        raise argparse.ArgumentTypeError(f"'{text}' is not two or more of {known},xla-gpu")
    return names


def _devices(text: str) -> int | tuple[int, int]:
    replicas, _, partitions = text.partition("x")
    numbers = (replicas, partitions) if "x" in text else (replicas,)
    if not all(each.isascii() and each.isdecimal() and int(each) for each in numbers):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number, or two as in 2x4")
    return (int(replicas), int(partitions)) if partitions else int(replicas)


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 up")
    return int(text)


def _mesh(text: str) -> dict[str, int]:
    try:
        return parse_mesh(text)
    except Fp8Error as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _device(text: str) -> str:
    try:
        return check_device_name(text)
    except Fp8Error as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _check(options: Options) -> None:
    streams = [options.input, *(options.args or []), options.expect]
    if streams.count(STANDARD_STREAM) > 1:
        raise Fp8Error("standard input can be read only once: give all but one '-' as files")
    if options.compare and (options.print or options.output or options.expect):
        raise Fp8Error("--compare prints a table: -o, --print and --expect go with --backend")
    if options.reduce is not None:
        _check_reduction(options, options.reduce)
    if options.report:
        check_names(options.report)
        if options.print or options.output or options.expect:
            raise Fp8Error("--report prints a summary: -o, --print and --expect go without it")
    if options.report and options.rounding != NEAREST_EVEN:
        raise Fp8Error("--report is of rounding to nearest: --rounding goes without it")
    if options.report and options.allow_excess_precision:
        raise Fp8Error("--report is of every rounding: --allow-excess-precision goes without it")
    is_of_xla = options.backend == "xla"
    if options.allow_excess_precision and not (options.is_compiled or is_of_xla):
        raise Fp8Error("--allow-excess-precision goes with --backend=llvm or --backend=xla")
    judges = options.compare or ()
    is_used = is_of_xla or options.device == "cpu" or on_device(judges, options.device) != judges
    if not is_used and f"xla-{options.device}" not in judges:
        raise Fp8Error("--device is XLA's: it goes with --backend=xla or the judge xla")
    if options.threads is not None and not options.is_compiled:
        raise Fp8Error("--threads goes with --backend=llvm")
    _check_devices(options)
    if options.simulate_devices is not None:
        if not options.is_compiled or options.report:
            raise Fp8Error("--simulate-devices goes with --backend=llvm, and without --report")
        if options.threads is not None:
            raise Fp8Error("--threads goes without --simulate-devices: each device is a thread")
    if options.output != STANDARD_STREAM:
        return
    if options.print or options.expect is not None:
        raise Fp8Error("-o - cannot be used with --print or --expect: both write standard output")
    if sys.stdout is not None and sys.stdout.isatty():
        raise Fp8Error("arrays are not for a terminal: use -o FILE or a pipe")


def _check_devices(options: Options) -> None:
    if options.on_mesh is None:
        if options.processes > 1:
            raise Fp8Error("--processes shares devices: say how many with --devices")
        return
    if options.backend != "xla":
        raise Fp8Error("--devices and --mesh go with --backend=xla (see --simulate-devices)")
    if options.device != "cpu":
        raise Fp8Error("--devices and --mesh are of the CPU: they go without --device")
    if options.device_count > MOST:
        raise Fp8Error(f"{options.device_count} devices of the CPU: {MOST} at most")
    if options.mesh and options.devices and options.devices != math.prod(options.mesh.values()):
        raise Fp8Error(f"--mesh is of {math.prod(options.mesh.values())} devices, not of "
                       f"--devices={options.devices}")  # fmt: skip


def _check_reduction(options: Options, output: str) -> None:
    if not options.compare:
        raise Fp8Error("--reduce needs to know who differs: name the judges with --compare")
    if not output.endswith(".mlir"):
        raise Fp8Error(f"--reduce writes a module and its arguments: '{output}' is no FILE.mlir")
    for path in (output, arguments_beside(output)):
        for read in [options.input, *(options.args or [])]:
            if Path(path).resolve() == Path(read).resolve():
                raise Fp8Error(f"--reduce would overwrite '{read}', which it reads: name another")


def arguments_beside(module: str) -> str:
    """The file for the arguments of the reduced `module`: FILE.npz beside FILE.mlir."""
    return f"{module.removesuffix('.mlir')}.npz"
