"""`fp8-opt --list-passes` and `--show-dialects`."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass, pass_class, pass_names
from mlir_fp8.passes.pipeline_refusal import upstream_pass
from mlir_fp8.passes.registered_names import DIALECTS, PASSES
from mlir_fp8.pipelines import PIPELINES


def pass_list(context: ir.Context) -> str:
    """Own passes with what they do, own pipelines, and every pass of the installed MLIR."""
    lines = ["passes of mlir-fp8:"]
    for name in pass_names():
        pass_type = pass_class(name)
        lines.append(f"  --{name:<40} {_summary(pass_type)}")
        lines += [f"      {_option(field)}" for field in dataclasses.fields(pass_type)]
    lines += ["", "pipelines of mlir-fp8:"]
    for name, stage in PIPELINES.items():
        lines += [f"  --{name}", f"      {', '.join(stage())}"]
    lines += ["", "passes and pipelines of MLIR and StableHLO, with the defaults of their options:"]
    with context:
        for name in PASSES:
            upstream = upstream_pass(name)
            if upstream is None:
                continue
            lines.append(f"  --{name}{f' (on {upstream.anchor})' if upstream.anchor else ''}")
            lines += [f"      {key}={value or ''}" for key, value in upstream.options.items()]
    return "\n".join(lines) + "\n"


def dialect_list(context: ir.Context) -> str:
    """The dialects that a module may use here, as `mlir-opt` lists them."""
    names = ["fp8", *(name for name in DIALECTS if _is_dialect(name, context))]
    return f"Available Dialects: {','.join(sorted(names))}\n"


def _summary(pass_type: type[ModulePass]) -> str:
    return (pass_type.__doc__ or "").strip().split("\n", 1)[0]


def _option(field: "dataclasses.Field[object]") -> str:
    default = str(field.default).lower() if isinstance(field.default, bool) else field.default
    return f"{field.name.replace('_', '-')}={default}"


def _is_dialect(name: str, context: ir.Context) -> bool:
    try:
        context.get_dialect_descriptor(name)
    except ValueError:
        return False
    return True
