"""The lock that is held while modules are imported, and native code of casts is made or loaded.

`os.fork` waits for it: the libraries that do it have locks of their own, and a child that was
forked by another thread meanwhile would wait for ever for a thread that it has not.
"""

import os
import threading

LOADING = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=LOADING.acquire, after_in_parent=LOADING.release, after_in_child=LOADING.release
    )
