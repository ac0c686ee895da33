"""The time of a training step on many devices, from bytes and rates: where FP8 on the wire pays.

A layer of a transformer, shared in one of four ways. A step has `Layer.tokens`, of which a device
has its part: the more devices, the less there is for communication to hide behind.

- What a link or the network carries takes `latency + bytes / rate`; of a collective on both, the
  slower one counts, as they run side by side, and latencies add up.
- Inside of a node, ring algorithms: each device sends (n - 1) / n of the whole. Between nodes, a
  device talks to those in its place of the other nodes, and sends (m - 1) / m of its share, in
  log2(m) steps of latency.
- Products take `flop / rate` of their type; quantizing takes `numbers / rate`.
- What communication takes beyond the products that it runs beside is exposed.

Rates come from `measured.json` (`calibrated`); what was not measured is in `Assumed`.
"""

import json
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).parent / "measured.json"
COUNTS = tuple(2**exponent for exponent in range(3, 15))
"""8 to 16,384 devices."""


@dataclass(frozen=True)
class Assumed:
    """What two cards do not tell."""

    node: int = 8
    """Devices that links connect."""
    network: float = 40e9
    """Bytes a second that a device sends to other nodes: four fifths of 400 Gbit/s."""
    network_latency: float = 10e-6
    overlap: float = 0.7
    """The share of products that communication runs beside."""


@dataclass(frozen=True)
class Rates:
    """Of a device, in units a second."""

    link: float
    link_latency: float
    bf16: float
    f8: float
    quantize: float


@dataclass(frozen=True)
class Layer:
    """A layer of a transformer, and what a device does with it in a step."""

    hidden: int = 8192
    inner: int = 28672
    tokens: int = 1 << 22
    """Of a step."""
    experts_of_a_token: int = 2

    @property
    def weights(self) -> int:
        """Of the attention and of a gated MLP."""
        return 4 * self.hidden**2 + 3 * self.hidden * self.inner

    def flop(self, devices: int) -> float:
        """Of a device, forward and backward."""
        return 6.0 * self.weights * self.tokens / devices

    def rows(self, devices: int) -> float:
        """The numbers of a device's tokens."""
        return self.tokens / devices * self.hidden


@dataclass(frozen=True)
class Wire:
    """The bytes of a number on the wire, and whether the products are FP8 too."""

    name: str
    bytes: float
    product: str

    @property
    def is_f8(self) -> bool:
        return self.bytes == 1


WIDE = Wire("bf16", 2, "bf16")
NARROW = Wire("FP8 on the wire", 1, "bf16")
WIDE_PRODUCTS = Wire("bf16, FP8 products", 2, "f8")
BOTH = Wire("FP8 on the wire, FP8 products", 1, "f8")


@dataclass(frozen=True)
class Cost:
    """Seconds of a step of one layer."""

    products: float
    wire: float
    quantizing: float
    overlap: float

    @property
    def step(self) -> float:
        """Communication, and what has to be there before it, hides behind some of the products."""
        sent = self.wire + self.quantizing
        return self.products + max(0.0, sent - self.overlap * self.products)


