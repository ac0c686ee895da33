"""docs/compatibility.md from the results."""

import re
from collections.abc import Iterator, Sequence

from exchange import Result
from modules import FLOATS, MODELS

INTRODUCTION = """\
# Artifacts and jaxlib releases of all ages

Written by `python test/compatibility/run.py`, which anyone can run again: it makes an environment
for each release and exchanges artifacts with it. Our side here: {libraries}.

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
        "These two lose the batching dimensions of gather whenever they read an artifact, "
        "those that they wrote themselves included (StableHLO 1.1.0 to 1.1.3). Way out: write for "
        "1.0.0, where the same gather is written without batching dimensions; that they read."
    )
}


def page(results: Sequence[Result]) -> str:
    """The whole page."""
    return "\n".join([_introduction(results), *_table(results), *_failures(results),
                      *_future(results)]) + "\n"  # fmt: skip


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
            for failure in direction.failures:
                yield f"- jaxlib {result.jaxlib}, {title}: {_shown(failure)}"
    yield ""
    for releases, fault in KNOWN_FAULTS.items():
        if {each.jaxlib for each in failed} & set(releases.split()):
            yield f"jaxlib {', '.join(releases.split())}: {fault}"
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


def _shown(failure: str) -> str:
    """A failure without addresses and paths."""
    plain = re.sub(r" of PyCapsule object at 0x[0-9a-f]+", "", failure)
    return re.sub(r'"/[^"]*/([^/"]+)"', r'"\1"', plain).replace("<", "\\<")[:240]
