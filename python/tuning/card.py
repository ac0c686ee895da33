"""A device by way of jax, its artifacts, and times; beside run.py it needs jax and numpy alone."""

import gzip
import hashlib
import json
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

FORMAT = 2
DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "i32": np.int32,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
}
UNITS = {"GB/s": 1e9, "TFLOP/s": 1e12}
_LARGEST = {"f8e4m3fn": 448.0, "f8e5m2": 57344.0}


def host_array(spec: Mapping[str, Any], seed: int) -> np.ndarray:
    """An argument as numpy makes it."""
    random = np.random.default_rng(seed)
    shape, kind = spec["shape"], spec["kind"]
    if kind == "list":
        return np.asarray(spec["values"], DTYPES[spec["dtype"]])
    if kind == "value":
        wide = np.full(shape, spec["value"])
    elif kind == "uniform":
        wide = random.uniform(spec["low"], spec["high"], shape)
    else:
        wide = random.standard_normal(shape) * spec["std"]
    most = _LARGEST.get(spec["dtype"])
    wide = np.clip(wide, -most, most) if most and kind == "codes" else wide
    return np.asarray(wide, np.float32).astype(DTYPES[spec["dtype"]])


def exact_arrays(specs: list[dict[str, Any]], seed: int) -> list[np.ndarray]:
    """Small integers, and as scales powers of two, of which all sums are exact."""
    random = np.random.default_rng(seed)
    found: list[np.ndarray] = []
    for spec in specs:
        if spec["kind"] == "list":
            found.append(host_array(spec, seed))
            continue
        is_scale = spec["kind"] == "value"
        wide = random.integers(*((-2, 2) if is_scale else (-3, 4)), spec["shape"])
        wide = np.exp2(wide.astype(np.float32)) if is_scale else wide
        found.append(np.asarray(wide, np.float32).astype(DTYPES[spec["dtype"]]))
    return found


def digest(arrays: Sequence[np.ndarray]) -> str:
    """Of the numbers of results, where -0 is 0."""
    found = hashlib.sha256()
    for each in arrays:
        found.update((np.asarray(each).astype(np.float32) + np.float32(0)).tobytes())
    return found.hexdigest()


def as_bytes(array: np.ndarray) -> np.ndarray:
    """What any npz file can hold: bytes behind the shape and a width."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def distance(got: Any, want: Any) -> float:
    """Relative L2, in f64."""
    a, b = (np.asarray(each).astype(np.float64).reshape(-1) for each in (got, want))
    norm = float(np.linalg.norm(b))
    far = float(np.linalg.norm(a - b))
    return far / norm if norm else far


class Card:
    """The device `name`, a platform of jax's."""

    def __init__(self, name: str, options: Mapping[str, str | bool] | None = None) -> None:
        import jax  # pyright: ignore[reportMissingImports]

        self.jax = jax
        self.options = options or {}
        """Of XLA, for every module."""
        self._held: dict[tuple[str, int], Any] = {}
        self.device = jax.devices(name)[0]
        self.client = self.device.client

    def compile(self, file: Path) -> "Loaded":
        """The artifact `file`, compiled."""
        from jax._src import compiler  # pyright: ignore[reportMissingImports]
        from jax._src.interpreters import mlir  # pyright: ignore[reportMissingImports]
        from jax._src.lib import xla_client  # pyright: ignore[reportMissingImports]
        from jaxlib.mlir.dialects import stablehlo  # pyright: ignore[reportMissingImports]

        data = file.read_bytes()
        data = gzip.decompress(data) if file.suffix == ".gz" else data
        started = time.perf_counter()
        with mlir.make_ir_context() as context:
            module = stablehlo.deserialize_portable_artifact(context, data)
            overrides: Any = dict(self.options)
            options = compiler.get_compile_options(
                num_replicas=1, num_partitions=1, env_options_overrides=overrides
            )
            devices = xla_client.DeviceList((self.device,))
            executable = self.client.compile_and_load(module, devices, options)
        return Loaded(executable, time.perf_counter() - started)

    def arguments(self, specs: list[dict[str, Any]]) -> list[Any]:
        """Made on the device, by the number of each, once for all variants of a case."""
        made: dict[tuple[str, int], Any] = {}
        for seed, spec in enumerate(specs):
            key = (json.dumps(spec, sort_keys=True), seed)
            made[key] = self._held.get(key)
        self._held = made
        for seed, (key, array) in enumerate(list(made.items())):
            if array is None:
                made[key] = self._array(specs[seed], seed)
        return list(made.values())

    def _array(self, spec: dict[str, Any], seed: int) -> Any:
        jax, jnp = self.jax, self.jax.numpy
        dtype, shape = DTYPES[spec["dtype"]], tuple(spec["shape"])
        with jax.default_device(self.device):
            key = jax.random.key(seed)
            if spec["kind"] == "list":
                return jnp.asarray(spec["values"], dtype)
            if spec["kind"] == "value":
                return jnp.full(shape, spec["value"], dtype)
            if spec["kind"] == "uniform":
                wide = jax.random.uniform(key, shape, minval=spec["low"], maxval=spec["high"])
                return wide.astype(dtype)
            wide = jax.random.normal(key, shape) * spec["std"]
            most = _LARGEST.get(spec["dtype"], np.inf)
            return jnp.clip(wide, -most, most).astype(dtype)

    def put(self, array: np.ndarray) -> Any:
        return self.jax.device_put(array, self.device)

    def time_of(self, run: Any, seconds: float) -> float:
        """Seconds of a call, the median of five rounds of calls that follow each other at once."""
        for _ in range(3):
            self.jax.block_until_ready(run())
        started = time.perf_counter()
        self.jax.block_until_ready(run())
        once = max(time.perf_counter() - started, 1e-6)
        count = max(2, min(200, int(seconds / once)))
        rounds: list[float] = []
        for _ in range(5):
            started = time.perf_counter()
            result = None
            for _ in range(count):
                result = run()
            self.jax.block_until_ready(result)
            rounds.append((time.perf_counter() - started) / count)
        return statistics.median(rounds)

    def kernels(self, run: Any, count: int = 3) -> list[tuple[str, int, float]]:
        """Each kernel of a call by name, how often it runs, and its seconds, the longest first."""
        self.jax.block_until_ready(run())
        with tempfile.TemporaryDirectory() as folder:
            with self.jax.profiler.trace(folder):
                for _ in range(count):
                    self.jax.block_until_ready(run())
            found = next(Path(folder).rglob("*.xplane.pb"))
            profile = self.jax.profiler.ProfileData.from_file(str(found))
        times: dict[str, list[float]] = {}
        for plane in profile.planes:
            if not plane.name.startswith("/device:"):
                continue
            for line in plane.lines:
                if not line.name.startswith("Stream"):
                    continue
                for event in line.events:
                    op = dict(event.stats).get("hlo_op", "")
                    name = f"{event.name} ({op})" if op else event.name
                    times.setdefault(name, []).append(event.duration_ns * 1e-9)
        rows = [(name, len(each) // count, sum(each) / count) for name, each in times.items()]
        return sorted(rows, key=lambda row: -row[2])


class Loaded:
    """An executable, how long it took to compile, and what of it."""

    def __init__(self, executable: Any, seconds: float) -> None:
        self._executable = executable
        self.seconds = seconds
        self.hlo: str = executable.hlo_modules()[0].to_string()

    def __call__(self, arguments: list[Any]) -> list[Any]:
        results = self._executable.execute_sharded(arguments)
        return [each[0] for each in results.disassemble_into_single_device_arrays()]
