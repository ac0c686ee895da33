"""`mlir_fp8.compile(..., backend="xla")`: a module compiled by XLA for one device.

A portable artifact that jaxlib reads goes to XLA as it is, without MLIR's wheel; anything else is
made one first (`making.py`). Executables stay in memory, and are found again by the artifact, the
device and the options; on disk, JAX's persistent cache has them where one is configured.
"""

import hashlib
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from mlir_fp8.arrays.tensor_specs import has_only_codes
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compile_options import AS_DECLARED, Donated
from mlir_fp8.compiling.donation_pairs import NONE_DECLARED, paired
from mlir_fp8.xla.artifact import Artifact, is_readable, read_artifact, stablehlo_version
from mlir_fp8.xla.devices import find_device, imported_jax
from mlir_fp8.xla.exported import artifact_call
from mlir_fp8.xla.exported_file import is_exported_file, read_exported_file
from mlir_fp8.xla.failures import one_line
from mlir_fp8.xla.options import XlaOptions
from mlir_fp8.xla.xla_module import XlaModule

if TYPE_CHECKING:
    from torch_mlir import ir

KEPT = 32
"""How many executables stay in memory; the one that was asked for longest ago goes first."""

_kept: "OrderedDict[tuple[Any, ...], XlaModule]" = OrderedDict()
_lock = threading.Lock()


def compile_for_xla(
    source: "ir.Module | tuple[bytes, str]",
    options: XlaOptions,
    shapes: Sequence[Any] | None = None,
    *,
    cache: bool = True,
) -> XlaModule:
    """The executable of `source`, a module or the bytes of a file with its name.

    Raises `Fp8Error` where there is no such device, or XLA refuses the module.
    """
    device = find_device(options.device)
    artifact = None if shapes is not None else ready_artifact(source, options)
    artifact = artifact or _made(source, options, shapes)
    key = (hashlib.sha256(artifact.data).digest(), device, options)
    if not cache:
        return _compiled(artifact, device, options)
    with _lock:  # one compilation at a time: the second of two equal ones finds the first
        if key not in _kept:
            _kept[key] = _compiled(artifact, device, options)
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
        return _kept[key]


def ready_artifact(source: "ir.Module | tuple[bytes, str]", options: XlaOptions) -> Artifact | None:
    """`source` as it is, where XLA runs just that; None where the compiler has to come first."""
    if not isinstance(source, tuple) or not options.rounds_as_usual:
        return None
    data, name = source
    version = stablehlo_version(data)
    is_file_of_jax = version is None and is_exported_file(data)
    if options.entry != "main" or (version is None and not is_file_of_jax):
        return None
    imported_jax()
    if version is None:
        return read_exported_file(data, name)
    if not is_readable(version) and find_spec("torch_mlir") is not None:
        return None  # the compiler writes it for an older reader
    return read_artifact(data, name)


def _made(source: Any, options: XlaOptions, shapes: Any) -> Artifact:
    name = source[1] if isinstance(source, tuple) else "<module>"
    if find_spec("torch_mlir") is None:
        way_out = "give a portable artifact of static shapes (fp8-translate --serialize)"
        raise Fp8Error(f"{name}: needs the compiler, and torch-mlir is not installed: {way_out}")
    from mlir_fp8.xla.making import made_artifact

    artifact = read_artifact(made_artifact(source, options, shapes), name)
    if artifact is None:
        raise Fp8Error(f"{name}: '{options.entry}' takes or gives what JAX has no arrays for")
    return artifact


def _compiled(artifact: Artifact, device: Any, options: XlaOptions) -> XlaModule:
    import jax  # pyright: ignore[reportMissingImports]

    donated = _donated(artifact, options.donate)
    _check_platform(artifact, device.platform)
    only = jax.sharding.SingleDeviceSharding(device)
    with jax.enable_x64(True), one_line("XLA", options.device):
        jitted = jax.jit(
            artifact_call(
                artifact.data,
                artifact.arguments,
                artifact.results,
                artifact.kept,
                artifact.platforms,
            ),
            donate_argnums=[number for number, _ in donated],
            out_shardings=only,
            compiler_options={"xla_allow_excess_precision": options.allow_excess_precision},
        )
        given = [
            jax.ShapeDtypeStruct(spec.shape, spec.dtype, sharding=only)
            for spec in artifact.arguments
        ]
        compiled = _quietly(lambda: jitted.lower(*given)).compile()
    platform, _, number = options.device.partition(":")
    # What is compiled ahead expects another layout of types below a byte than arrays have.
    has_short = any(_is_short(spec.dtype) for spec in artifact.arguments)
    return XlaModule(
        jitted if has_short else compiled,
        compiled.as_text,
        device,
        f"{platform}:{number or 0}",
        options.entry,
        artifact.arguments,
        artifact.results,
        donated,
        needs_x64=has_short or any(spec.dtype.itemsize >= 8 for spec in artifact.arguments),
    )


def _check_platform(artifact: Artifact, platform: str) -> None:
    """Of a module for several platforms, one for each branch, none runs another's branch."""
    names = {"gpu": ("cuda", "rocm")}.get(platform, (platform,))
    if len(artifact.platforms) > 1 and not set(names) & set(artifact.platforms):
        known = ", ".join(artifact.platforms)
        raise Fp8Error(f"the module is for {known}, not for {platform}: export it for that too")


def _donated(artifact: Artifact, donate: Donated) -> tuple[tuple[int, int], ...]:
    listed = artifact.donated if donate == AS_DECLARED else donate
    if donate == AS_DECLARED and not listed:
        raise Fp8Error(NONE_DECLARED)
    names = artifact.argument_names, artifact.result_names
    return paired(listed, artifact.arguments, artifact.results, *names)


def _is_short(dtype: np.dtype) -> bool:
    return dtype != np.bool_ and not has_only_codes(dtype)


def _quietly(work: Callable[[], Any]) -> Any:
    """JAX warns of donations that XLA has no use for, such as those of no elements."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        return work()
