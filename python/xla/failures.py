"""What jax and XLA raise, as errors of one line."""

import contextlib
import re
from collections.abc import Iterator

from mlir_fp8.base.errors import Fp8Error

_STATUS = re.compile(r"^(?:[A-Z_]+: )+")
_OUT_OF_MEMORY = re.compile(r"RESOURCE_EXHAUSTED|[Oo]ut of memory")


@contextlib.contextmanager
def one_line(what: str, device: str) -> Iterator[None]:
    """Errors raised in here as an `Fp8Error` that starts with `what` and names `device`."""
    try:
        yield
    except (Fp8Error, MemoryError):
        raise
    except Exception as error:  # jax and XLA raise whatever they please
        raise Fp8Error(f"{what}: {reason_of(error, device)}") from None


def reason_of(error: Exception, device: str) -> str:
    """The first line of an error, without the names of statuses."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = lines[0] if lines else type(error).__name__
    if _OUT_OF_MEMORY.search(first):
        return f"{device} is out of memory: {_STATUS.sub('', first)}"
    return _STATUS.sub("", first)
