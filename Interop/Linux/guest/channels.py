"""L2CAP channels with credits, by sockets of the kernel.

Python's `socket` has no LE addresses, so `bind` and `connect` are libc's.
"""

import asyncio
import ctypes
import os
import socket
import struct
from contextlib import suppress

import bus

SOL_BLUETOOTH, BT_SECURITY, BT_SNDMTU = 274, 4, 12
ADDRESS_TYPES = {"public": 1, "random": 2}
libc = ctypes.CDLL(None, use_errno=True)


def channel_socket(security: int = 0) -> socket.socket:
    made = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_SEQPACKET, socket.BTPROTO_L2CAP)
    if security:
        made.setsockopt(SOL_BLUETOOTH, BT_SECURITY, struct.pack("BB", security, 0))
    return made


def with_address(function: str, channel: socket.socket, psm: int, address: str, kind: str) -> None:
    """Calls libc's `bind` or `connect` with a struct sockaddr_l2."""
    octets = bytes.fromhex(address.replace(":", ""))[::-1]
    place = struct.pack("<HH6sHBx", socket.AF_BLUETOOTH, psm, octets, 0, ADDRESS_TYPES[kind])
    if getattr(libc, function)(channel.fileno(), place, len(place)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def exchange(address: str, kind: str, psm: int, count: int, security: int) -> int:
    with channel_socket(security=security) as channel:
        with_address("bind", channel, 0, "00:00:00:00:00:00", "public")
        with_address("connect", channel, psm, address, kind)
        data = bytes((31 * index + index // 256) % 256 for index in range(count))
        size = min(channel.getsockopt(SOL_BLUETOOTH, BT_SNDMTU), 500)
        received = b""
        for start in range(0, count, size):
            channel.send(data[start : start + size])
            while len(received) < start:
                received += channel.recv(65535)
        while len(received) < count:
            received += channel.recv(65535)
        if received != data:
            raise ValueError("what came back is not what was sent")
        return len(received)


async def exchange_on_channel(address: str, kind: str, psm: int, count: int, security: int = 0):
    """Opens a channel to a peer that echoes, and returns the number of octets that came back as they were sent."""
    return await asyncio.to_thread(exchange, address, kind, psm, count, security)


async def echo_on_channels(psm: int):
    """Accepts channels, one at a time, and sends back what comes on them."""
    listener = channel_socket()
    with_address("bind", listener, psm, "00:00:00:00:00:00", "public")
    listener.listen(1)

    def echo() -> None:
        while True:
            channel, count = listener.accept()[0], 0
            with channel:
                bus.report(event="channel accepted")
                # The kernel reports the loss of the connection as an error.
                with suppress(ConnectionResetError):
                    while data := channel.recv(65535):
                        channel.sendall(data)
                        count += len(data)
            bus.report(event="channel ended", count=count)

    asyncio.get_running_loop().run_in_executor(None, echo)


COMMANDS = {function.__name__: function for function in (exchange_on_channel, echo_on_channels)}
