"""Traces the steps of a run when a failed run is repeated; otherwise nothing is recorded.

A pass is a step, and so is any other unit of work, such as reading a file.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

_trace: ContextVar["Trace | None"] = ContextVar("trace", default=None)


class Step(NamedTuple):
    """The `number`-th that began, from 1; 0 is the whole run, which has no name."""

    number: int = 0
    name: str = ""


class ReachedError(BaseException):
    """The step that a `Trace` is to stop at is next; `reproducer` is text of it, if it has some."""

    def __init__(self, reproducer: str | None) -> None:
        self.reproducer = reproducer


class Trace:
    """Calls `notify` with every step that begins, and with an outer one again after an inner one.

    With `until`, the run ends with `ReachedError` before the step of that number.
    """

    def __init__(self, notify: Callable[[Step], None] | None = None, until: int = -1) -> None:
        self._notify = notify or (lambda _: None)
        self._until = until
        self._count = 0
        self._current = Step()
        self._failed: tuple[BaseException | None, Step] = None, Step()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Watch what this thread does."""
        token = _trace.set(self)
        try:
            yield
        finally:
            _trace.reset(token)

    @contextmanager
    def within(self, name: str, reproducer: Callable[[], str] | None) -> Iterator[None]:
        """The step `name`; steps inside of one with a `reproducer` are not looked at."""
        outer = self._current
        self._count += 1
        if self._count == self._until:
            raise ReachedError(reproducer and reproducer())
        self._begin(Step(self._count, name))
        token = _trace.set(self if reproducer is None else None)
        try:
            yield
        except BaseException as error:
            if self._failed[0] is not error:
                self._failed = error, self._current
            raise
        finally:
            _trace.reset(token)
            self._begin(outer)

    def failed_in(self, error: BaseException) -> Step:
        """The innermost step that `error` came out of."""
        return self._failed[1] if self._failed[0] is error else Step()

    def _begin(self, step: Step) -> None:
        self._current = step
        self._notify(step)


def tracing() -> Trace | None:
    """The trace of this thread, if any: then no files are written, no callers' code runs."""
    return _trace.get()


@contextmanager
def step(name: str) -> Iterator[None]:
    """A step that is no pass."""
    trace = _trace.get()
    if trace is None:
        yield
        return
    with trace.within(name, None):
        yield
