"""Runs the artifacts beside this file on a GPU: values first, then times, as ratios.

    python run.py [--only PART,...] [--variant NAME]... [--twins | --no-twins] [--seconds S]
                  [--xla OPTION=VALUE]... [--json FILE] [--plot FILE]

Needs jax, its ml_dtypes, and numpy; PyTorch is measured beside them where it is installed. Where
$OUT names a folder, the optimized HLO of each module is written into it.
"""

import argparse
import collections
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

FORMAT = 1
HERE = Path(__file__).resolve().parent
DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
}
TWIN_BOUND = 0.2
"""Relative L2 of a twin's results: a code of f8 that rounds the other way is a step of 6 to 12%."""
REFERENCE_ROWS = 64
"""Of a product, compared with a CPU's."""
_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%?[\w.-]+ = (?:\(.*?\)|\S+) ([\w-]+)\(")
_TARGET = re.compile(r'custom_call_target="([^"]+)"')
_QUIET = {"parameter", "constant", "get-tuple-element", "tuple", "bitcast"}


def host_array(spec: Mapping[str, Any], seed: int) -> np.ndarray:
    """An argument as numpy makes it."""
    random = np.random.default_rng(seed)
    shape, kind = spec["shape"], spec["kind"]
    if kind == "value":
        wide = np.full(shape, spec["value"])
    elif kind == "uniform":
        wide = random.uniform(spec["low"], spec["high"], shape)
    else:
        wide = random.standard_normal(shape) * spec["std"]
    wide = np.clip(wide, -448, 448) if kind == "codes" else wide
    return np.asarray(wide, np.float32).astype(DTYPES[spec["dtype"]])


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
    """The device, by way of jax."""

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

        started = time.perf_counter()
        with mlir.make_ir_context() as context:
            module = stablehlo.deserialize_portable_artifact(context, file.read_bytes())
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
            if made[key] is None:
                made[key] = self._array(spec, seed)
        self._held = made
        return list(made.values())

    def _array(self, spec: dict[str, Any], seed: int) -> Any:
        jax, jnp = self.jax, self.jax.numpy
        dtype, shape = DTYPES[spec["dtype"]], tuple(spec["shape"])
        with jax.default_device(self.device):
            key = jax.random.key(seed)
            if spec["kind"] == "value":
                return jnp.full(shape, spec["value"], dtype)
            if spec["kind"] == "uniform":
                wide = jax.random.uniform(key, shape, minval=spec["low"], maxval=spec["high"])
                return wide.astype(dtype)
            wide = jax.random.normal(key, shape) * spec["std"]
            return jnp.clip(wide, -448, 448).astype(dtype)

    def put(self, array: np.ndarray) -> Any:
        return self.jax.device_put(array, self.device)


class Loaded:
    """An executable, how long it took to compile, and what of it."""

    def __init__(self, executable: Any, seconds: float) -> None:
        self._executable = executable
        self.seconds = seconds
        self.hlo: str = executable.hlo_modules()[0].to_string()

    def __call__(self, arguments: list[Any]) -> list[Any]:
        results = self._executable.execute_sharded(arguments)
        return [each[0] for each in results.disassemble_into_single_device_arrays()]

    def counts(self) -> dict[str, int]:
        """How many custom calls, by target, fusions and others it runs, loops' bodies included."""
        found: collections.Counter[str] = collections.Counter()
        for line in _launched(self.hlo):
            match = _INSTRUCTION.match(line)
            if match is None or match[1] in _QUIET:
                continue
            target = _TARGET.search(line) if match[1] == "custom-call" else None
            found[target[1] if target else match[1]] += 1
        return dict(found)


def _launched(hlo: str) -> list[str]:
    """The lines of computations that are no body of a fusion, reduction or the like."""
    inner = set(re.findall(r"(?:calls|to_apply)=%?([\w.-]+)", hlo))
    lines: list[str] = []
    is_launched = False
    for line in hlo.splitlines():
        header = re.match(r"(?:ENTRY )?%?([\w.-]+) \(.*\{$", line)
        if header:
            is_launched = header[1] not in inner
        elif is_launched:
            lines.append(line)
    return lines


def time_of(card: Card, run: Any, seconds: float) -> float:
    """Seconds of a call, the median of five rounds of calls that follow each other at once."""
    for _ in range(3):
        card.jax.block_until_ready(run())
    started = time.perf_counter()
    card.jax.block_until_ready(run())
    once = max(time.perf_counter() - started, 1e-6)
    count = max(2, min(200, int(seconds / once)))
    rounds: list[float] = []
    for _ in range(5):
        started = time.perf_counter()
        result = None
        for _ in range(count):
            result = run()
        card.jax.block_until_ready(result)
        rounds.append((time.perf_counter() - started) / count)
    return statistics.median(rounds)


def twin_distance(card: Card, entry: dict[str, Any], loaded: Loaded) -> float:
    """The largest distance of a twin's results from those of a CPU."""
    specs = entry["arguments"]
    held = np.load(HERE / entry["file"].replace(".mlirbc", ".npz"))
    arguments = [
        card.put(held[f"argument{index}"].view(DTYPES[spec["dtype"]]).reshape(spec["shape"]))
        for index, spec in enumerate(specs)
    ]
    worst = 0.0
    for index, each in enumerate(loaded(arguments)):
        got = np.asarray(each)
        want = held[f"result{index}"].view(got.dtype).reshape(got.shape)
        worst = max(worst, distance(got, want))
    return worst


def product_distance(arguments: list[Any], got: Any) -> float:
    """Of the first rows of a product from what codes and scales stand for, multiplied by a CPU."""
    a, b, a_scale, b_scale, *result = (np.asarray(each) for each in arguments)
    rows = min(len(a), REFERENCE_ROWS)
    a_scale = a_scale[:rows] if a_scale.ndim and len(a_scale) == len(a) else a_scale
    y = _dequantized(a[:rows], a_scale) @ _dequantized(b, b_scale).T
    return distance(np.asarray(got)[:rows], y / result[0] if result else y)


def _dequantized(codes: np.ndarray, scale: np.ndarray) -> np.ndarray:
    for dim in range(scale.ndim):
        scale = np.repeat(scale, codes.shape[dim] // scale.shape[dim], axis=dim)
    return codes.astype(np.float32) * scale


def far_on_card(card: Card, got: Any, want: Any) -> float:
    """As `distance`, computed in f32 where the arrays are."""
    jnp = card.jax.numpy

    @card.jax.jit
    def squares(got: Any, want: Any) -> Any:
        a, b = (each.astype(jnp.float32) for each in (got, want))
        return jnp.sum(jnp.square(a - b)), jnp.sum(jnp.square(b))

    far, norm = (float(each) ** 0.5 for each in squares(got, want))
    return far / norm if norm else far


class Run:
    """One run of all that is asked for; `rows` are the results, `wrong` says what failed."""

    def __init__(self, card: Card, options: argparse.Namespace) -> None:
        self.card, self.options = card, options
        index = json.loads((HERE / "index.json").read_text())
        if index["format"] != FORMAT:
            raise SystemExit(f"error: index.json is of format {index['format']}, not {FORMAT}")
        only = [each for each in options.only.split(",") if each]
        self.cases = [
            each for each in index["cases"] if not only or any(o in each["name"] for o in only)
        ]
        self.rows: list[dict[str, Any]] = []
        self.wrong: list[str] = []

    def case(self, case: dict[str, Any]) -> None:
        """Check the twins, then measure: one module at a time, since XLA tunes on the card."""
        say(f"\n{case['name']} ({case['work']:.3g})")
        variants = self._variants(case)
        for variant in variants if self.options.twins is not False else []:
            if "twin" in variant and (loaded := self._compiled(variant["twin"]["file"])):
                self._check(case, variant, loaded)
        if not self.options.twins:
            self._measure(case, variants)

    def _variants(self, case: dict[str, Any]) -> list[dict[str, Any]]:
        named = {each["name"]: each for each in case["variants"]}
        wanted = self.options.variant or named
        return [named[name] for name in wanted if name in named]

    def _compiled(self, file: str) -> Loaded | None:
        try:
            loaded = self.card.compile(HERE / file)
        except Exception as error:  # whatever XLA raises
            self.wrong.append(f"{file}: {str(error).splitlines()[0][:300]}")
            return None
        if out := os.environ.get("OUT"):
            (Path(out) / file.replace(".mlirbc", ".hlo.txt")).write_text(loaded.hlo)
        return loaded

    def _check(self, case: dict[str, Any], variant: dict[str, Any], loaded: Loaded) -> None:
        what = f"twin of {case['name']}, {variant['name']}"
        try:
            far = twin_distance(self.card, variant["twin"], loaded)
        except Exception as error:  # whatever XLA raises
            self.wrong.append(f"{what}: {str(error).splitlines()[0][:300]}")
            return
        if not far <= TWIN_BOUND:
            self.wrong.append(f"{what}: {far:.2g} off the CPU's")
        say(f"  {variant['name']:32} twin is {far:.2g} off the CPU's")

    def _measure(self, case: dict[str, Any], variants: list[dict[str, Any]]) -> None:
        base: list[Any] = []
        wide_seconds = 0.0
        for variant in variants:
            executable = self._compiled(variant["file"])
            if executable is None:
                continue
            try:
                far, seconds, results = self._variant(case, variant, executable, base)
            except Exception as error:
                self.wrong.append(f"{case['name']}, {variant['name']}: {str(error)[:300]}")
                continue
            if variant is case["variants"][0]:
                wide_seconds, base = seconds, results if case["group"] == "steps" else []
            del results
            self._row(case, variant["name"], seconds, wide_seconds, far, executable)
        import torch_peers

        for name, seconds in torch_peers.times(case, say):
            self._row(case, name, seconds, wide_seconds, None, None)

    def _variant(
        self, case: dict[str, Any], variant: dict[str, Any], loaded: Loaded, base: list[Any]
    ) -> tuple[float | None, float, list[Any]]:
        arguments = self.card.arguments(variant["arguments"])
        results, state = loaded(arguments), variant["state"]
        for _ in range(3 if state else 0):
            arguments[-state:] = results[-state:]
            results = loaded(arguments)
        own = results[: len(results) - state]
        far = None
        if base:
            far = max(
                far_on_card(self.card, got, want) for got, want in zip(own, base, strict=True)
            )
        elif case["group"] == "products" and variant["bound"]:
            far = product_distance(arguments, own[0])
        if far is not None and not far <= variant["bound"]:
            self.wrong.append(f"{case['name']}, {variant['name']}: {far:.2g} off")
        seconds = time_of(self.card, lambda: loaded(arguments), self.options.seconds)
        return far, seconds, own

    def _row(self, case: dict[str, Any], name: str, seconds: float, wide: float,
             far: float | None, loaded: Loaded | None) -> None:  # fmt: skip
        ratio = wide / seconds if wide else None
        counts = loaded.counts() if loaded else {}
        say(
            f"  {name:32} {seconds * 1e6:10.1f} us  {case['work'] / seconds / 1e12:7.1f} T/s"
            + (f"  {ratio:5.2f} x {case['variants'][0]['name']}" if ratio else "")
            + (f"  {far:.2g} off" if far is not None else "")
            + (f"  compiled in {loaded.seconds:.1f} s" if loaded else "")
        )
        if counts:
            say(f"  {'':32} " + ", ".join(f"{n} {key}" for key, n in sorted(counts.items())))
        self.rows.append({
            "case": case["name"], "group": case["group"], "variant": name, "seconds": seconds,
            "ratio": ratio, "distance": far, "counts": counts,
        })  # fmt: skip


def say(text: str) -> None:
    print(text, flush=True)


def _xla_option(text: str) -> tuple[str, str | bool]:
    name, _, value = text.partition("=")
    return name, {"true": True, "false": False}.get(value, value)


def plot(rows: list[dict[str, Any]], file: Path) -> None:
    """How many times as fast as the first variant each is."""
    try:
        import matplotlib  # pyright: ignore[reportMissingImports]
    except ImportError:
        say("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pyright: ignore[reportMissingImports]

    shown = [each for each in rows if each["ratio"]]
    figure, axis = pyplot.subplots(figsize=(9, 1 + 0.22 * len(shown)))
    labels = [f"{each['case']}: {each['variant']}" for each in shown]
    axis.barh(labels, [each["ratio"] for each in shown])
    axis.axvline(1, color="black", linewidth=0.8)
    axis.invert_yaxis()
    axis.set_xlabel("times as fast as bf16")
    axis.tick_params(labelsize=7)
    figure.tight_layout()
    figure.savefig(file)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="parts of names, with commas between")
    parser.add_argument("--device", default="gpu", choices=("gpu", "cpu"))
    parser.add_argument(
        "--variant", action="append", help="of each case, these alone in this order"
    )
    parser.add_argument(
        "--twins", action=argparse.BooleanOptionalAction,
        help="check small twins' values, measure nothing; or check none; by default both",
    )  # fmt: skip
    parser.add_argument(
        "--xla", action="append", default=[], metavar="OPTION=VALUE", help="of XLA's debug options"
    )
    parser.add_argument("--seconds", type=float, default=0.3, help="of a round; five of each")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args(argv)
    try:
        card = Card(options.device, dict(_xla_option(each) for each in options.xla))
    except RuntimeError as error:
        print(f"error: no {options.device}: {str(error).splitlines()[0]}", file=sys.stderr)
        return 1
    say(f"{card.device.device_kind}, jax {card.jax.__version__}")
    run = Run(card, options)
    versions = {"device": card.device.device_kind, "jax": card.jax.__version__}
    for case in run.cases:
        run.case(case)
        if options.json:  # after each, for a run that is cut short
            content = {**versions, "rows": run.rows, "wrong": run.wrong}
            options.json.write_text(json.dumps(content, indent=1) + "\n")
    if options.plot:
        plot(run.rows, options.plot)
    for each in run.wrong:
        print(f"error: {each}", file=sys.stderr)
    return 1 if run.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
