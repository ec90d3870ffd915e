"""Peers of programs under test, which behave in a way that no program of this package does: sockets.py VERB ARGUMENT…"""

import os
import select
import signal
import socket
import struct
import sys
import time

verb, *arguments = sys.argv[1:]


def connected(path):
    one = socket.socket(socket.AF_UNIX)
    one.connect(path)
    return one


if verb == "deaf":  # PATH: accepts connections, and never answers.
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(arguments[0])
    listener.listen()
    print("listening", flush=True)
    kept = []
    while True:
        kept.append(listener.accept())
elif verb == "say":  # PATH TEXT: sends a line, and prints the answer.
    one = connected(arguments[0])
    one.settimeout(20)
    one.sendall(arguments[1].encode() + b"\n")
    print(one.makefile().readline(), end="")
elif verb == "hosts":  # PATH: 200 hosts join an air. One that says nothing would give its place to the next: Reset.
    kept = [connected(arguments[0]) for _ in range(200)]
    for one in kept:
        try:
            one.sendall(bytes([1, 3, 12, 0]))
        except OSError:
            pass
    print("connected", flush=True)
    time.sleep(600)
elif verb == "greet":  # PATH: 20 clients of a server with a greeting and no session.
    body = struct.pack("<HIHH", 1, 0x53425442, 1, 1) + struct.pack("<HHI", 0, 0, 0)
    kept = [connected(arguments[0]) for _ in range(20)]
    for one in kept:
        one.sendall(struct.pack("<I", len(body)) + body)
    time.sleep(600)
elif verb == "silent":  # PORT: of 40 silent connections, 24 are closed at once and the others after 5 s.
    kept = [socket.create_connection(("127.0.0.1", int(arguments[0]))) for _ in range(40)]
    for left, limit in ((16, 4), (0, 30)):
        end = time.monotonic() + limit
        while len(kept) > left and time.monotonic() < end:
            for one in select.select(kept, [], [], 0.1)[0]:
                kept.remove(one)
                one.close()
        print(f"{len(kept)} connections are open")
elif verb == "get":  # PORT: the metrics.
    with socket.create_connection(("127.0.0.1", int(arguments[0])), timeout=20) as one:
        one.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        print(one.makefile().read(), end="")
elif verb == "pass":  # PROGRAM ARGUMENT…: a program with a TCP socket of a service manager, whose port goes to the file port.
    listener = socket.create_server(("127.0.0.1", 0))
    with open("port", "w") as file:
        file.write(str(listener.getsockname()[1]))
    if listener.fileno() != 3:
        os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
    signal.alarm(120)
    os.execvp(arguments[0], arguments)
