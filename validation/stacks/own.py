#!/usr/bin/env python3
"""A web server on this machine's own TCP, with a congestion control of its own: any request is answered by a file of zeros.

  own.py CONTROL BYTES                 at port 80 of the namespace it is started in

A namespace's default can only be a congestion control that everybody may have; root's sockets may have any.
"""

import socket
import sys
import threading


def main() -> int:
    """See the module."""
    control, size = sys.argv[1], int(sys.argv[2])
    with socket.create_server(("", 80), backlog=64) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_answer, args=(connection, size), daemon=True).start()


def _answer(connection: socket.socket, size: int) -> None:
    request = b""
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n".encode()
    with connection:
        try:
            while not request.endswith(b"\r\n\r\n"):
                request += (part := connection.recv(4096))
                if not part:
                    return
            connection.sendall(head + bytes(size))
        except OSError:
            pass  # the prober is gone: it has what it wanted


if __name__ == "__main__":
    sys.exit(main())
