"""Runs the artifacts beside this file on a GPU: values first, then times, as ratios.

    python run.py [--only PART,...] [--variant NAME]... [--twins | --no-twins] [--seconds S]
                  [--xla OPTION=VALUE]... [--kernels] [--json FILE] [--plot FILE]

Needs jax, its ml_dtypes, and numpy; PyTorch is measured beside them where it is installed. Where
$OUT names a folder, the optimized HLO of each module is written into it.
"""

import argparse
import collections
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

try:
    import card as cards  # pyright: ignore[reportMissingImports] # beside this file, where it travels
except ImportError:
    from mlir_fp8.tuning import card as cards

FORMAT = 1
HERE = Path(__file__).resolve().parent
TWIN_BOUND = 0.2
"""Relative L2 of a twin's results: a code of f8 that rounds the other way is a step of 6 to 12%."""
REFERENCE_ROWS = 64
"""Of a product, compared with a CPU's."""
_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%?[\w.-]+ = (?:\(.*?\)|\S+) ([\w-]+)\(")
_TARGET = re.compile(r'custom_call_target="([^"]+)"')
_QUIET = {"parameter", "constant", "get-tuple-element", "tuple", "bitcast"}


def counts(hlo: str) -> dict[str, int]:
    """How many custom calls, by target, fusions and others it runs, loops' bodies included."""
    found: collections.Counter[str] = collections.Counter()
    for line in _launched(hlo):
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


def twin_distance(card: cards.Card, entry: dict[str, Any], loaded: cards.Loaded) -> float:
    """The largest distance of a twin's results from those of a CPU."""
    specs = entry["arguments"]
    held = np.load(HERE / entry["file"].replace(".mlirbc", ".npz"))
    arguments = [
        card.put(held[f"argument{index}"].view(cards.DTYPES[spec["dtype"]]).reshape(spec["shape"]))
        for index, spec in enumerate(specs)
    ]
    worst = 0.0
    for index, each in enumerate(loaded(arguments)):
        got = np.asarray(each)
        want = held[f"result{index}"].view(got.dtype).reshape(got.shape)
        worst = max(worst, cards.distance(got, want))
    return worst


def product_distance(arguments: list[Any], got: Any) -> float:
    """Of the first rows of a product from what codes and scales stand for, multiplied by a CPU."""
    a, b, a_scale, b_scale, *result = (np.asarray(each) for each in arguments)
    rows = min(len(a), REFERENCE_ROWS)
    a_scale = a_scale[:rows] if a_scale.ndim and len(a_scale) == len(a) else a_scale
    y = _dequantized(a[:rows], a_scale) @ _dequantized(b, b_scale).T
    return cards.distance(np.asarray(got)[:rows], y / result[0] if result else y)


def _dequantized(codes: np.ndarray, scale: np.ndarray) -> np.ndarray:
    for dim in range(scale.ndim):
        scale = np.repeat(scale, codes.shape[dim] // scale.shape[dim], axis=dim)
    return codes.astype(np.float32) * scale


def far_on_card(card: cards.Card, got: Any, want: Any) -> float:
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

    def __init__(self, card: cards.Card, options: argparse.Namespace) -> None:
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

    def _compiled(self, file: str) -> cards.Loaded | None:
        try:
            loaded = self.card.compile(HERE / file)
        except Exception as error:  # whatever XLA raises
            self.wrong.append(f"{file}: {str(error).splitlines()[0][:300]}")
            return None
        if out := os.environ.get("OUT"):
            (Path(out) / file.replace(".mlirbc", ".hlo.txt")).write_text(loaded.hlo)
        return loaded

    def _check(self, case: dict[str, Any], variant: dict[str, Any], loaded: cards.Loaded) -> None:
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
        self, case: dict[str, Any], variant: dict[str, Any], loaded: cards.Loaded, base: list[Any]
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
        seconds = self.card.time_of(lambda: loaded(arguments), self.options.seconds)
        if self.options.kernels:
            say(f"  kernels of {variant['name']}")
            for kernel, count, each in self.card.kernels(lambda: loaded(arguments)):
                say(f"  {each * 1e6:10.1f} us  {count:3} x  {kernel[:150]}")
        return far, seconds, own

    def _row(self, case: dict[str, Any], name: str, seconds: float, wide: float,
             far: float | None, loaded: cards.Loaded | None) -> None:  # fmt: skip
        ratio = wide / seconds if wide else None
        launched = counts(loaded.hlo) if loaded else {}
        say(
            f"  {name:32} {seconds * 1e6:10.1f} us  {case['work'] / seconds / 1e12:7.1f} T/s"
            + (f"  {ratio:5.2f} x {case['variants'][0]['name']}" if ratio else "")
            + (f"  {far:.2g} off" if far is not None else "")
            + (f"  compiled in {loaded.seconds:.1f} s" if loaded else "")
        )
        if launched:
            say(f"  {'':32} " + ", ".join(f"{n} {key}" for key, n in sorted(launched.items())))
        self.rows.append({
            "case": case["name"], "group": case["group"], "variant": name, "seconds": seconds,
            "ratio": ratio, "distance": far, "counts": launched,
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
    parser.add_argument(
        "--kernels", action="store_true", help="list each kernel's time, by jax.profiler"
    )
    parser.add_argument("--seconds", type=float, default=0.3, help="of a round; five of each")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args(argv)
    try:
        card = cards.Card(options.device, dict(_xla_option(each) for each in options.xla))
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
