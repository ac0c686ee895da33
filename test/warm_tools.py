"""The tools without their start-up: each call is a fork of a process that holds them imported.

`WarmTools(folder)` starts that process and fills `folder` with commands of the tools' names. Such a
command hands its arguments, environment, working directory and three streams over, and ends as the
fork does; the fork calls the `main` that the installed command calls. What differs is the start
alone, which test_command_process.py, test_warm_tools.py and `pytest --exhaustive` try as it is.
"""

import array
import atexit
import contextlib
import gc
import importlib
import marshal
import os
import pkgutil
import selectors
import shlex
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

# The command, and the module whose `main` it calls.
PROGRAMS = {
    "fp8-opt": "mlir_fp8.tools.opt",
    "fp8-translate": "mlir_fp8.tools.translate",
    "fp8-run": "mlir_fp8.tools.run",
    "fp8-explain": "mlir_fp8.tools.explain",
    "fp8-quantize": "mlir_fp8.tools.quantize",
    "fp8-tune": "mlir_fp8.tools.tune",
    "filecheck": "filecheck.main",
    "lit": "lit.main",
}
CLIENT = Path(__file__).with_name("warm_client.py")
SOCKET = "socket"
READY = b"ready\n"


def is_possible() -> bool:
    """Whether this system can tell how a fork ended beside waiting for the next call (Linux)."""
    return hasattr(os, "pidfd_open")


class WarmTools:
    """The process that forks, for as long as it is entered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "WarmTools":
        listener = self.folder / SOCKET
        command = [sys.executable, __file__, str(listener)]
        # It ends when its input does, also where this process is killed.
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._server.stdout is not None
        if self._server.stdout.readline() != READY:
            raise RuntimeError(f"{' '.join(command)} does not start")
        for program in PROGRAMS:
            script = self.folder / program
            call = [sys.executable, "-I", "-S", str(CLIENT), str(listener), program]
            script.write_text(f'#!/bin/sh\nexec {shlex.join(call)} "$@"\n')
            script.chmod(0o755)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process; forks that still run end by themselves."""
        assert self._server is not None
        self._server.communicate()


def _serve(path: str) -> None:
    programs: dict[str, Callable[[], Any]] = {}
    selector = selectors.DefaultSelector()
    # The forks take the three streams of their callers.
    lifeline = os.dup(0)
    selector.register(lifeline, selectors.EVENT_READ)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        selector.register(listener, selectors.EVENT_READ)
        os.write(1, READY)
        while True:
            for key, _ in selector.select():
                if key.fileobj == lifeline:
                    return
                if key.data is not None:
                    selector.unregister(key.fileobj)
                    _tell_end(key.fd, *key.data)
                    continue
                connection, _ = listener.accept()
                # Where no test asks, nothing is imported.
                programs = programs or _import_programs()
                child = os.fork()
                if child == 0:
                    listener.close()
                    _run(connection, programs)
                selector.register(os.pidfd_open(child), selectors.EVENT_READ, (child, connection))


def _tell_end(descriptor: int, child: int, connection: socket.socket) -> None:
    os.close(descriptor)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with connection:
        try:
            connection.sendall(str(status).encode())
        except OSError:
            return  # The caller was killed.


def _run(connection: socket.socket, programs: dict[str, Callable[[], Any]]) -> None:
    """Be the program that the caller asks for, to the end of this process."""
    streams = array.array("i")
    message, ancillary, _, _ = connection.recvmsg(1 << 20, socket.CMSG_LEN(3 * streams.itemsize))
    streams.frombytes(ancillary[0][2])
    while part := connection.recv(1 << 20):
        message += part
    connection.close()
    program, arguments, folder, environment = marshal.loads(message)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    _open_streams()
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(environment)
    sys.argv = [program, *arguments]
    _end(_status(programs[program]))


def _open_streams() -> None:
    # Python's own remember what the server's streams could do.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)


def _status(main: Callable[[], Any]) -> int:
    try:
        status = main()
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        return 1
    return int(status or 0)


def _end(status: int) -> None:
    # As the interpreter ends, but for freeing what is imported, which takes a third of a second.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _import_programs() -> dict[str, Callable[[], Any]]:
    import mlir_fp8

    # All of it: tools import most where they need it, as lit does.
    for module in pkgutil.walk_packages(mlir_fp8.__path__, "mlir_fp8."):
        if not module.name.endswith(".__main__"):
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(module.name)
    importlib.import_module("lit.TestRunner")
    importlib.import_module("multiprocessing.pool")
    programs = {name: importlib.import_module(module).main for name, module in PROGRAMS.items()}
    # Forks share what is never written to.
    gc.collect()
    gc.freeze()
    return programs


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _serve(sys.argv[1])
