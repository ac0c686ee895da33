"""The lock that is held during imports, and while native code of casts is compiled or loaded.

`os.fork` waits for it: the libraries below have locks of their own, and a child forked by another
thread meanwhile would deadlock on a lock whose owner it does not have.
"""

import os
import threading

_PATIENCE = 5.0
"""Timeout in seconds: the owner may itself wait for a lock that the fork holds."""


class _Loading:
    """A reentrant lock that forks wait for once it was taken."""

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
            # The child lacks the thread that holds it, and would deadlock.
            self._lock = threading.RLock()
        else:
            self._lock.release()


LOADING = _Loading()
