"""Why MLIR refused an element of a pass pipeline, in one line.

MLIR's exceptions differ by case, and its option parser prints the essential part to stderr.
"""

import contextlib
import difflib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torch_mlir.passmanager import PassManager

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.passes.pipeline_text import Element, parse_element, parse_options
from mlir_fp8.passes.registered_names import PASSES

MODULE_ANCHOR = "builtin.module"


class UnknownPassError(Fp8Error):
    """Neither a pass nor a pipeline has this name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"there is no pass or pipeline '{name}'{did_you_mean(name, known)}")
        self.name = name


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The end of a sentence: the closest of the `known` names, or nothing."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    return f"; did you mean '{close[0]}'?" if close else ""


def refusal(
    element: Element, anchor: str, native_stderr: Callable[[], str], own_names: Sequence[str]
) -> Fp8Error:
    """The error for an `element` on op `anchor` that `PassManager.add` refused.

    Its passes are tried one by one, in the current context, for the first that is refused alone.
    """
    for pass_anchor, single in element.passes(anchor):
        native_stderr()
        try:
            PassManager(pass_anchor).add(single.text)
        except ValueError as error:
            return _single_refusal(single, pass_anchor, error, native_stderr(), own_names)
    return Fp8Error(f"MLIR refuses '{element.text}' in a pipeline on {anchor}")


def _single_refusal(
    single: Element, anchor: str, error: ValueError, stderr: str, own_names: Sequence[str]
) -> Fp8Error:
    nested_on = required_anchor(error)
    if nested_on:
        return Fp8Error(
            f"pass '{single.name}' runs on {nested_on}, not on {anchor}: "
            f"write '{nested_on}({single.text})'"
        )
    upstream = upstream_pass(single.name)
    if upstream is None:
        return UnknownPassError(single.name, [*own_names, *PASSES])
    unknown = re.search(r"no such option (\S+)", f"{error}{stderr}")
    if unknown:
        names = ", ".join(upstream.options)
        known = f"; among its options are: {names}" if names else ""
        return Fp8Error(f"pass '{single.name}' has no option '{unknown[1]}'{known}")
    value = re.search(r"for the --?([\w-]+) option: (.*)", f"{error}{stderr}")
    if value:
        reason = value[2].rstrip("!").removesuffix(" for long argument")
        return Fp8Error(f"pass '{single.name}': option '{value[1]}': {reason}")
    return Fp8Error(f"MLIR refuses the options of '{single.text}'")


def required_anchor(error: ValueError) -> str | None:
    """The op that a pass is restricted to, when that is why MLIR refused it."""
    match = re.search(r"restricted to '([\w.]+)'", str(error))
    return match[1] if match else None


@dataclass(frozen=True)
class UpstreamPass:
    """A pass or pipeline of MLIR. `options` holds defaults, as MLIR prints them: neither the list
    options that are empty, nor any of a pipeline of several passes."""

    anchor: str | None
    options: dict[str, str | None]


def upstream_pass(name: str) -> UpstreamPass | None:
    """What is registered as `name`, seen from the current context; None for nothing."""
    manager = PassManager(MODULE_ANCHOR)
    anchor: str | None = None
    try:
        manager.add(name)
    except ValueError as error:
        anchor = required_anchor(error)
        if anchor is None:
            return None
        manager.add(f"{anchor}({name})")
    passes = list(parse_element(str(manager)).passes(MODULE_ANCHOR))
    options = parse_options(name, passes[0][1].options) if len(passes) == 1 else {}
    return UpstreamPass(anchor, options)


@contextlib.contextmanager
def held_stderr() -> Iterator[Callable[[], str]]:
    """Hold back what native code writes to stderr; yields a function that returns what is new."""
    try:
        saved = os.dup(2)
    except OSError:
        yield lambda: ""
        return
    if sys.stderr is not None:
        sys.stderr.flush()
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    os.dup2(write_end, 2)
    os.close(write_end)

    def new_text() -> str:
        with contextlib.suppress(BlockingIOError):
            return os.read(read_end, 1 << 16).decode(errors="replace")
        return ""

    try:
        yield new_text
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.write(2, new_text().encode())
        os.close(read_end)
