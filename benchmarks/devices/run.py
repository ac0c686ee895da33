"""Runs the programs beside this file on several devices: values first, then times, as ratios.

    python run.py [--device=cpu|gpu] [--devices N,...] [--only PART,...] [--seconds S] [--json FILE]

Needs jax, its ml_dtypes, and numpy. With --serve, each line of standard input asks for one run:
["NAME", DEVICES, "before" or "after"]; a line of JSON answers.
"""

import argparse
import dataclasses
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

FORMAT = 1
HERE = Path(__file__).resolve().parent
MOST = 8
"""Devices of the CPU."""


class Bench:
    """The cases of the folder on devices of one kind, each compiled when it is first asked for."""

    def __init__(self, device: str) -> None:
        import jax  # pyright: ignore[reportMissingImports]

        if device == "cpu":
            jax.config.update("jax_num_cpu_devices", MOST)
        self.jax = jax
        self.devices = jax.devices(device)
        content = json.loads((HERE / "index.json").read_text())
        if content["format"] != FORMAT:
            raise SystemExit("index.json is of another version: make the folder again")
        self.cases = {
            (case["name"], case["devices"]): case
            for case in content["cases"]
            if case["devices"] <= len(self.devices)
        }
        self._compiled: dict[tuple[str, int, str], Any] = {}
        self._arguments: tuple[tuple[str, int], list[Any]] | None = None
        self._distances: dict[tuple[str, int], float] = {}

    def once(self, name: str, count: int, variant: str, calls: int = 1) -> dict[str, float]:
        """Seconds of one run, and the relative L2 of its results to those before."""
        key = (name, count)
        case, arguments = self.cases[key], self.arguments(name, count)
        call = self.compiled(name, count, variant)
        far = self.distance(key, call, arguments) if variant == "after" else 0.0
        sent = next(each["sent"] for each in case["variants"] if each["name"] == variant)
        seconds = self.seconds(call, arguments, calls)
        return {"seconds": seconds, "distance": far, "bound": case["bound"], "sent": sent}

    def seconds(self, call: Any, arguments: list[Any], calls: int) -> float:
        """Of a call, of so many that follow each other at once."""
        started = time.perf_counter()
        result = None
        for _ in range(calls):
            result = call(*arguments)
        self.jax.block_until_ready(result)
        return (time.perf_counter() - started) / calls

    def distance(self, key: tuple[str, int], call: Any, arguments: list[Any]) -> float:
        """Relative L2, computed in f32 where the results are."""
        if key not in self._distances:
            jnp = self.jax.numpy

            def squares(got: Any, want: Any) -> Any:
                a, b = (each.astype(jnp.float32) for each in (got, want))
                return jnp.sum(jnp.square(a - b)), jnp.sum(jnp.square(b))

            (before,), (after,) = self.compiled(*key, "before")(*arguments), call(*arguments)
            far, norm = (float(each) ** 0.5 for each in self.jax.jit(squares)(after, before))
            self._distances[key] = far / norm
        return self._distances[key]

    def mesh(self, count: int) -> Any:
        kinds = (self.jax.sharding.AxisType.Auto,)
        return self.jax.sharding.Mesh(self.devices[:count], ("x",), axis_types=kinds)

    def shardings(self, name: str, count: int) -> list[Any]:
        sharding, mesh = self.jax.sharding, self.mesh(count)
        listed = self.cases[name, count]["arguments"]
        return [
            sharding.NamedSharding(mesh, sharding.PartitionSpec(*each["spec"])) for each in listed
        ]

    def arguments(self, name: str, count: int) -> list[Any]:
        """Made on the devices, for one case at a time."""
        if self._arguments is None or self._arguments[0] != (name, count):
            self._arguments = None
            specs = self.cases[name, count]["arguments"]
            pairs = zip(specs, self.shardings(name, count), strict=True)
            made = [self._made(seed, *each) for seed, each in enumerate(pairs)]
            self._arguments = ((name, count), made)
        return self._arguments[1]

    def _made(self, seed: int, spec: dict[str, Any], sharding: Any) -> Any:
        jax = self.jax

        def normal() -> Any:
            wide = jax.random.normal(jax.random.key(seed), spec["shape"])
            return (wide * spec["std"]).astype(_dtype(spec["dtype"]))

        return jax.block_until_ready(jax.jit(normal, out_shardings=sharding)())

    def compiled(self, name: str, count: int, variant: str) -> Any:
        """The artifact as a function of JAX arrays."""
        key = (name, count, variant)
        if key not in self._compiled:
            case = self.cases[name, count]
            file = next(each["file"] for each in case["variants"] if each["name"] == variant)
            call = self._exported(case, (HERE / file).read_bytes()).call
            shardings = tuple(self.shardings(name, count))
            jitted = self.jax.jit(call, in_shardings=shardings)
            arguments = self.arguments(name, count)
            self._compiled[key] = jitted.lower(*arguments).compile()
            self.jax.block_until_ready(self._compiled[key](*arguments))  # the first is slow
        return self._compiled[key]

    def _exported(self, case: dict[str, Any], artifact: bytes) -> Any:
        """An `Exported` of the right types, whose body is the artifact."""
        import jax.export  # pyright: ignore[reportMissingImports]

        jax = self.jax
        result = case["result"]

        def same_types(*_: Any) -> list[Any]:
            return [jax.numpy.zeros(result["shape"], _dtype(result["dtype"]))]

        given = [
            jax.ShapeDtypeStruct(each["shape"], _dtype(each["dtype"])) for each in case["arguments"]
        ]
        checks = [jax.export.DisabledSafetyCheck.platform()]
        made = jax.export.export(jax.jit(same_types), platforms=["cpu"], disabled_checks=checks)
        return dataclasses.replace(
            made(*given),
            mlir_module_serialized=artifact,
            module_kept_var_idx=tuple(range(len(given))),
            nr_devices=case["devices"],
        )


