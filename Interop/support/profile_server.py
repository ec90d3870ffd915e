"""Servers of the standard profiles on a device of Bumble's, assembled from the specifications."""

import asyncio
from collections.abc import Callable

from bumble import core, data_types
from bumble.att import Attribute, AttributeValue
from bumble.core import AdvertisingData
from bumble.gatt import Characteristic, Descriptor, Service

from support.hosts import Host
from support.waiting import Events, soon

P = Characteristic.Properties


def uuid(number: int) -> core.UUID:
    return core.UUID.from_16_bits(number)


class ProfileServer:
    """Characteristics by their assigned numbers. What clients write is in `written`: (number, value)."""

    def __init__(self) -> None:
        self.written = Events("written")
        self.services: list[Service] = []
        self.host: Host | None = None
        self._tasks: set[asyncio.Future] = set()

    def add(self, number: int, *characteristics: Characteristic) -> None:
        self.services.append(Service(uuid(number), list(characteristics)))

    def value(
        self, number: int, value: bytes | Callable[[], bytes], properties: P = P.READ, descriptors=(),
        permissions=Attribute.READABLE,
    ) -> Characteristic:  # fmt: skip
        """A characteristic that is read."""
        read = value if isinstance(value, bytes) else AttributeValue(read=lambda _: value())
        return Characteristic(uuid(number), properties, permissions, read, list(descriptors))

    def sent(self, number: int, properties: P, *values: bytes, base: Characteristic | None = None) -> Characteristic:
        """A characteristic whose values a client gets when it subscribes."""
        result = base or Characteristic(uuid(number), properties, Attribute.Permissions(0), b"")

        def subscribed(_, notifies: bool, indicates: bool) -> None:
            if notifies or indicates:
                self.later(lambda: self.send(result, *values))

        result.on(Characteristic.EVENT_SUBSCRIPTION, subscribed)
        return result

    def command(self, number: int, properties: P = P.WRITE_WITHOUT_RESPONSE, permissions=Attribute.WRITEABLE):
        """A characteristic that takes commands without an answer."""
        write = AttributeValue(write=lambda _, value: self.written.add((number, bytes(value))))
        return Characteristic(uuid(number), properties, permissions, write)

    def control_point(self, number: int, answer: Callable[[bytes], bytes | None]) -> Characteristic:
        """A characteristic whose responses are indicated: what `answer` returns for a command."""

        def written(_, value: bytes) -> None:
            self.written.add((number, bytes(value)))
            self.later(lambda: self._respond(result, answer(bytes(value))))

        result = Characteristic(uuid(number), P.WRITE | P.INDICATE, Attribute.WRITEABLE, AttributeValue(write=written))
        return result

    async def _respond(self, characteristic: Characteristic, response: bytes | None) -> None:
        if response is not None:
            await self.send(characteristic, response)

    async def send(self, characteristic: Characteristic, *values: bytes) -> None:
        for value in values:
            if characteristic.properties & P.INDICATE:
                await self.host.device.indicate_subscribers(characteristic, value)
            else:
                await self.host.device.notify_subscribers(characteristic, value)

    def later(self, body: Callable) -> None:
        """Does it after the response to the request that is being served."""

        def begin() -> None:
            task = asyncio.ensure_future(body())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        asyncio.get_running_loop().call_later(0.02, begin)

    async def start(self, host, endpoint: str, advertised: int | core.UUID, **options) -> None:
        self.host = await host("server", endpoint=endpoint, services=self.services, **options)
        assigned = isinstance(advertised, int)
        services = (
            data_types.IncompleteListOf16BitServiceUUIDs([uuid(advertised)]) if assigned else
            data_types.IncompleteListOf128BitServiceUUIDs([advertised]))  # fmt: skip
        advertising = AdvertisingData([
            data_types.Flags(AdvertisingData.Flags.LE_GENERAL_DISCOVERABLE_MODE), services,
            data_types.CompleteLocalName("server")])  # fmt: skip
        await soon(self.host.device.start_advertising(advertising_data=bytes(advertising), auto_restart=True))


def report_reference(report: int, kind: int) -> Descriptor:
    return Descriptor(uuid(0x2908), Attribute.READABLE, bytes([report, kind]))
