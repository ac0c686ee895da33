"""Numbers and advice of a report as words, for the page and the terminal."""

from collections.abc import Iterator, Sequence

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.reporting.block_choice import BlockCandidate
from mlir_fp8.reporting.choice import Candidate
from mlir_fp8.reporting.distance import FINITE
from mlir_fp8.reporting.findings import Findings, ValueReport

_WORST = 10


def share(part: int, whole: int) -> str:
    """A percentage; none that is not zero is shown as zero."""
    if not part:
        return "0"
    percent = 100 * part / whole
    return f"{percent:.2f}" if percent >= 0.01 else "<0.01"


def magnitude(number: float | None) -> str:
    return "" if number is None else f"{number:.4g}"


def best(each: ValueReport) -> Candidate | None:
    """The 8-bit format that loses least, each at its best power of two."""
    return max(
        each.candidates,
        key=lambda candidate: float("inf") if candidate.scaled is None else candidate.scaled,
        default=None,
    )


def advice(each: ValueReport) -> str:
    """That format, the scale, and the SQNR which rounding this one value to it would have."""
    found = best(each)
    if found is None:
        return ""
    loss = "exact" if found.scaled is None else f"{found.scaled:.1f} dB"
    scale = f" * 2^{found.scale_log2}" if found.scale_log2 else ""
    return f"{found.format.name}{scale}: {loss}"


def in_blocks(each: ValueReport) -> list[BlockCandidate]:
    """Of each width of elements the block format that loses least, the widest first."""
    found: dict[int, BlockCandidate] = {}
    for candidate in each.block_candidates:
        bits = FORMATS[candidate.format.element].bits
        if bits not in found or _exactness(candidate) > _exactness(found[bits]):
            found[bits] = candidate
    return [found[bits] for bits in sorted(found, reverse=True)]


def _exactness(candidate: BlockCandidate) -> float:
    return float("inf") if candidate.sqnr_db is None else candidate.sqnr_db


def block_advice(candidate: BlockCandidate) -> str:
    """A block format, and the SQNR which rounding a value to it would have."""
    loss = "exact" if candidate.sqnr_db is None else f"{candidate.sqnr_db:.1f} dB"
    return f"{candidate.format.name}: {loss}"


def summary(found: Findings) -> Iterator[str]:
    """What a terminal shows: how much there is, and the worst of the narrow values."""
    narrow = [each for each in found.worst_first() if each.is_narrow]
    rounded = [each.rounding for each in found.values if each.rounding]
    yield (
        f"{found.module}: {len(found.values)} float values of '{found.entry}', "
        f"{len(narrow)} narrow, {len(rounded)} rounded; "
        f"{sum(each.losses.overflow > 0 for each in rounded)} with overflow, "
        f"{sum(each.losses.underflow > 0 for each in rounded)} with underflow, "
        f"{sum(each.after.nan > 0 for each in found.values)} with NaN"
    )
    finite = [each for each in found.worst_first() if each.sqnr.kind == FINITE]
    if finite:
        yield f"lowest SQNR of all: {finite[0].sqnr} at {_where(finite[0])}"
    for left_out in found.left_out:
        yield f"left out: {left_out}"
    yield from found.notes
    if narrow:
        yield f"worst {min(_WORST, len(narrow))} of the narrow values:"
        yield from _table(narrow[:_WORST])
    rated = [each for each in found.values if each.block_candidates]
    if rated:
        worst = sorted(rated, key=lambda each: _exactness(in_blocks(each)[0]))[:_WORST]
        yield f"worst {len(worst)} of the values in blocks, SQNR in dB, zeros and clipped in %:"
        yield from _block_table(worst)


def _where(each: ValueReport) -> str:
    return " ".join(filter(None, (each.value.names[0], each.value.op, each.value.place)))


def _table(values: list[ValueReport]) -> Iterator[str]:
    rows = [("value", "op", "type", "amax", "overflow", "underflow", "NaN", "own SQNR", "SQNR")]
    for each in values:
        count = each.after.count
        own = each.rounding
        rows.append(
            (
                each.value.names[0],
                each.value.op,
                str(each.value.spec),
                magnitude(each.unrounded.amax),
                f"{share(own.losses.overflow, count)}%" if own else "",
                f"{share(own.losses.underflow, count)}%" if own else "",
                f"{share(each.after.nan, count)}%",
                str(own.sqnr) if own else "",
                str(each.sqnr),
            )
        )
    yield from _aligned(rows)


def _block_table(values: list[ValueReport]) -> Iterator[str]:
    names = [each.format.name for each in values[0].block_candidates]
    rows = [("value", "op", "type", *names)]
    for each in values:
        cells = (
            f"{'exact' if one.sqnr_db is None else f'{one.sqnr_db:.1f}'}"
            f" {share(one.zero, each.after.count)} {share(one.clipped, each.after.count)}"
            for one in each.block_candidates
        )
        rows.append((each.value.names[0], each.value.op, str(each.value.spec), *cells))
    yield from _aligned(rows)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        text = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=False)]
        numbers = [cell.rjust(width) for cell, width in zip(row[3:], widths[3:], strict=True)]
        yield "  ".join([*text, *numbers]).rstrip()
