"""What a portable artifact says of itself, read by jaxlib's MLIR alone."""

import os
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated

_PRODUCER = re.compile(rb"ML\xefR.StableHLO_v(\d+\.\d+\.\d+)\0", re.DOTALL)
_TENSOR = re.compile(r"tensor<((?:\d+x)*)([a-zA-Z]\w*(?:<f\d+>)?)>")
_NAMES = ("mlir_fp8.name", "mlir_fp8.state")
# Far above what valid input needs.
_SECONDS, _BYTES_PER_SECOND = 30.0, 10e6
_ALIASING, _DONOR = "tf.aliasing_output", "jax.buffer_donor"


@dataclass(frozen=True)
class Artifact:
    """A portable artifact whose `main` XLA runs on one device as it is."""

    data: bytes
    arguments: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]
    argument_names: tuple[str, ...]
    """Empty for those without one."""
    result_names: tuple[str, ...]
    donated: tuple[tuple[int, int | None], ...]
    """The arguments that the module itself gives away, with the result that takes each, if said."""
    kept: tuple[int, ...] | None = None
    """The arguments that `main` takes, where it does not take all."""
    platforms: tuple[str, ...] = ()
    """Where there are several, `main` takes the number of one of them first."""


def stablehlo_version(data: bytes) -> str | None:
    """The StableHLO version of a portable artifact; None for anything else."""
    found = _PRODUCER.match(data)
    return found[1].decode() if found else None


def readable_version() -> str:
    """The newest StableHLO version that this jaxlib reads."""
    return import_module("jaxlib.mlir.dialects.stablehlo").get_current_version()


def is_readable(version: str) -> bool:
    """Whether this jaxlib reads artifacts of `version`."""
    return _key(version) <= _key(readable_version())


def read_artifact(data: bytes, name: str) -> Artifact | None:
    """The artifact `data`, or None where the compiler has to make another of it first.

    That is so for entries with other types than static tensors. `name` stands for the file in
    errors. Raises `Fp8Error` where jaxlib cannot read it, or where it is made for several devices.
    """
    module = _module(data, name)
    main = _main(module)
    if main is None:
        return None
    devices = _count(module.operation, "mhlo.num_partitions") * _count(
        module.operation, "mhlo.num_replicas"
    )
    if devices > 1:
        way_out = "give it a mesh (fp8-run: --devices), or export it for one"
        raise Fp8Error(f"{name}: is made for {devices} devices, this runs on one: {way_out}")
    arguments = [_spec(each) for each in main.type.inputs]
    results = [_spec(each) for each in main.type.results]
    if None in arguments or None in results:
        return None
    of_arguments = _attributes(main, "arg_attrs", len(arguments))
    if any("jax.global_constant" in each for each in of_arguments):
        way_out = "give the file of jax.export's serialize, which says whose"
        raise Fp8Error(f"{name}: 'main' takes the number of a platform or a size: {way_out}")
    return Artifact(
        data,
        tuple(each for each in arguments if each is not None),
        tuple(each for each in results if each is not None),
        tuple(map(_name, of_arguments)),
        tuple(map(_name, _attributes(main, "res_attrs", len(results)))),
        tuple(_donated(of_arguments)),
    )


def _module(data: bytes, name: str) -> Any:
    stablehlo = import_module("jaxlib.mlir.dialects.stablehlo")
    check_readable(data, name)
    ir = import_module("jaxlib.mlir.ir")
    dialects = [import_module(f"jaxlib.mlir.dialects.{each}") for each in ("chlo", "mhlo", "sdy")]

    def read() -> Any:
        context = ir.Context()
        for dialect in (stablehlo, *dialects):
            register = getattr(dialect, "register_dialect", None) or dialect.register_mhlo_dialect
            register(context)
        return stablehlo.deserialize_portable_artifact(context, data)

    def attempt() -> bytes:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # MLIR prints what it finds
        try:
            read()
        except (ValueError, ir.MLIRError) as error:
            reason = str(error).strip().splitlines() or ["it is damaged"]
            raise Fp8Error(f"{name}: jaxlib cannot read this artifact: {reason[0]}") from None
        return b""

    try:  # a damaged one can crash the library, or never end
        call_isolated(attempt, seconds=_SECONDS + len(data) / _BYTES_PER_SECOND)
    except CrashError as error:
        raise Fp8Error(f"{name}: damaged: {error}") from None
    return read()


def check_readable(data: bytes, name: str) -> None:
    """An `Fp8Error` where `data`, a portable artifact, is of a newer version than jaxlib reads."""
    version = stablehlo_version(data)
    if version is None or is_readable(version):
        return
    newest = readable_version()
    way_out = f"take a newer jax, or write it with --target={newest}"
    raise Fp8Error(
        f"{name}: is of StableHLO {version}, and this jaxlib reads up to {newest}: {way_out}"
    )


def _main(module: Any) -> Any | None:
    for op in module.body.operations:
        if op.operation.name == "func.func" and op.name.value == "main":
            return op
    return None


def _count(op: Any, attribute: str) -> int:
    return op.attributes[attribute].value if attribute in op.attributes else 1


def _spec(type_: Any) -> TensorSpec | None:
    found = _TENSOR.fullmatch(str(type_))
    if found is None:
        return None
    spec = TensorSpec(tuple(int(size) for size in found[1].split("x") if size), found[2])
    try:
        _ = spec.dtype
    except Fp8Error:  # the compiler says which, and where
        return None
    return spec


def _attributes(main: Any, key: str, count: int) -> list[dict[str, Any]]:
    if key not in main.attributes:
        return [{}] * count
    return [{each.name: each.attr for each in entry} for entry in main.attributes[key]]


def _name(attributes: dict[str, Any]) -> str:
    return next((attributes[key].value for key in _NAMES if key in attributes), "")


def _donated(attributes: list[dict[str, Any]]) -> "list[tuple[int, int | None]]":
    pairs: list[tuple[int, int | None]] = []
    for number, each in enumerate(attributes):
        if _ALIASING in each:
            pairs.append((number, each[_ALIASING].value))
        elif _DONOR in each:
            pairs.append((number, None))
    return pairs


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
