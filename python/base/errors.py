"""The exceptions that the tools turn into `error: ...` and exit status 1, and callers' own."""

from collections.abc import Iterator
from contextlib import contextmanager

_CALLERS = "_mlir_fp8_callers"


class Fp8Error(Exception):
    """Something the caller can mend: bad input, an op that cannot be compiled, a wrong argument.

    The message is one line that names the op or argument, its location, the reason and the way out.
    """


class InternalError(Fp8Error):
    """A fault of this project or of a library below, not of the caller: please report it.

    The message is one line, `internal error: STEP: REASON; reproducer written to FILE`, where
    `fp8-opt --run-reproducer FILE` runs what failed again. What was raised is the `__cause__`.
    """


@contextmanager
def callers_code() -> Iterator[None]:
    """What is raised in here is the caller's own, and reaches him as it is."""
    try:
        yield
    except Exception as error:
        setattr(error, _CALLERS, True)
        raise


def is_callers(error: Exception) -> bool:
    """Whether `error` was raised in `callers_code`."""
    return hasattr(error, _CALLERS)


class DetachedWarning(UserWarning):
    """A torch tensor that requires gradients was taken for its values: no result has gradients."""
