"""Hand-written ops below StableHLO as native code: elementwise bodies, memrefs and vectors."""

import numpy as np
from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.context import make_context
from mlir_fp8.compiling.compiled_module import CompiledModule
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.passes.pass_pipeline import run_pipeline


def compile_converts(
    arguments: list[np.ndarray], converts: list[tuple[int, str]], *, saturate: bool = False
) -> mlir_fp8.CompiledModule:
    """StableHLO converts of one-dimensional arrays: each an argument's index and a target type."""
    elements = [next(n for n, f in FORMATS.items() if f.dtype == a.dtype) for a in arguments]
    types = [f"tensor<{len(a)}x{n}>" for a, n in zip(arguments, elements, strict=True)]
    results = [f"tensor<{len(arguments[i])}x{target}>" for i, target in converts]
    body = "\n".join(
        f"%r{k} = stablehlo.convert %a{i} : ({types[i]}) -> {result}"
        for k, ((i, _), result) in enumerate(zip(converts, results, strict=True))
    )
    signature = ", ".join(f"%a{i}: {type_}" for i, type_ in enumerate(types))
    returned = ", ".join(f"%r{k}" for k in range(len(converts)))
    text = (
        f"func.func @main({signature}) -> ({', '.join(results)}) {{\n{body}\n"
        f"return {returned} : {', '.join(results)}\n}}"
    )
    return mlir_fp8.compile(text, saturate=saturate)


def elementwise(
    arguments: list[str], body: list[str], results: list[str], *, count: int
) -> mlir_fp8.CompiledModule:
    """One loop: `body` computes %r0, %r1, ... of element types `results` from %x0, %x1, ..."""
    tensors = [[f"tensor<{count}x{e}>" for e in elements] for elements in (arguments, results)]
    signature = ", ".join(f"%a{i}: {t}" for i, t in enumerate(tensors[0]))
    empty = "\n".join(f"%o{i} = tensor.empty() : {t}" for i, t in enumerate(tensors[1]))
    block = [f"%x{i}: {e}" for i, e in enumerate(arguments)]
    block += [f"%y{i}: {e}" for i, e in enumerate(results)]
    maps = ", ".join(["affine_map<(d) -> (d)>"] * len(block))

    def listed(name: str, types: list[str]) -> str:
        names = ", ".join(f"%{name}{i}" for i in range(len(types)))
        return f"{names} : {', '.join(types)}"

    names = ", ".join(f"%t#{i}" for i in range(len(results)))
    types = ", ".join(tensors[1])
    lines = "\n".join(body)
    inputs = f"ins({listed('a', tensors[0])})" if arguments else ""
    return mlir_fp8.compile(f"""
    func.func @main({signature}) -> ({types}) {{
      {empty}
      %t:{len(results)} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
          {inputs} outs({listed("o", tensors[1])}) {{
      ^bb0({", ".join(block)}):
        {lines}
        linalg.yield {listed("r", results)}
      }} -> ({types})
      return {names} : {types}
    }}""")


def native(
    text: str, arrays: list[np.ndarray], results: list[TensorSpec]
) -> tuple[np.ndarray, ...]:
    """Run `@"fp8.main"` of a module of memrefs and vectors; results are its last arguments."""
    module = ir.Module.parse(text, make_context())
    passes = """convert-small-floats-to-int memref-copy-to-linalg func.func(convert-linalg-to-loops)
    convert-scf-to-cf convert-vector-to-llvm convert-arith-to-llvm convert-index-to-llvm
    convert-cf-to-llvm finalize-memref-to-llvm
    convert-func-to-llvm{use-bare-ptr-memref-call-conv=true} reconcile-unrealized-casts
    verify-lowered"""
    run_pipeline(module, passes.split())
    arguments = [
        TensorSpec(array.shape, next(n for n, f in FORMATS.items() if f.dtype == array.dtype))
        for array in arrays
    ]
    with module.context:
        engine = ExecutionEngine(module, opt_level=2)
        return CompiledModule(engine, "main", arguments, results)(*arrays)
