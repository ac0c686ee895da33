"""docs/compatibility.md from the results."""

import re
from collections.abc import Iterator, Sequence

from exchange import Result
from modules import FLOATS, MODELS

INTRODUCTION = """\
# Artifacts and jaxlib releases of all ages

For whoever ships artifacts to an older or newer jaxlib, and asks whether that reads them. Written
by `python test/compatibility/run.py`, which can be run again: it makes an environment
for each release and exchanges artifacts with it. Our side here: {libraries}.
What each release wrote of the small floats is kept in test/golden/produced_by, and read by the
tests.

- {releases} releases of jaxlib, {first} to {last}.
- {reads_ours} of our artifacts came back from them as the same module.
- {we_read} of their artifacts were read here as the same module.

What travels: the models {models}
of test/models, and for each of the {floats} small floats a module with a constant of all its codes,
a dot, conversions and arithmetic; each for every StableHLO minor version that can hold it, up to
the older one of the two sides.

- *reads ours*: jaxlib reads what `mlir_fp8.serialize` wrote for a version and writes it again for
  that version; what it wrote is the same module.
- *we read theirs*: jaxlib parses text (of the small floats this repository's, of the models what it
  prints itself) and writes it for a version; `mlir_fp8.deserialize` gives the same module.

Same means the same generic form, locations aside.
"""

# Failures that are the release's own, each checked by hand: what is wrong, and the way out.
KNOWN_FAULTS = {
    "0.4.29 0.4.30": (
        "these two lose the batching dimensions of gather whenever they read an artifact, their "
        "own included; 0.4.31 no longer does. Way out: write for 1.0.0, where the same gather has "
        "no batching dimensions; that they read."
    )
}


def page(results: Sequence[Result]) -> str:
    """The whole page."""
    return "\n".join([_introduction(results), *_table(results), *_failures(results),
                      *_future(results)]).rstrip() + "\n"  # fmt: skip


def _introduction(results: Sequence[Result]) -> str:
    return INTRODUCTION.format(
        libraries=", ".join(sorted({result.library for result in results})),
        releases=len(results),
        first=results[0].jaxlib,
        last=results[-1].jaxlib,
        reads_ours=_total(results, "reads_ours"),
        we_read=_total(results, "we_read"),
        models=", ".join(f"`{each.name}`" for each in MODELS),
        floats=len(FLOATS),
    )


def _total(results: Sequence[Result], direction: str) -> str:
    each = [getattr(result, direction) for result in results]
    return f"{sum(d.passed for d in each)} of {sum(d.total for d in each)}"


def _table(results: Sequence[Result]) -> Iterator[str]:
    yield "| jaxlib | Python | StableHLO | versions tried | reads ours | we read theirs |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for result in results:
        tried = f"{len(result.versions)}: {result.versions[0]} to {result.versions[-1]}"
        yield (
            f"| {result.jaxlib} | {result.python} | {result.stablehlo} | {tried} "
            f"| {result.reads_ours.passed}/{result.reads_ours.total} "
            f"| {result.we_read.passed}/{result.we_read.total} |"
        )
    yield ""


def _failures(results: Sequence[Result]) -> Iterator[str]:
    failed = [each for each in results if each.reads_ours.failures or each.we_read.failures]
    if not failed:
        return
    yield "## What failed, and why"
    yield ""
    for result in failed:
        for title, direction in (("reads ours", result.reads_ours), ("theirs", result.we_read)):
            for (name, reason), versions in _by_reason(direction.failures).items():
                at = " and ".join(versions)
                yield f"- jaxlib {result.jaxlib}, {title}: {name} at {at}: {reason}"
    yield ""
    for releases, fault in KNOWN_FAULTS.items():
        if {each.jaxlib for each in failed} & set(releases.split()):
            yield f"jaxlib {' and '.join(releases.split())}: {fault}"
            yield ""


def _future(results: Sequence[Result]) -> Iterator[str]:
    newer = [each for each in results if each.future]
    if not newer:
        return
    yield "## Artifacts from the future"
    yield ""
    yield "What these releases write for their own StableHLO, which is newer than ours. What they"
    yield "write for ours is read (table above)."
    for result in newer:
        yield ""
        yield f"jaxlib {result.jaxlib}, StableHLO {result.stablehlo}:"
        yield ""
        for what, answer in result.future.items():
            yield f"- {what}: {_shown(answer)}"


def _by_reason(failures: Sequence[str]) -> dict[tuple[str, str], list[str]]:
    """The versions at which a module failed, by module and reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for failure in failures:
        job, reason = failure.split(": ", 1)
        name, version = job.rsplit(" (", 1)[0].split(" at ")
        found.setdefault((f"`{name}`", _shown(reason)), []).append(version)
    return found


def _shown(reason: str) -> str:
    """A reason in Markdown, without addresses and paths, and without what notes follow it."""
    plain = re.sub(r" of PyCapsule object at 0x[0-9a-f]+", "", reason).split(" note: ")[0]
    return re.sub(r'"/[^"]*/([^/"]+)"', r'"\1"', plain).replace("<", "\\<")
