"""The function that the code of a simulated device calls: `fp8_exchange(number, operand, result)`.

Native code knows no device: who calls is told by the thread.
"""

import ctypes
import functools
import threading
from collections.abc import Callable

Exchanger = Callable[[int, int, int], None]
"""Takes the number of an exchange and the addresses of an operand, 0 for none, and a result."""


class _Thread(threading.local):
    exchange: Exchanger | None = None


_thread = _Thread()


def call_as(exchange: Exchanger, work: Callable[[], object]) -> None:
    """Call `work`, whose native code calls `exchange`, which must not raise."""
    _thread.exchange = exchange
    try:
        work()
    finally:
        _thread.exchange = None


def exchange_address() -> int:
    """The address of the function."""
    return ctypes.cast(_function(), ctypes.c_void_p).value or 0


@functools.cache
def _function() -> "ctypes._FuncPointer":
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
    return kind(_exchange)


def _exchange(number: int, operand: int | None, result: int | None) -> None:
    assert _thread.exchange is not None
    _thread.exchange(number, operand or 0, result or 0)
