"""A plugin of pytest for Bumble's own tests: their devices get controllers of the air that COREBLUETOOTH_ADAPTER names.

The tests assume that a packet has arrived after three turns of the event loop; in a lockstep a pause of virtual time stands
for that. They advertise every millisecond, which no controller allows; here they do so every 20 ms.
"""

import asyncio
import os
import socket

import pytest
from bumble.device import Device
from bumble.hci import Address
from bumble.testing import test_utils
from bumble.transport.common import PacketParser, TransportSink

# Longer than the time that the air takes for what has been sent.
PAUSE = 0.25


class Controller:
    """A controller of the air, with the initializer of Bumble's."""

    used: list[socket.socket] = []

    def __init__(self, name: str, link: object = None, public_address: Address | str | None = None) -> None:
        address, port = os.environ["COREBLUETOOTH_ADAPTER"].removeprefix("tcp:").rsplit(":", 1)
        self.socket = socket.create_connection((address, int(port)))
        self.socket.setblocking(False)
        self.used.append(self.socket)
        self.parser = PacketParser()
        asyncio.get_running_loop().add_reader(self.socket, self._receive)

    def set_packet_sink(self, sink: TransportSink) -> None:
        self.parser.sink = sink

    def on_packet(self, packet: bytes) -> None:
        self.socket.sendall(packet)

    def _receive(self) -> None:
        if octets := self.socket.recv(65536):
            self.parser.feed_data(octets)
        else:
            asyncio.get_running_loop().remove_reader(self.socket)


async def pause() -> None:
    await asyncio.sleep(PAUSE)


advertise = Device.start_advertising


async def start_advertising(self: Device, *arguments, advertising_interval_min: float | None = None, **options) -> None:
    interval = max(20.0, advertising_interval_min or self.advertising_interval_min)
    await advertise(self, *arguments, advertising_interval_min=interval, **options)


Device.start_advertising = start_advertising
test_utils.Controller = Controller
test_utils.async_barrier = pause


@pytest.fixture(autouse=True)
def closed_controllers():
    yield
    while Controller.used:
        Controller.used.pop().close()
