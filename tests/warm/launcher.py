"""Takes the place of ``python``: a warm process forks, instead of an interpreter that starts and imports for a second.

python -I -S launcher.py ADDRESS -m MODULE ARGUMENT...
python -I -S launcher.py ADDRESS -c CODE ARGUMENT...
python -I -S launcher.py ADDRESS SCRIPT ARGUMENT...

Streams, directory, environment, signals and exit status are those of the fork. Killed, it takes the fork with it.
"""

import marshal
import os
import signal
import socket
import sys

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(address: str, *arguments: str) -> None:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    asked = marshal.dumps((arguments, os.getcwd(), dict(os.environ)))  # noqa: PTH109  pathlib takes a while to import
    socket.send_fds(connection, [len(asked).to_bytes(4, "little")], [0, 1, 2])
    connection.sendall(asked)
    pid = int.from_bytes(connection.recv(4), "little")
    for number in SIGNALS:
        signal.signal(number, lambda number, _: os.kill(pid, number))
    os.closerange(0, 3)  # a reader sees the end when the fork closes a stream
    status = int.from_bytes(connection.recv(4), "little")
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


main(*sys.argv[1:])
