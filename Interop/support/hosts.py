"""Bumble as a host on an air."""

import asyncio
import socket
from pathlib import Path

from bumble import core, data_types, hci
from bumble.core import AdvertisingData
from bumble.device import Connection, ConnectionParametersPreferences, Device, DeviceConfiguration
from bumble.keys import MemoryKeyStore, PairingKeys
from bumble.pairing import PairingDelegate
from bumble.snoop import BtSnooper
from bumble.transport.common import StreamPacketSink, StreamPacketSource, Transport

from support.waiting import Events, events_of, soon

# Milliseconds. Short, so that nobody waits long for an advertisement.
ADVERTISING_INTERVAL = 30.0


class PromptSource(StreamPacketSource):
    """Acknowledges at once what it gets. RootCanal writes a packet in two pieces and leaves Nagle's algorithm on: the second one
    waits for the acknowledgement of the first one, 40 ms if the system is left to decide when."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.socket = transport.get_extra_info("socket")

    def data_received(self, data: bytes) -> None:
        if self.socket.family != socket.AF_UNIX:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        super().data_received(data)

    def connection_lost(self, error: Exception | None) -> None:
        self.on_transport_lost()


async def open_connection(endpoint: str) -> Transport:
    """To HOST:PORT or the path of a Unix socket."""
    loop = asyncio.get_running_loop()
    if endpoint.startswith("/"):
        connection, source = await loop.create_unix_connection(PromptSource, endpoint)
    else:
        address, port = endpoint.rsplit(":", 1)
        connection, source = await loop.create_connection(PromptSource, address, int(port))
    return Transport(source, StreamPacketSink(connection))


class ResponderKeyStore(MemoryKeyStore):
    """Of the two keys of a legacy bond Bumble's responder keeps its own as the central's, but answers with the peripheral's. Here
    they are swapped."""

    async def update(self, name: str, keys: PairingKeys) -> None:
        keys.ltk_central, keys.ltk_peripheral = keys.ltk_peripheral, keys.ltk_central
        await super().update(name, keys)


class Host:
    """A device of Bumble's, and the connection to its controller."""

    def __init__(self, device: Device, transport: Transport, snoop) -> None:
        self.device, self.transport, self._snoop = device, transport, snoop
        self.connected = events_of(device, Device.EVENT_CONNECTION)
        self.advertisements = events_of(device, Device.EVENT_ADVERTISEMENT)

    @classmethod
    async def open(
        cls, endpoint: str, name: str, address: str, snoop: Path | None = None, services=(), pairing=None, **configuration
    ) -> "Host":
        """Powers a new device on. `pairing` is what it says when it pairs. One with services is a responder."""
        transport = await open_connection(endpoint)
        configuration = {"irk": bytes(hci.Address(address)) + bytes(range(10)), **configuration}
        device = Device.from_config_with_hci(
            DeviceConfiguration(
                name=name, address=hci.Address(address), advertising_interval_min=ADVERTISING_INTERVAL,
                advertising_interval_max=ADVERTISING_INTERVAL, advertising_data=complete_name(name), **configuration,
            ),
            transport.source, transport.sink,
        )  # fmt: skip
        file = None
        if snoop:
            file = snoop.open("wb")
            device.host.snooper = BtSnooper(file)
        if pairing:
            device.pairing_config_factory = lambda _: pairing
        if services:
            device.keystore = ResponderKeyStore()
        device.add_services(services)
        host = cls(device, transport, file)
        await soon(device.power_on())
        return host

    async def close(self) -> None:
        await self.transport.close()
        if self._snoop:
            self._snoop.close()

    async def find(self, name: str, **scanning):
        """The first advertisement with this name in it."""
        await soon(self.device.start_scanning(**scanning))
        advertisement = (await self.advertisements.next(lambda event: local_name(event[1][0].data) == name))[1][0]
        await soon(self.device.stop_scanning())
        return advertisement

    async def connect(self, address: hci.Address, **options) -> Connection:
        """Connects, at the shortest interval there is."""
        fast = ConnectionParametersPreferences(connection_interval_min=7.5, connection_interval_max=7.5)
        return await soon(
            self.device.connect(address, connection_parameters_preferences={hci.Phy.LE_1M: fast}, **options))

    async def accept(self) -> Connection:
        """The next connection that somebody else makes."""
        return (await self.connected.next(lambda event: event[1][0].role == hci.Role.PERIPHERAL))[1][0]


async def connected(central: Host, peripheral: Host, **options) -> tuple[Connection, Connection]:
    """A connection between two hosts, as both see it."""
    await soon(peripheral.device.start_advertising())
    address = peripheral.device.random_address
    outgoing = await central.connect(address, **options)
    return outgoing, await peripheral.accept()


async def disconnected(connection: Connection, other: Connection | None = None) -> int:
    """Ends a connection, and the reason that the other side has been given."""
    ended = events_of(other or connection, Connection.EVENT_DISCONNECTION)
    await soon(connection.disconnect())
    return (await ended.next())[1][0]


def complete_name(name: str) -> bytes:
    return bytes(AdvertisingData([data_types.CompleteLocalName(name)]))


def local_name(data: AdvertisingData) -> str | None:
    return data.get(AdvertisingData.Type.COMPLETE_LOCAL_NAME) or data.get(AdvertisingData.Type.SHORTENED_LOCAL_NAME)


class User(PairingDelegate):
    """Who holds a device while it pairs. Numbers that one user is shown go to the other by `tell`."""

    def __init__(self, io: PairingDelegate.IoCapability, name: str = "user", **keys) -> None:
        super().__init__(io, **keys)
        self.name = name
        self.shown = Events(f"{name} was shown")
        self.compared = Events(f"{name} compared")
        self.passkeys = Events(f"{name} was told")
        self.accepts = True
        self.confirms = True

    async def accept(self) -> bool:
        return self.accepts

    async def confirm(self, auto: bool = False) -> bool:
        return self.confirms

    async def compare_numbers(self, number: int, digits: int) -> bool:
        self.compared.add(number)
        return self.confirms

    async def display_number(self, number: int, digits: int) -> None:
        self.shown.add(number)

    async def get_number(self) -> int | None:
        return await self.passkeys.next()


__all__ = ["Host", "User", "complete_name", "connected", "core", "disconnected", "local_name"]
