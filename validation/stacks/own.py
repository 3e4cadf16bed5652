#!/usr/bin/env python3
"""A web server on this machine's own TCP, with a congestion control of its own: any request is answered by a file of zeros.

  own.py CONTROL BYTES                 at port 80 of the namespace it is started in
  own.py CONTROL BYTES --secure        at port 443, over TLS, with a certificate that openssl makes and nobody has signed

A namespace's default can only be a congestion control that everybody may have; root's sockets may have any.
"""

import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from pathlib import Path


def main() -> int:
    """See the module."""
    control, size, secure = sys.argv[1], int(sys.argv[2]), sys.argv[3:] == ["--secure"]
    tls = _tls() if secure else None
    with socket.create_server(("", 443 if secure else 80), backlog=64) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_answer, args=(connection, size, tls), daemon=True).start()


def _tls() -> ssl.SSLContext:
    """A certificate of our own, whose files are gone when it is loaded."""
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = Path(folder) / "key", Path(folder) / "certificate"
        words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        words += ["-days", "2", "-subj", "/CN=stack", "-keyout", str(key), "-out", str(certificate)]
        subprocess.run(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context


def _answer(raw: socket.socket, size: int, tls: ssl.SSLContext | None) -> None:
    request = b""
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n".encode()
    try:
        with raw if tls is None else tls.wrap_socket(raw, server_side=True) as connection:
            while not request.endswith(b"\r\n\r\n"):
                request += (part := connection.recv(4096))
                if not part:
                    return
            connection.sendall(head + bytes(size))
    except OSError:
        pass  # the prober is gone: it has what it wanted


if __name__ == "__main__":
    sys.exit(main())
