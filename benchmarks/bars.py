"""What the project aims at, and which of it a run has reached."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.cases import OURS
from benchmarks.records import Record

MODELS = ("mlp_delayed_scaling", "transformer_forward", "transformer_train_step")
F8, CUBE = "f8E4M3FN x f8E4M3FN", "1024x1024x1024"
PREFILL, DECODE, COMPILING = (f"GPT-2 small, {each}" for each in ("prefill", "decode", "compile"))
LLAMA = "Llama-3.2-1B shape, decode"
EAGER, INDUCTOR, READ = "torch eager", "torch.compile", "read of the weights"
WEIGHT_ONLY = f"{OURS}, weight-only"
BLOCKS = ("MXFP8", "MXFP4", "NVFP4")
CASTS = ("f32 to f8E4M3FN", "f8E4M3FN to f32")


@dataclass(frozen=True)
class Bar:
    """`peer` takes at least `least` times as long as `ours`."""

    suite: str
    case: str
    size: str
    peer: str
    least: float
    ours: str = OURS
    threads: int | None = 1
    """Of both; None: whatever number was measured."""
    ours_threads: int | None = None
    """Of ours, where it has another number."""


BARS: Sequence[Bar] = (
    *(Bar("casts", pair, "2**24", "ml_dtypes", 20.0) for pair in CASTS),
    *(Bar("casts", pair, "2**24", "torch", 3.0) for pair in CASTS),
    *(Bar("casts", pair, "2**24", "copy", 0.7) for pair in CASTS),
    Bar("products", F8, CUBE, "torch _scaled_mm", 2.5),
    Bar("products", F8, CUBE, "torch bf16", 1.0),
    Bar("products", F8, CUBE, "torch f32", 2.0),
    Bar("products", F8, CUBE, OURS, 1.8, ours_threads=2),
    Bar("products", F8, "1x4096x4096", "torch f32", 3.0),
    *(Bar("blocks", f"quantize {each}", "2048x2048", "copy", 0.5) for each in BLOCKS),
    *(Bar("blocks", "product", CUBE, OURS, 0.9, f"{OURS}, {each}") for each in BLOCKS),
    *(Bar("blocks", "product", "1x8192x8192", OURS, 1.8, f"{OURS}, {each}") for each in BLOCKS[1:]),
    *(Bar("models", model, "", "XLA:CPU", 1.5, threads=None) for model in MODELS),
    Bar("inference", PREFILL, "", "XLA:CPU", 1.3, threads=None),
    Bar("inference", DECODE, "", EAGER, 3.0, WEIGHT_ONLY, threads=None),
    Bar("inference", DECODE, "", INDUCTOR, 1.5, WEIGHT_ONLY, threads=None),
    Bar("inference", DECODE, "", "IREE", 1.5, WEIGHT_ONLY, threads=None),
    Bar("inference", COMPILING, "", "XLA:CPU", 1.43, threads=None),
    Bar("inference", COMPILING, "", "XLA:CPU", 1.0, WEIGHT_ONLY, threads=None),
    Bar("inference", LLAMA, "", READ, 0.8, WEIGHT_ONLY, threads=None),
    Bar("first-result", MODELS[-1], "", "XLA:CPU", 1.0, f"{OURS}, cold", threads=None),
)


@dataclass(frozen=True)
class Limit:
    """`contender` takes at most `most` seconds, or of what `note` says, beyond `beyond`'s."""

    suite: str
    case: str
    contender: str
    most: float
    note: str = ""
    beyond: str = ""


PEAK = "artifacts at the peak"
"""The note of how much memory all processes of a step hold together."""
LARGE = "1024 MiB of weights"
LIMITS: Sequence[Limit] = (
    *(Limit("artifacts", f"read {name}", OURS, 0.030, beyond="library") for name in MODELS),
    *(Limit("artifacts", f"{step} {LARGE}", OURS, 3.0, PEAK) for step in ("write", "read")),
    Limit("artifacts", f"inspect {LARGE}", OURS, 1.0),
    Limit("inference", DECODE, WEIGHT_ONLY, 497.8 / 3.9, "weights MB"),
)


@dataclass(frozen=True)
class Verdict:
    """A bar or a limit, with what was measured."""

    what: str
    aim: str
    measured: str
    is_reached: bool


def bar_of(record: Record) -> float | None:
    """How many times as long as ours the contender of `record` shall take, at least."""
    for bar in BARS:
        if _is_of(bar, record, bar.peer, bar.threads) and not record.is_ours:
            return bar.least
    return None


def verdicts(records: Sequence[Record]) -> Iterator[Verdict]:
    """Of every bar and limit whose contenders were measured."""
    measured = [record for record in records if record.seconds]
    for bar in BARS:
        for peer in measured:
            if not _is_of(bar, peer, bar.peer, bar.threads):
                continue
            threads = bar.ours_threads or peer.threads
            for ours in measured:
                if _is_of(bar, ours, bar.ours, threads):
                    yield _judged(bar, ours, peer)
    for limit in LIMITS:
        yield from _within(limit, measured)


def _is_of(bar: Bar, record: Record, contender: str, threads: int | None) -> bool:
    place = (record.suite, record.case, record.size, record.contender)
    is_there = place == (bar.suite, bar.case, bar.size, contender)
    return is_there and threads in (None, record.threads)


def _judged(bar: Bar, ours: Record, peer: Record) -> Verdict:
    reached = peer.median / ours.median
    threads = f"{ours.threads} thread{'s' if ours.threads > 1 else ''}"
    whom = bar.peer if bar.ours_threads is None else f"{bar.peer} on {peer.threads}"
    variant = bar.ours.partition(", ")[2]
    whose = f" ({variant})" if variant else ""
    what = f"{bar.suite}, {bar.case} {bar.size}".rstrip() + f"{whose}, {threads}, beside {whom}"
    return Verdict(what, f"{bar.least:g} x", f"{reached:.2f} x", reached >= bar.least)


def _within(limit: Limit, measured: Sequence[Record]) -> Iterator[Verdict]:
    there = {
        record.contender: record
        for record in measured
        if (record.suite, record.case) == (limit.suite, limit.case)
    }
    if limit.contender not in there or (limit.beyond and limit.beyond not in there):
        return
    ours = there[limit.contender]
    found = max(ours.notes[limit.note]) if limit.note else ours.median
    if limit.beyond:
        found -= there[limit.beyond].median
    unit = "" if limit.note else " s"
    what = limit.note or (f"beyond the {limit.beyond}" if limit.beyond else "")
    yield Verdict(
        f"{limit.suite}, {limit.case}" + (f", {what}" if what else ""),
        f"at most {limit.most:g}{unit}",
        f"{found:.3g}{unit}",
        found <= limit.most,
    )
