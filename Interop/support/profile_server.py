"""Servers of the standard profiles on a device of Bumble's, assembled from the specifications."""

import asyncio
from collections.abc import Callable

from bumble import core, data_types
from bumble.att import Attribute
from bumble.core import AdvertisingData
from bumble.gatt import Characteristic, Service

from support.hosts import Host
from support.waiting import soon

P = Characteristic.Properties


def uuid(number: int) -> core.UUID:
    return core.UUID.from_16_bits(number)


class ProfileServer:
    """Characteristics by their assigned numbers."""

    def __init__(self) -> None:
        self.services: list[Service] = []
        self.host: Host | None = None
        self._tasks: set[asyncio.Future] = set()

    def add(self, number: int, *characteristics: Characteristic) -> None:
        self.services.append(Service(uuid(number), list(characteristics)))

    def sent(self, number: int, properties: P, *values: bytes, base: Characteristic | None = None) -> Characteristic:
        """A characteristic whose values a client gets when it subscribes."""
        result = base or Characteristic(uuid(number), properties, Attribute.Permissions(0), b"")

        def subscribed(_, notifies: bool, indicates: bool) -> None:
            if notifies or indicates:
                self.later(lambda: self.send(result, *values))

        result.on(Characteristic.EVENT_SUBSCRIPTION, subscribed)
        return result

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

    async def start(self, host, endpoint: str, advertised: int, **options) -> None:
        self.host = await host("server", endpoint=endpoint, services=self.services, **options)
        advertising = AdvertisingData([
            data_types.Flags(AdvertisingData.Flags.LE_GENERAL_DISCOVERABLE_MODE),
            data_types.IncompleteListOf16BitServiceUUIDs([uuid(advertised)]),
            data_types.CompleteLocalName("server")])  # fmt: skip
        await soon(self.host.device.start_advertising(advertising_data=bytes(advertising), auto_restart=True))
