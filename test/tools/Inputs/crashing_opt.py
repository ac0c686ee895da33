"""`fp8-opt` with a pass `crash`, which does to the process what upstream's passes can do to it.

`how` is a function of this file. An abort says what LLVM says before it.
"""

import dataclasses
import os
import signal
import sys
import time

from torch_mlir import ir

from mlir_fp8 import lowering
from mlir_fp8.lowering import ModulePass
from mlir_fp8.passes import pass_manager
from mlir_fp8.tools import opt


@dataclasses.dataclass(frozen=True)
class Crash(ModulePass):
    """End the process."""

    how: str = "segfault"

    def run(self, module: ir.Operation) -> None:
        module.attributes["test.crash"] = ir.UnitAttr.get()
        globals()[self.how]()


def segfault() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def abort() -> None:
    os.write(2, b"LLVM ERROR: no such thing\nPLEASE submit a bug report\n #0 0x0000\n")
    os.abort()


def once() -> None:
    """Only the first time."""
    os.close(os.open("crashed", os.O_CREAT | os.O_EXCL))
    segfault()


def out_of_memory() -> None:
    """As Linux ends a process then."""
    os.kill(os.getpid(), signal.SIGKILL)


def say() -> None:
    """On stderr, as native code does."""
    os.write(2, b"native words\n")


def sleep() -> None:
    print(os.getpid(), flush=True)
    time.sleep(60)


if __name__ == "__main__":
    names, real = (*lowering.pass_names(), "crash"), lowering.pass_class
    found = {
        "pass_names": lambda: names,
        "pass_class": lambda name: Crash if name == "crash" else real(name),
    }
    for patched in (lowering, pass_manager):
        vars(patched).update(found)
    if sys.argv[1] == "--in-process":
        sys.exit(opt.main(sys.argv[2:]))
    opt.console_main()
