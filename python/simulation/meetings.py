"""Where simulated devices meet: who comes waits for its group, and the last one moves the data."""

import ctypes
import math
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlir_fp8.arrays.exchange import NUMBER, Exchange

Key = tuple[int, int, int]
"""The number of an exchange, of the group, and how often its devices have been there before."""


@dataclass
class _Meeting:
    exchange: Exchange
    members: tuple[int, ...]
    buffers: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Of the devices that have come: the addresses of the operand and the result."""
    is_over: threading.Event = field(default_factory=threading.Event)

    @property
    def missing(self) -> list[int]:
        return [device for device in self.members if device not in self.buffers]

    def hold(self) -> None:
        """Move the data, once all have come."""
        exchange, dtype = self.exchange, self.exchange.dtype
        pairs = [self.buffers[device] for device in self.members]
        operands = [_array(operand, exchange.takes, dtype) for operand, _ in pairs]
        results = [_array(result, exchange.gives, dtype) for _, result in pairs]
        exchange.run(self.members, operands, results)


class Meetings:
    """All meetings of one run of `count` devices.

    A device that can never go on is left where it waits: native code has no way out. So is every
    other that gets to an exchange after that.
    """

    def __init__(self, exchanges: Sequence[Exchange], count: int) -> None:
        self._exchanges = exchanges
        self._groups = [
            {device: number for number, group in enumerate(each.groups) for device in group}
            for each in exchanges
        ]
        self._lock = threading.Lock()
        self._open: dict[Key, _Meeting] = {}
        self._visits: Counter[tuple[int, int]] = Counter()
        self._waiting: dict[int, Key] = {}
        self._left = count
        self._failure = ""
        self._is_over = threading.Event()

    def exchange(self, device: int, number: int, operand: int, result: int) -> None:
        """What `device` calls; does not raise."""
        try:
            meeting = self._met(device, number, operand, result)
        except Exception as error:  # a fault of this file, which native code must not see
            self.fail(f"{type(error).__name__}: {error}")
            meeting = None
        if meeting is None:
            threading.Event().wait()  # for ever
        else:
            meeting.is_over.wait()

    def _met(self, device: int, number: int, operand: int, result: int) -> _Meeting | None:
        """The meeting, which is over or will be; None where the device is to stay."""
        exchange = self._exchanges[number]
        if exchange.kind == NUMBER:
            ctypes.c_uint32.from_address(result).value = device
            return _OVER
        group = self._groups[number][device]
        with self._lock:
            if self._failure:
                return None
            key = number, group, self._visits[number, device]
            self._visits[number, device] += 1
            meeting = self._open.get(key)
            if meeting is None:
                meeting = self._open[key] = _Meeting(exchange, exchange.groups[group])
            meeting.buffers[device] = operand, result
            if meeting.missing:
                self._waiting[device] = key
                self._check_progress()
                return meeting
            del self._open[key]
            for member in meeting.members:
                self._waiting.pop(member, None)
            meeting.hold()
            meeting.is_over.set()
            return meeting

    def leave(self) -> None:
        """A device has ended."""
        with self._lock:
            self._left -= 1
            if not self._left:
                self._is_over.set()
            self._check_progress()

    def fail(self, message: str) -> None:
        """End the run for who waits for it."""
        self._failure = self._failure or message
        self._is_over.set()

    def wait(self) -> str:
        """Wait until all have ended, or can never end: then the reason is given."""
        self._is_over.wait()
        return self._failure

    def _check_progress(self) -> None:
        if not self._waiting or len(self._waiting) < self._left:
            return
        device = min(self._waiting)
        meeting = self._open[self._waiting[device]]
        missing = meeting.missing[0]
        if missing in self._waiting:
            other = self._open[self._waiting[missing]].exchange
            what = f"waits in {_spelled(other)}"
            if other == meeting.exchange:
                what = "has been in it less often"
        else:
            what = "has ended"
        place = meeting.exchange.place
        self.fail(
            f"{place}: '{meeting.exchange.op}' never ends: device {device} waits in it for device "
            f"{missing}, which {what}: all of a group have to get there"
        )


_OVER = _Meeting(Exchange(NUMBER, "", (), (), 4), ())
_OVER.is_over.set()


def _spelled(exchange: Exchange) -> str:
    return f"'{exchange.op}' ({exchange.place})"


def _array(address: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    size = math.prod(shape) * dtype.itemsize
    memory: Any = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(memory, dtype).reshape(shape)