def _dtype(name: str) -> Any:
    return getattr(ml_dtypes, name, None) or np.dtype(name)


def serve(bench: Bench) -> None:
    """Answer until standard input ends."""
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = bench.once(*json.loads(line))
        except Exception as error:  # jax and XLA raise whatever they please
            answer = {"error": (str(error).splitlines() or [type(error).__name__])[0]}
        print(json.dumps(answer), flush=True)


def measure(bench: Bench, key: tuple[str, int], seconds: float) -> dict[str, Any]:
    """Both variants in turn: medians, their ratio, and how far the results are apart."""
    rounds: dict[str, list[dict[str, float]]] = {"before": [], "after": []}
    slowest = max(bench.once(*key, variant)["seconds"] for variant in rounds)
    calls = max(1, min(20, int(seconds / 10 / slowest)))
    end = time.perf_counter() + seconds
    while len(rounds["after"]) < 5 or time.perf_counter() < end:
        for variant, each in rounds.items():
            each.append(bench.once(*key, variant, calls))
    medians = {
        variant: statistics.median(run["seconds"] for run in each)
        for variant, each in rounds.items()
    }
    last = rounds["after"][-1]
    return {
        "name": key[0],
        "devices": key[1],
        **{f"{variant} us": 1e6 * median for variant, median in medians.items()},
        "ratio": medians["before"] / medians["after"],
        "sent before": rounds["before"][-1]["sent"],
        "sent after": last["sent"],
        "relative L2": last["distance"],
        "is good": last["distance"] <= last["bound"],
    }


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 1 where values are beyond their bound."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--devices", default="", metavar="N,...")
    parser.add_argument("--only", default="", metavar="PART,...")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", action="store_true")
    options = parser.parse_args(arguments)
    bench = Bench(options.device)
    if options.serve:
        serve(bench)
        return 0
    counts = {int(each) for each in options.devices.split(",") if each}
    parts = [each for each in options.only.split(",") if each]
    found: list[dict[str, Any]] = []
    print(f"{'program':<24}{'devices':>8}{'MB before':>11}{'after':>9}"
          f"{'us before':>11}{'after':>9}{'ratio':>7}{'rel L2':>9}")  # fmt: skip
    for key in bench.cases:
        if (counts and key[1] not in counts) or (parts and not any(p in key[0] for p in parts)):
            continue
        row = measure(bench, key, options.seconds)
        found.append(row)
        print(f"{row['name']:<24}{row['devices']:>8}{row['sent before'] / 1e6:>11.2f}"
              f"{row['sent after'] / 1e6:>9.2f}{row['before us']:>11.0f}{row['after us']:>9.0f}"
              f"{row['ratio']:>7.2f}{row['relative L2']:>9.4f}"
              f"{'' if row['is good'] else '  BEYOND ITS BOUND'}", flush=True)  # fmt: skip
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if all(row["is good"] for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
