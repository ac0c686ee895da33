"""`warm_client.py SOCKET PROGRAM ARGUMENTS`: a command of warm_tools.py.

It imports what the interpreter holds anyway: `os` or `socket` would take longer than the rest.
"""

import _socket
import marshal
import posix
import sys


def main() -> None:
    """Have the program run on this process's streams, and end as it ends."""
    _, path, program, *arguments = sys.argv
    call = marshal.dumps((program, arguments, posix.getcwd(), dict(posix.environ)))
    connection = _socket.socket(_socket.AF_UNIX)
    connection.connect(path)
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
    sent = connection.sendmsg([call], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    connection.sendall(call[sent:])
    connection.shutdown(_socket.SHUT_WR)
    status = int(connection.recv(16))
    if status < 0:
        _end_by(-status)
    sys.exit(status)


def _end_by(number: int) -> None:
    import signal

    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    posix.kill(posix.getpid(), number)


main()
