"""The text of `fp8-opt --help`."""

from mlir_fp8.lowering import pass_names
from mlir_fp8.tools._opt_options import FLAGS, Flag

_USAGE = """\
usage: fp8-opt [FILE] [-o FILE] [--PASS | --PASS=OPTIONS | --PASS{OPTIONS}]... [flags]

Run passes on an MLIR module: upstream's, StableHLO's and those of mlir-fp8, in any mix and in the
order given. FILE (default: standard input) is MLIR text, MLIR bytecode, a portable artifact or a
.pt2 file of torch.export.save, and may hold MHLO. Flags can be written with one dash or two.
"""
_EXAMPLES = """\
examples:
  fp8-opt model.mhlo.mlir --hlo-legalize-to-stablehlo -o model.mlir
  fp8-opt model.mlir --canonicalize="max-iterations=2 top-down=false" --cse
  fp8-opt model.mlir --pass-pipeline='builtin.module(cse,func.func(chlo-legalize-to-stablehlo))'
  fp8-opt model.mlirbc --lower-to-llvm-pipeline --mlir-print-ir-after-change
  fp8-opt test.mlir --split-input-file --verify-diagnostics
"""


def help_text() -> str:
    """Usage, flags, own passes and examples; nothing of MLIR is imported for it."""
    from mlir_fp8.pipelines import PIPELINES

    flags = "\n".join(_line(name, flag) for name, flag in FLAGS.items())
    passes = "\n".join(f"  --{name}" for name in pass_names())
    pipelines = "\n".join(f"  --{name}" for name in PIPELINES)
    return "\n".join(
        (
            _USAGE,
            f"flags:\n{flags}\n",
            f"passes of mlir-fp8 (all others: --list-passes):\n{passes}\n",
            f"pipelines of mlir-fp8:\n{pipelines}\n",
            _EXAMPLES,
        )
    )


def _line(name: str, flag: Flag) -> str:
    spelled = f"-{name} {flag.usage}" if len(name) == 1 else f"--{name}"
    if len(name) > 1 and flag.usage:
        spelled += f"[={flag.usage}]" if flag.kind in ("optional", "switch") else f"={flag.usage}"
    return f"  {spelled:<40} {flag.help}"
