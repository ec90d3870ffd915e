"""A client of Bumble's of an accessory of this package."""

from bumble import core
from bumble.device import Peer
from bumble.gatt_client import CharacteristicProxy
from bumble.profiles.battery_service import BatteryServiceProxy
from bumble.profiles.device_information_service import DeviceInformationServiceProxy

from support.hosts import Host
from support.waiting import Events, soon


def uuid(number: int | str) -> core.UUID:
    return core.UUID.from_16_bits(number) if isinstance(number, int) else core.UUID(number)


class ProfileClient:
    """A connection to an accessory, whose services have been discovered. Services and characteristics are named by their
    assigned numbers, or by UUIDs of 128 bits as text."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    @classmethod
    async def connect(cls, central: Host, name: str) -> "ProfileClient":
        advertisement = await central.find(name)
        client = cls(Peer(await central.connect(advertisement.address)))
        # As centrals usually do: some values are too long for the smallest ATT_MTU.
        await soon(client.peer.request_mtu(100))
        await soon(client.peer.discover_all())
        return client

    def characteristic(self, service: int | str, number: int | str, instance: int = 0) -> CharacteristicProxy:
        found = self.peer.get_characteristics_by_uuid(uuid(number), uuid(service))
        assert len(found) > instance, f"service {uuid(service)} has {len(found)} characteristics {uuid(number)}"
        return found[instance]

    async def read(self, service: int | str, number: int | str) -> bytes:
        return bytes(await soon(self.characteristic(service, number).read_value()))

    async def write(self, service: int | str, number: int | str, value: bytes, with_response: bool = True) -> None:
        await soon(self.characteristic(service, number).write_value(value, with_response=with_response))

    async def subscribe(self, service: int | str, number: int | str) -> Events:
        """The values that are notified or indicated."""
        values = Events(f"values of {uuid(number)}")
        await soon(self.characteristic(service, number).subscribe(lambda value: values.add(bytes(value))))
        return values

    async def unsubscribe(self, service: int, number: int) -> None:
        await soon(self.characteristic(service, number).unsubscribe(force=True))

    async def control_point(self, service: int, number: int) -> "ControlPoint":
        return ControlPoint(self, service, number, await self.subscribe(service, number))

    async def battery_level(self) -> int:
        battery = await soon(self.peer.discover_service_and_create_proxy(BatteryServiceProxy))
        return await soon(battery.battery_level.read_value())

    async def names(self) -> tuple[str | None, str | None]:
        """The manufacturer and the model."""
        information = await soon(self.peer.discover_service_and_create_proxy(DeviceInformationServiceProxy))
        return tuple([
            await soon(value.read_value()) if value else None
            for value in (information.manufacturer_name, information.model_number)
        ])


class ControlPoint:
    """A characteristic to which commands are written, and whose responses are indicated."""

    def __init__(self, client: ProfileClient, service: int, number: int, responses: Events) -> None:
        self.client, self.service, self.number, self.responses = client, service, number, responses

    async def begin(self, *command: int) -> None:
        await self.client.write(self.service, self.number, bytes(command))

    async def response(self) -> bytes:
        return await self.responses.next()

    async def perform(self, *command: int) -> bytes:
        await self.begin(*command)
        return await self.response()
