"""The lock that is held while modules are imported, and native code of casts is made or loaded.

`os.fork` waits for it: the libraries that do it have locks of their own, and a child that was
forked by another thread meanwhile would wait for ever for a thread that it has not.
"""

import os
import threading

_PATIENCE = 5.0
"""Seconds. Who holds the lock may wait for what a fork holds already, such as another's lock."""


class _Loading:
    """A lock that a thread may take again, and that forks wait for once it was taken."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._forking = threading.local()
        self._is_known = False

    def __enter__(self) -> None:
        self._lock.acquire()
        if not self._is_known and hasattr(os, "register_at_fork"):
            self._is_known = True
            # It takes a lock before a fork, too: after this one, if it is registered before it.
            import logging  # noqa: F401

            os.register_at_fork(
                before=self._before,
                after_in_parent=self._after,
                after_in_child=self._after_in_child,
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _before(self) -> None:
        self._forking.has_lock = self._lock.acquire(timeout=_PATIENCE)

    def _after(self) -> None:
        if self._forking.__dict__.pop("has_lock", False):
            self._lock.release()

    def _after_in_child(self) -> None:
        if not self._forking.__dict__.pop("has_lock", False):
            # Who holds it is no thread of the child's, and would never give it back.
            self._lock = threading.RLock()
        else:
            self._lock.release()


LOADING = _Loading()
