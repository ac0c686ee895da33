"""Unexpected exceptions as `InternalError`s: with the step, the reason and a reproducer."""

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from mlir_fp8.base.errors import Fp8Error, InternalError, callers_code, is_callers
from mlir_fp8.failures.trace import ReachedError, Step, Trace, tracing

P = ParamSpec("P")
R = TypeVar("R")

_is_inside: ContextVar[bool] = ContextVar("is_inside", default=False)


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap `function` so that unexpected exceptions reach callers as an `InternalError`.

    `Fp8Error` stays what it is, and so do `MemoryError`, errors of callers' own code, and Python's
    `TypeError` for arguments that `function` does not take.
    """

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        if _is_inside.get() or tracing() is not None:
            return function(*args, **kwargs)
        token = _is_inside.set(True)
        try:
            return function(*args, **kwargs)
        except (Fp8Error, MemoryError):
            raise
        except Exception as error:
            # Raised where the function is called: its arguments are not those that it takes.
            is_call = error.__traceback__ is not None and error.__traceback__.tb_next is None
            if is_call or is_callers(error):
                raise
            given = next(iter((*args, *kwargs.values())), None)
            raise internal_error(
                error, function.__name__.strip("_"), lambda: function(*args, **kwargs), given
            ) from error
        finally:
            _is_inside.reset(token)

    return guarded


def callers_own(callback: Callable[P, None] | None) -> Callable[P, None] | None:
    """`callback`, whose errors are the caller's, and which is not called a second time."""
    if callback is None:
        return None

    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        if tracing() is None:
            with callers_code():
                callback(*args, **kwargs)

    return call


def internal_error(
    error: Exception, name: str, again: Callable[[], object], given: Any = None
) -> InternalError:
    """`error` in the words for users, with a reproducer in a file.

    `again` does once more what failed; `name` stands for the step where none has a name. What is
    `given`, a module or the source of one, is the reproducer where no pass failed.
    """
    from mlir_fp8.failures.reproducer import save

    reason = _one_line(error)
    if isinstance(error, MemoryError):  # which once more would do no better
        return InternalError(f"internal error: {name}: {reason}")
    step, text = _find(again)
    name = step or name
    content = text or _given(given)
    saved = "" if content is None else f"; {save(content, name)}"
    return InternalError(f"internal error: {name}: {reason}{saved}")


def _find(again: Callable[[], object]) -> tuple[str, str | None]:
    """The name and the reproducer of the step that fails again, as far as there are any."""
    first = _failing_step(again)
    if not first.number:
        return "", None
    with Trace(until=first.number).active():
        try:
            again()
        except ReachedError as reached:
            return first.name, reached.reproducer
        except Exception:  # it fails in other ways each time
            return first.name, None
    return first.name, None


def _failing_step(again: Callable[[], object]) -> Step:
    trace = Trace()
    with trace.active():
        try:
            again()
        except Exception as error:
            return trace.failed_in(error)
    return Step()


def _given(source: Any) -> str | bytes | None:
    from mlir_fp8.base.source import is_module, read_source
    from mlir_fp8.failures.reproducer import module_text, reproducer_text

    if not is_module(source):
        try:
            data = read_source(source)[0]
        except Fp8Error:
            return None
        return given_text(data)
    try:
        return reproducer_text(module_text(source.operation), EMPTY)
    except Exception:  # a module that cannot be printed
        return None


EMPTY = "builtin.module()"


def given_text(data: bytes, pipeline: str = EMPTY) -> str | bytes:
    """A reproducer of what was read: text with `pipeline`, or the bytes as they are."""
    from mlir_fp8.failures.reproducer import reproducer_text

    try:
        return reproducer_text(data.decode(), pipeline)
    except UnicodeDecodeError:
        return data


def _one_line(error: Exception) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}".removesuffix(": ")
