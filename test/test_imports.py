"""Imports run one way: from high layers to low ones, and in no circle of modules."""

import ast
import os
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import mlir_fp8
from mlir_fp8 import dialects, lowering
from mlir_fp8.lowering import ROOMS, STAGES

LAYERS = (
    # What all stand on: errors, MLIR's contexts and walks, places in files, child processes.
    "base",
    # The types and the ops: float formats, the fp8 dialect, StableHLO's versions.
    "dialects",
    # Arrays of those types.
    "arrays",
    # Portable artifacts of StableHLO, and jaxlib's MLIR, which is reached by way of them.
    "artifacts",
    # StableHLO's reference interpreter, which runs plain StableHLO.
    "interpreter",
    # The passes: their registry, what several stages use, and the stages in the order of the road.
    "lowering",
    *(f"lowering.{each}" for each in (*ROOMS, *STAGES)),
    # The road as lists of passes, and what its caller chooses.
    "xla_gpu_pipeline",
    "pipelines compiling.compile_options compiling.donation_pairs",
    # What is said of our own faults: the step that failed, and its reproducer.
    "failures",
    # Tensors of other libraries, and files of arrays.
    "tensors.detached torch.plain torch.tensors",
    # Files of PyTorch's, and what the programs in them take and give.
    "reading.torch_files torch.installed torch.mapped_weights torch.program torch.pt2 "
    "torch.result_names",
    "tensors",
    # LLVM's C interface and object code, by which compiled code is kept on disk and loaded.
    "compiling.compiled_module compiling.native.c_api compiling.native.code_cache "
    "compiling.native.code_generator compiling.native.code_key compiling.native.exchange "
    "compiling.native.lapack compiling.native.llvm_options compiling.native.object_code "
    "compiling.native.symbols",
    # Pipelines from their text, run pass by pass.
    "passes",
    # The function that runs, its signature, and the names of what it takes and gives.
    "compiling.argument_names compiling.entry",
    # PyTorch programs as StableHLO.
    "torch.calls torch.constants torch.decompositions torch.element_types torch.functions "
    "torch.graphs torch.importing torch.indices torch.locations torch.node_importer "
    "torch.nodewise torch.program_file torch.refusals torch.translation",
    # The pool of threads that compiled modules share.
    "compiling.threads",
    # Modules of any dialects as artifacts, and modules out of files of any kind.
    "serialization",
    "reading",
    # The sizes that the function that runs leaves open, and the arguments that it may overwrite.
    "compiling.donation compiling.shapes",
    # Which devices a module is for.
    "simulation.grid simulation.limits",
    # Modules that XLA compiles and runs, by way of JAX.
    "judging.rounded xla",
    # Native code: by parts on several threads, from the store, and of a whole module.
    "compiling.native.functions_apart compiling.native.module_parts "
    "compiling.native.part_compiler compiling.native.stored_module",
    "compiling.execution",
    # That code on several devices at once, which meet in collectives.
    "simulation",
    # Native code of one cast.
    "compiling.native",
    # What users call on a module: compile, interpret, quantize, extend.
    "compiling inference judging.arguments judging.interpretation judging.quantized_types "
    "quantization quantized",
    # FP8 checkpoints: out of files and into them, and the modules that take their weights.
    "checkpoints",
    # Judges compare what they computed, and cut down what they differ on.
    "judging",
    "reduction",
    # What happens to the numbers of a module, and what XLA does with it.
    "reporting",
    "explaining",
    # Kernels timed on a card, and the tables of costs.
    "tuning",
    # What a file holds, and what is written of a module for others to compile.
    "inspection aot",
    # PyTorch programs that are compiled and called, and JAX functions.
    "torch jax",
    # The command line.
    "target tools __main__",
)
"""From low to high: a module imports those of its own layer and of layers before it.

A name is a folder or a file of `mlir_fp8`, of which the longest that fits a module counts.
"""

PUBLIC = "mlir_fp8"
"""Names what users import from the whole package; nothing in it imports that."""


def _files() -> dict[str, Path]:
    """Every module of the package, without `mlir_fp8.`, with its file."""
    found: dict[str, Path] = {}
    for prefix, package in {"": mlir_fp8, "dialects": dialects, "lowering": lowering}.items():
        root = Path(package.__path__[0])
        for folder, _, files in os.walk(root, followlinks=True):  # an import tree is all links
            for file in (Path(folder, each) for each in files if each.endswith(".py")):
                parts = [prefix, *file.relative_to(root).with_suffix("").parts]
                name = ".".join(part for part in parts if part not in ("", "__init__"))
                found[name or PUBLIC] = file
    return found


def _imports(file: Path) -> Iterator[str]:
    """What `file` imports of the package: everywhere in it, for type checkers too."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{each.name}" for each in names)
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]):
                if "import_module" in ast.dump(function):
                    yield name


def _graph(files: Mapping[str, Path]) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {name: set() for name in files}
    for name, file in files.items():
        for imported in _imports(file):
            first, _, rest = imported.partition(".")
            if first != "mlir_fp8":
                continue
            while rest and rest not in files:  # a name in the module, not a module
                rest = rest.rpartition(".")[0]
            if name not in ((rest or PUBLIC), PUBLIC):
                graph[name].add(rest or PUBLIC)
    return graph


def _layer(name: str) -> int:
    fits = [
        (len(each), number)
        for number, layer in enumerate(LAYERS)
        for each in layer.split()
        if f"{name}.".startswith(f"{each}.")
    ]
    assert fits, f"{name} is in no layer"
    return max(fits)[1]


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return _graph(_files())


def test_the_whole_package_is_walked(graph: dict[str, set[str]]) -> None:
    assert len(graph) > 300
    assert "dialects.fp8_loading" in graph["dialects._fp8_product_builder"]
    assert "dialects._fp8_products" in graph["dialects.fp8_loading"]  # inside a function


def test_modules_import_lower_layers(graph: dict[str, set[str]]) -> None:
    upwards = [
        f"{name} imports {imported}"
        for name, imports in graph.items()
        for imported in imports
        if imported == PUBLIC or _layer(imported) > _layer(name)
    ]
    assert sorted(upwards) == []


def test_no_modules_import_each_other(graph: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_each_layer_has_modules(graph: dict[str, set[str]]) -> None:
    names = [each for layer in LAYERS for each in layer.split()]
    assert [each for each in names if each not in graph] == []
    assert len(set(names)) == len(names)
