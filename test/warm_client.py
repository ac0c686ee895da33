"""`warm_client.py SOCKET PROGRAM ARGUMENTS`: a command of warm_tools.py, quick to start."""

import array
import marshal
import os
import signal
import socket
import sys


def main() -> None:
    """Have the program run on this process's streams, and end as it ends."""
    _, path, program, *arguments = sys.argv
    call = {
        "program": program,
        "arguments": arguments,
        "folder": os.getcwd(),  # noqa: PTH109 - pathlib takes as long to import as all else here
        "environment": dict(os.environ),
    }
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        streams = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", (0, 1, 2)))
        message = memoryview(marshal.dumps(call))
        sent = connection.sendmsg([message], [streams])
        connection.sendall(message[sent:])
        connection.shutdown(socket.SHUT_WR)
        status = int(connection.recv(16))
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


main()
