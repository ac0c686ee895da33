"""`mlir_fp8.compile`: native code for a module, from the cache where it is there; or XLA's."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from mlir_fp8 import pipelines
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.source import is_module, read_source
from mlir_fp8.compiling.compile_options import CompileOptions, donated_options
from mlir_fp8.compiling.compiled_module import CompiledModule
from mlir_fp8.compiling.native import stored_module
from mlir_fp8.compiling.native.code_cache import CodeCache, open_cache
from mlir_fp8.compiling.threads import check_threads
from mlir_fp8.failures.internal_error import callers_own, public

if TYPE_CHECKING:
    import jax  # pyright: ignore[reportMissingImports]
    from torch_mlir import ir

    from mlir_fp8.simulation.simulated_module import SimulatedModule
    from mlir_fp8.xla.sharded_module import ShardedModule
    from mlir_fp8.xla.xla_module import XlaModule

Backend = Literal["llvm", "xla"]


@overload
def compile(
    module: "ir.Module | str | Path | bytes",
    *,
    backend: Literal["llvm"] = "llvm",
    entry: str = "main",
    shapes: Sequence[Any] | None = None,
    saturate: bool = False,
    rounding: str = pipelines.NEAREST_EVEN,
    seed: int = 0,
    allow_excess_precision: bool = False,
    threads: int | None = None,
    opt_level: int = 2,
    outline_layers: bool = True,
    donate: "Mapping[int | str, int | str] | Sequence[int | str] | bool" = (),
    cache: bool = True,
    on_stage: "Callable[[str, float, ir.Module], None] | None" = None,
) -> CompiledModule: ...
@overload
def compile(
    module: "ir.Module | str | Path | bytes",
    *,
    simulate_devices: int | tuple[int, int],
    entry: str = "main",
    shapes: Sequence[Any] | None = None,
    saturate: bool = False,
    rounding: str = pipelines.NEAREST_EVEN,
    seed: int = 0,
    allow_excess_precision: bool = False,
    opt_level: int = 2,
    outline_layers: bool = True,
) -> "SimulatedModule": ...
@overload
def compile(
    module: "ir.Module | str | Path | bytes",
    *,
    backend: Literal["xla"],
    device: str = "cpu",
    entry: str = "main",
    shapes: Sequence[Any] | None = None,
    saturate: bool = False,
    rounding: str = pipelines.NEAREST_EVEN,
    seed: int = 0,
    allow_excess_precision: bool = False,
    donate: "Mapping[int | str, int | str] | Sequence[int | str] | bool" = (),
    cache: bool = True,
) -> "XlaModule": ...
@overload
def compile(
    module: "ir.Module | str | Path | bytes",
    *,
    backend: Literal["xla"],
    mesh: "Mapping[str, int] | int | jax.sharding.Mesh",
    device: str = "cpu",
    entry: str = "main",
    shapes: Sequence[Any] | None = None,
    saturate: bool = False,
    rounding: str = pipelines.NEAREST_EVEN,
    seed: int = 0,
    allow_excess_precision: bool = False,
) -> "ShardedModule": ...


@public
def compile(
    module: "ir.Module | str | Path | bytes",
    *,
    backend: Backend = "llvm",
    device: str = "cpu",
    entry: str = "main",
    shapes: Sequence[Any] | None = None,
    saturate: bool = False,
    rounding: str = pipelines.NEAREST_EVEN,
    seed: int = 0,
    allow_excess_precision: bool = False,
    threads: int | None = None,
    opt_level: int = 2,
    outline_layers: bool = True,
    donate: "Mapping[int | str, int | str] | Sequence[int | str] | bool" = (),
    cache: bool = True,
    on_stage: "Callable[[str, float, ir.Module], None] | None" = None,
    simulate_devices: int | tuple[int, int] | None = None,
    mesh: "Mapping[str, int] | int | jax.sharding.Mesh | None" = None,
) -> "CompiledModule | ShardedModule | SimulatedModule | XlaModule":
    """Compile `entry` of a StableHLO, CHLO or MHLO module; the module itself is left as it is.

    `module` is a module or whatever `mlir_fp8.load` takes. Where arguments have sizes that are not
    declared (`?`), `shapes` gives one per argument, or an array that has it. `saturate` rounds
    numbers beyond a small float's range to its largest value instead of to infinity or NaN.
    `rounding` is how f8, f6 and f4 are rounded to: nearest-even, toward-zero, or stochastic, where
    `seed` tells which random bits (docs/numerics.md); an `fp8.convert` says so for itself.
    Up to `threads` threads share big loops and products, by default as many as the process may use
    cores, or as MLIR_FP8_NUM_THREADS says; results do not depend on it.
    `donate` are arguments that a call overwrites with results of the same type and returns as
    these: by number or name, argument -> result, or arguments alone, of which each takes the first
    result of its type that is left; or True for those that the module says (`donate_argnums` of
    JAX). What the module updates in place, such as a row of a cache, is not copied then.
    `allow_excess_precision` keeps f32 where the module rounds to bf16 or f16 between two ops.
    `outline_layers` compiles parts that are equal up to their arguments once, as a function that is
    called for each (docs/performance.md): results are the same, and compilation takes the time of
    the distinct layers.
    The code is kept on disk and found again by what it was made from (docs/performance.md), unless
    `cache` is false or `on_stage` asks to see the stages.
    With `backend="xla"`, XLA compiles the module for `device`, "cpu", "gpu" or, of several GPUs,
    "gpu:1", and an `XlaModule` is given (docs/jax.md); `threads`, `opt_level`, `outline_layers`
    and `on_stage` are of native code alone. A portable artifact then needs no compiler here.
    With `mesh` too, sizes of axes such as `{"x": 2, "y": 4}`, a number of devices or JAX's `Mesh`,
    XLA partitions it for several devices, and a `ShardedModule` is given (docs/multi_device.md).
    With `simulate_devices`, a number or (replicas, partitions), a `SimulatedModule` is given
    (docs/multi_device.md): a thread for each device runs the code, and they meet in collectives.
    It is not kept on disk; `threads`, `donate` and `on_stage` go without it.
    Raises `Fp8Error` naming the op, its place and the reason where the module cannot be compiled.
    """
    check_threads(threads)
    if opt_level not in range(4):
        raise Fp8Error(f"opt_level is {opt_level!r}: give 0, 1, 2 or 3")
    on_stage = callers_own(on_stage)
    donated = donated_options(donate)
    if simulate_devices is not None:
        others = {
            f"backend={backend!r}": backend != "llvm",
            "threads": threads is not None,
            "donate": bool(donated),
            "on_stage": on_stage is not None,
        }
        for name in (name for name, is_given in others.items() if is_given):
            raise Fp8Error(f"{name} goes without simulate_devices")
    if backend != "llvm":
        native = {
            "threads": threads is not None,
            "opt_level": opt_level != 2,
            "outline_layers": not outline_layers,
            "on_stage": on_stage is not None,
        }
        _check_xla(backend, [name for name, is_given in native.items() if is_given])
        from mlir_fp8.xla.compilation import compile_for_xla
        from mlir_fp8.xla.options import XlaOptions

        given = XlaOptions(device, entry, saturate, rounding, seed, allow_excess_precision, donated)
        if mesh is not None:
            from mlir_fp8.xla.sharded_compilation import compile_sharded

            source = (
                module if is_module(module) else read_source(cast("str | Path | bytes", module))
            )
            return compile_sharded(
                cast("ir.Module | tuple[bytes, str]", source), given, mesh, shapes
            )
        if is_module(module):
            return compile_for_xla(cast("ir.Module", module), given, shapes, cache=cache)
        file = read_source(cast("str | Path | bytes", module))
        return compile_for_xla(file, given, shapes, cache=cache)
    if mesh is not None:
        raise Fp8Error("mesh goes with backend='xla'; simulate_devices= runs native code")
    if device != "cpu":
        raise Fp8Error(f"native code runs on the CPU: device={device!r} goes with backend='xla'")
    options = CompileOptions(
        entry,
        saturate,
        rounding,
        seed,
        allow_excess_precision,
        threads or 0,
        opt_level,
        donated,
        outline_layers=outline_layers,
    )
    if simulate_devices is not None:
        from mlir_fp8.simulation.compiling import compile_simulated

        return compile_simulated(module, options, simulate_devices, shapes)
    store = open_cache() if cache and on_stage is None else None
    held = None if is_module(module) else read_source(cast("str | Path | bytes", module))
    if held is not None and store is not None and shapes is None:
        # What was compiled before from the same bytes needs no reading, and no MLIR.
        return _cached(store, held[0], options, lambda: _parsed(held))
    from mlir_fp8.compiling import execution

    if held is not None and shapes is None:
        return execution.compile_module(lambda: _parsed(held), options, on_stage)[0]
    source = cast("ir.Module", module) if held is None else _parsed(held)
    if shapes is not None:
        from mlir_fp8.compiling.shapes import with_shapes

        source = with_shapes(source, entry, shapes, saturate=saturate)
    if store is not None:
        return _cached(store, execution.bytecode(source), options, source)
    return execution.compile_module(source, options, on_stage)[0]


def _check_xla(backend: str, of_native_code: Sequence[str]) -> None:
    if backend != "xla":
        raise Fp8Error(f"backend is {backend!r}: give 'llvm' or 'xla'")
    if of_native_code:
        raise Fp8Error(f"{of_native_code[0]} is of native code: it goes without backend='xla'")


def _cached(
    store: CodeCache,
    content: bytes,
    options: CompileOptions,
    source: "ir.Module | Callable[[], ir.Module]",
) -> CompiledModule:
    key = stored_module.key_of(content, options)
    if key is not None and (found := stored_module.get(store, key)) is not None:
        return found
    from mlir_fp8.compiling import execution

    compiled, objects = execution.compile_module(source, options)
    if key is not None:
        stored_module.put(store, key, compiled, objects())
    return compiled


def _parsed(held: tuple[bytes, str]) -> "ir.Module":
    from mlir_fp8.base.context import make_context
    from mlir_fp8.reading.loader import parse

    return parse(*held, make_context())
