"""What `fp8-run --compare` prints."""

from collections.abc import Callable, Iterator

from mlir_fp8.judging.judges import Agreement, Verdict
from mlir_fp8.tools._run_report import percent


def table(verdict: Verdict, named: Callable[[str], str]) -> Iterator[str]:
    """Who is compared with whom, who could not run it and why, and a row per result and judge.

    `named` puts the input's name into a refusal.
    """
    for opinion in verdict.opinions:
        if opinion.refusal is not None:
            yield f"{opinion.judge} cannot run it: {named(opinion.refusal)}"
    if not verdict.is_comparison:
        return
    yield f"compared with {verdict.reference}:"
    rows = verdict.agreements
    name_width = max(map(len, ["result", *(f"res{row.index}" for row in rows)]))
    type_width = max(map(len, ["type", *(str(row.spec) for row in rows)]))
    judge_width = max(map(len, ["judge", *(row.judge for row in rows)]))
    yield (
        f"{'result':<{name_width}}  {'type':<{type_width}}  {'judge':<{judge_width}}"
        f"  {'max ULP':>9}  {'rel L2':>9}  {'identical':>9}"
    )
    for row in rows:
        yield (
            f"{f'res{row.index}':<{name_width}}  {row.spec!s:<{type_width}}"
            f"  {row.judge:<{judge_width}}  {_count(row.max_ulp):>9}  {row.relative:9.2e}"
            f"  {percent(row.identical):>9}  {'ok' if row.is_good else 'FAIL'}"
        )
        if row.first:
            yield f"{'':<{name_width}}  {_first(row, verdict.reference)}"


def _first(row: Agreement, reference: str) -> str:
    assert row.first is not None
    place = f"[{', '.join(map(str, row.first.index))}]"
    return f"first at {place}: {row.judge} {row.first.got}, {reference} {row.first.want}"


def _count(ulp: float) -> str:
    """Whole where it fits into the column."""
    return f"{ulp:.0f}" if ulp < 1e9 else f"{ulp:.2e}"
