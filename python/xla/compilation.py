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

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compile_options import AS_DECLARED, Donated
from mlir_fp8.compiling.donation_pairs import NONE_DECLARED, paired
from mlir_fp8.xla.artifact import Artifact, is_readable, read_artifact, stablehlo_version
from mlir_fp8.xla.devices import find_device, imported_jax
from mlir_fp8.xla.exported import artifact_call
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
    if version is None or options.entry != "main":
        return None
    imported_jax()
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
    assert artifact is not None, "entries that XLA does not take are refused when it is made"
    return artifact


def _compiled(artifact: Artifact, device: Any, options: XlaOptions) -> XlaModule:
    import jax  # pyright: ignore[reportMissingImports]

    donated = _donated(artifact, options.donate)
    only = jax.sharding.SingleDeviceSharding(device)
    with jax.enable_x64(True), one_line("XLA", options.device):
        jitted = jax.jit(
            artifact_call(artifact.data, artifact.arguments, artifact.results),
            donate_argnums=[number for number, _ in donated],
            out_shardings=only,
        )
        given = [
            jax.ShapeDtypeStruct(spec.shape, spec.dtype, sharding=only)
            for spec in artifact.arguments
        ]
        compiled = _quietly(lambda: jitted.lower(*given)).compile(
            {"xla_allow_excess_precision": options.allow_excess_precision}
        )
    platform, _, number = options.device.partition(":")
    return XlaModule(
        compiled,
        device,
        f"{platform}:{number or 0}",
        options.entry,
        artifact.arguments,
        artifact.results,
        donated,
    )


def _donated(artifact: Artifact, donate: Donated) -> tuple[tuple[int, int], ...]:
    listed = artifact.donated if donate == AS_DECLARED else donate
    if donate == AS_DECLARED and not listed:
        raise Fp8Error(NONE_DECLARED)
    names = artifact.argument_names, artifact.result_names
    return paired(listed, artifact.arguments, artifact.results, *names)


def _quietly(work: Callable[[], Any]) -> Any:
    """JAX warns of donations that XLA has no use for, such as those of no elements."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        return work()