class Model:
    """The layer on a machine."""

    def __init__(self, rates: Rates, assumed: Assumed, layer: Layer) -> None:
        self.rates, self.assumed, self.layer = rates, assumed, layer

    def cost(self, recipe: str, wire: Wire, devices: int) -> Cost:
        """`recipe` is a key of `RECIPES`."""
        seconds, numbers = RECIPES[recipe](self, wire, devices)
        products = self.layer.flop(devices) / getattr(self.rates, wire.product)
        quantizing = numbers / self.rates.quantize if wire.is_f8 else 0.0
        return Cost(products, seconds, quantizing, self.assumed.overlap)

    def ring(self, whole: float, devices: int) -> float:
        """Seconds of an all-gather or a reduce-scatter of `whole` bytes."""
        inside = min(devices, self.assumed.node)
        nodes = max(1, devices // self.assumed.node)
        links = whole * (inside - 1) / inside / self.rates.link
        network = whole / inside * (nodes - 1) / nodes / self.assumed.network
        return max(links, network) + self._latency(nodes)

    def all_to_all(self, held: float, devices: int) -> float:
        """Seconds of an all-to-all of `held` bytes on each device."""
        inside = min(devices, self.assumed.node)
        nodes = max(1, devices // self.assumed.node)
        links = held * (inside - 1) / devices / self.rates.link
        network = held * (devices - inside) / devices / self.assumed.network
        return max(links, network) + self._latency(nodes)

    def _latency(self, nodes: int) -> float:
        return self.rates.link_latency + self.assumed.network_latency * math.log2(nodes)


Sent = tuple[float, float]
"""Seconds on the wire, and the numbers that a device quantizes."""


def _fsdp(model: Model, wire: Wire, devices: int) -> Sent:
    """Weights are gathered forward and backward, gradients reduced and scattered."""
    weights = model.layer.weights
    return 3 * model.ring(weights * wire.bytes, devices), 2 * weights / devices + weights


def _tensor_parallel(model: Model, wire: Wire, devices: int) -> Sent:
    """In a node, with sequence parallel: rows gathered and sums scattered, twice, both ways."""
    inside = min(devices, model.assumed.node)
    numbers = model.layer.rows(devices)
    seconds = 8 * model.ring(numbers * inside * wire.bytes, inside)
    return seconds, 4 * numbers + 4 * numbers * inside


def _experts(model: Model, wire: Wire, devices: int) -> Sent:
    """Tokens go to the devices of their experts and come back, both ways."""
    numbers = model.layer.rows(devices) * model.layer.experts_of_a_token
    return 4 * model.all_to_all(numbers * wire.bytes, devices), 4 * numbers


def _data_parallel(model: Model, wire: Wire, devices: int) -> Sent:
    """Gradients are reduced and scattered, and gathered."""
    weights = model.layer.weights
    return 2 * model.ring(weights * wire.bytes, devices), weights * (1 + 1 / devices)


RECIPES: Mapping[str, Callable[[Model, Wire, int], Sent]] = {
    "FSDP": _fsdp,
    "tensor parallel": _tensor_parallel,
    "MoE": _experts,
    "data parallel": _data_parallel,
}


def calibrated(measured: Mapping[str, Any]) -> Rates:
    """Rates from two points of a collective, a layer of each type, and one of quantizing."""
    first, second = measured["collectives"]
    link = (first["sent"] - second["sent"]) / (first["us"] - second["us"]) * 1e6
    latency = first["us"] * 1e-6 - first["sent"] / link
    products = {
        each["type"]: each["flop"] / (each["us"] * 1e-6 - latency - each["sent"] / link)
        for each in measured["layers"]
    }
    (quantized,) = measured["quantize"]
    quantize = quantized["numbers"] / quantized["us"] * 1e6
    return Rates(link, latency, products["bf16"], products["f8"], quantize)


def speedups(model: Model, recipe: str, before: Wire, after: Wire) -> list[float]:
    """How many times faster a step is after than before, for each of `COUNTS`."""
    return [
        model.cost(recipe, before, count).step / model.cost(recipe, after, count).step
        for count in COUNTS
    ]


def lines(model: Model) -> Iterator[str]:
    """What the model says, as text."""
    rates = model.rates
    yield (f"link {rates.link / 1e9:.0f} GB/s after {rates.link_latency * 1e6:.0f} us, products "
           f"{rates.bf16 / 1e12:.0f} TFLOP/s in bf16 and {rates.f8 / 1e12:.0f} in FP8, quantizing "
           f"{rates.quantize / 1e9:.0f} G numbers/s")  # fmt: skip
    yield (f"a byte less for each number is worth it where a device sends less than "
           f"{rates.quantize / 1e9:.0f} GB/s")  # fmt: skip
    yield f"{'':<16}{''.join(f'{count:>7}' for count in COUNTS)}  devices"
    for recipe in RECIPES:
        for name, before, after in PAIRS:
            found = speedups(model, recipe, before, after)
            yield f"{recipe:<16}{''.join(f'{each:>7.2f}' for each in found)}  {name}"


def cpu_lines(measured: Mapping[str, Any]) -> Iterator[str]:
    """The same of devices of the CPU, which share memory and cores."""
    programs = measured["programs"]
    rate = statistics.median(
        each["devices"] * each["sent"][0] / each["us"][0] * 1e6 for each in programs
    )
    quantize = statistics.median(
        each["devices"] * each["numbers"]
        / (each["us"][1] - each["us"][0] * each["sent"][1] / each["sent"][0]) * 1e6
        for each in programs
    )  # fmt: skip
    yield (f"devices of the CPU: {rate / 1e9:.2f} GB/s on the wire of all, quantizing "
           f"{quantize / 1e6:.0f} M numbers/s: a byte less is worth it below "
           f"{quantize / 1e9:.3f} GB/s")  # fmt: skip


PAIRS: Sequence[tuple[str, Wire, Wire]] = (
    ("the wire, products in bf16", WIDE, NARROW),
    ("the wire, products in FP8", WIDE_PRODUCTS, BOTH),
    ("the wire and products", WIDE, BOTH),
)
"""What becomes FP8, from what to what."""


def read(file: Path = MEASURED) -> dict[str, Any]:
    """What was measured."""
    return json.loads(file.read_text())


def draw(file: Path, model: Model) -> None:
    """A panel for each recipe, by matplotlib."""
    matplotlib: Any = import_module("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "mlir-fp8", "svg.fonttype": "none"})
    pyplot: Any = import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True)
    for axis, recipe in zip(axes.flat, RECIPES, strict=True):
        for name, before, after in PAIRS:
            axis.plot(COUNTS, speedups(model, recipe, before, after), "o-", ms=3, label=name)
        axis.axhline(1, color="black", linewidth=0.8)
        axis.set_xscale("log", base=2)
        axis.set_title(recipe, loc="left", fontsize=10)
        axis.grid(True, alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("devices", fontsize=9)
        axis.set_xticks(COUNTS[::2], [f"{count}" for count in COUNTS[::2]], fontsize=8)
    for axis in axes[:, 0]:
        axis.set_ylabel("step in bf16 / step with FP8", fontsize=9)
    axes[0, 0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    pyplot.close(figure)
