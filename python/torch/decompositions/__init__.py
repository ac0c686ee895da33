"""What aten ops become before torch-mlir sees them: a table of our own on top of its table."""

import functools
import importlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch._decomp import core_aten_decompositions, get_decompositions
from torch.export import ExportedProgram, default_decompositions

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.torch.decompositions.register import DECOMPOSITIONS
from mlir_fp8.torch.functions import FUNCTIONS
from mlir_fp8.torch.nodewise import ATEN, decompose_nodes
from mlir_fp8.torch.program import Program, program_of

_KINDS = (
    "adaptive_pooling",
    "attention",
    "bags",
    "block_products",
    "casts",
    "complexes",
    "control_flow",
    "counts",
    "convolutions",
    "elementwise",
    "empties",
    "extremes",
    "fourier",
    "grids",
    "halves",
    "linalg",
    "masks",
    "max_pooling",
    "nearest",
    "pooling",
    "products",
    "quantizing",
    "scans",
    "scatters",
    "solvers",
    "sorting",
    "special",
    "splats",
    "unsigned",
    "views",
    "zetas",
)
_OF_PYTORCH = [
    getattr(torch.ops.aten, name)
    for name in (
        "linalg_norm",
        "linalg_vector_norm",
        "norm",
        "upsample_nearest1d",
        "upsample_nearest2d",
        "upsample_nearest3d",
        "_upsample_nearest_exact1d",
        "_upsample_nearest_exact2d",
        "_upsample_nearest_exact3d",
        "_batch_norm_with_update_functional",
        "as_strided_copy",
        "cauchy",
        "dist",
        "geometric",
        "log_normal",
        "normal",
    )
]
"""Ops that torch-mlir makes others of, or nothing, and PyTorch has decompositions for."""
_COMPOSITES = ("aten.fft_", "aten.istft", "aten.linalg_", "aten.stft")
"""Ops of which PyTorch makes others that we have; torch-mlir has few of them."""
_COPY = torch.ops.aten._to_copy.default


def decompose(exported: ExportedProgram) -> Program:
    """`exported` in ops that torch-mlir lowers, or that have functions of our own."""
    with warnings.catch_warnings():
        # PyTorch's own, of its own code.
        warnings.filterwarnings("ignore", "`isinstance\\(treespec, LeafSpec\\)`", FutureWarning)
        try:
            given = program_of(exported)
            made = decompose_nodes(given, decompositions_now())
            if made is not None:
                return made
            whole = {**decompositions_now(), **_composites_of_libraries()}
            return _in_order(given, program_of(exported.run_decompositions(whole)))
        except (Fp8Error, MemoryError):
            raise
        except Exception as error:
            if isinstance(error.__cause__, Fp8Error):
                raise error.__cause__ from None
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise Fp8Error(f"PyTorch cannot decompose the program: {reason}") from error


def _in_order(given: Program, made: Program) -> Program:
    """`made` with the arguments in the order of `given`; constants that it adds follow the state.

    PyTorch's whole trace puts constants before buffers.
    """
    places = {(each.state, each.leaf): i for i, each in enumerate(given.arguments)}
    end = sum(each.state is not None for each in given.arguments) - 0.5
    arguments = sorted(made.arguments, key=lambda each: places.get((each.state, each.leaf), end))
    nodes = {node.name: node for node in made.graph.graph.nodes}
    after = next(node for node in nodes.values() if node.op != "placeholder")
    for each in arguments:
        after.prepend(nodes[each.name])
    return replace(made, arguments=tuple(arguments))


def decompositions_now() -> dict[Any, Callable[..., Any]]:
    """Decompositions by op, those of transformers and torch.ao.quantization once it is imported.

    Composites of other libraries are not in it: tracing below autograd makes of them what they are.
    """
    from mlir_fp8.torch.decompositions.products import of_transformers
    from mlir_fp8.torch.decompositions.quantizing import of_quantized_decomposed

    return {**table(), **of_transformers(), **of_quantized_decomposed()}


@functools.cache
def table() -> dict[Any, Callable[..., Any]]:
    """Decompositions by op."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    for kind in _KINDS:  # each adds to the tables as it is imported
        importlib.import_module(f"{__name__}.{kind}")
    of_pytorch: dict[Any, Callable[..., Any]] = {**get_decompositions(_OF_PYTORCH)}
    for op, what in _composites_of_aten().items():
        if str(op).startswith(_COMPOSITES):
            of_pytorch.setdefault(op, what)
    decompositions = {**get_decomposition_table(), **of_pytorch, **DECOMPOSITIONS}
    for op in FUNCTIONS.keys() - {_COPY}:
        if op not in DECOMPOSITIONS:
            decompositions.pop(op, None)
    return decompositions


def _composites_of_aten() -> Mapping[Any, Callable[..., Any]]:
    """PyTorch's decompositions; its table looks through all libraries where it is read as one."""
    found = default_decompositions()
    return getattr(found, "decomp_table", found)


def _composites_of_libraries() -> dict[Any, Callable[..., Any]]:
    """What a whole trace would keep of the ops that other libraries register."""
    return {
        each: what
        for each, what in core_aten_decompositions().items()
        if str(each).partition(".")[0] not in ATEN
    }
