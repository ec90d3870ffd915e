"""CoreBluetooth programs on all airs: our host over foreign controllers, and foreign hosts beside ours over our controllers.

The program is `App`: its lines are what it has seen.
"""

import pytest
from bumble import core, data_types
from bumble.att import ATT_Error
from bumble.core import AdvertisingData
from bumble.device import Connection, Device, Peer
from bumble.gatt import GATT_CHARACTERISTIC_USER_DESCRIPTION_DESCRIPTOR
from bumble.pairing import PairingConfig
from support import gatt_service as service
from support.gatt_service import Server
from support.hosts import User, disconnected
from support.waiting import PATIENCE, Events, soon

POWERED_ON, RESETTING = 5, 1

IO = User.IoCapability


def pairing(sc: bool = True) -> PairingConfig:
    """Just Works: what a program can do that nobody sits before."""
    return PairingConfig(
        sc, mitm=False, bonding=True, delegate=User(IO.NO_OUTPUT_NO_INPUT),
        identity_address_type=PairingConfig.AddressType.RANDOM)  # fmt: skip


async def bumble_server(host, **options):
    """A server of Bumble's that advertises the service, again after each connection."""
    server = Server()
    advertising = AdvertisingData([
        data_types.Flags(AdvertisingData.Flags.LE_GENERAL_DISCOVERABLE_MODE),
        data_types.CompleteListOf128BitServiceUUIDs([service.SERVICE]),
        data_types.CompleteLocalName("interop")])  # fmt: skip
    peripheral = await host("interop", services=[server.service], **options)
    server.device = peripheral.device
    await soon(peripheral.device.start_advertising(advertising_data=bytes(advertising), auto_restart=True))
    return peripheral, server


async def goes_through_with_it(central) -> None:
    """A CoreBluetooth central is powered on, and uses the whole service."""
    await central.line(f"^state {POWERED_ON}$")
    await uses_everything(central)


async def uses_open_values(
    central, long: bytes = service.LONG_VALUE, name: str = "interop", seconds: float = PATIENCE
) -> None:
    """A CoreBluetooth central finds the service, and uses all of it that needs no pairing."""
    await central.line(f"^discovered {name}$", seconds)
    await central.line("^connected$", seconds)
    await central.line(f"^service {str(service.SERVICE).split(' ')[0].upper()}", seconds)
    await central.line(f"^description {service.DESCRIPTION}$", seconds)
    await central.line(f"^value fixed {service.FIXED_VALUE.hex()}$", seconds)
    await central.line("^subscribed events$", seconds)
    await central.line("^subscribed changes$", seconds)
    await central.line(f"^value long {long.hex()}$", seconds)
    await central.line("^written long$", seconds)
    await central.line(f"^value long {long[::-1].hex()}$", seconds)
    await central.line("^rssi ", seconds)
    # Both between the subscriptions and the long value, in any order.
    for name in ("events", "changes"):
        assert f"value {name} {b'ping'.hex()}" in central.output.all


async def uses_everything(
    central, long: bytes = service.LONG_VALUE, name: str = "interop", seconds: float = PATIENCE
) -> None:
    """A CoreBluetooth central finds the service, uses all of it, pairs on the way, comes back by its bond and ends."""
    await uses_open_values(central, long, name, seconds)
    await central.line(f"^value protected {service.PROTECTED_VALUE.hex()}$", seconds)
    await central.line("^disconnected$", seconds)
    await central.line("^connected$", seconds)
    await central.line(f"^value protected {service.PROTECTED_VALUE.hex()}$", seconds)
    await central.line("^disconnected$", seconds)
    assert await central.exit(seconds) == 0


@pytest.mark.parametrize("sc", [False, True], ids=["legacy", "secure connections"])
async def test_central_uses_foreign_server(air, host, start, sc):
    _, server = await bumble_server(host, pairing=pairing(sc))
    await goes_through_with_it(await start("interop-app", "central"))
    written = server.written.all
    assert (service.CONTROL, b"ping") in written
    assert [value for uuid, value in written if uuid == service.COMMAND] == [bytes([number]) for number in range(10)]
    assert server.long == service.LONG_VALUE[::-1]


async def test_bond_of_central_serves_its_next_run(air, host, start, tmp_path):
    peripheral, server = await bumble_server(host, pairing=pairing())
    pairings = Events("pairings")
    peripheral.device.on(
        Device.EVENT_CONNECTION, lambda connection: connection.on(Connection.EVENT_PAIRING, pairings.add))
    for _ in range(2):
        server.long = service.LONG_VALUE
        await goes_through_with_it(await start("interop-app", "central", COREBLUETOOTH_BONDS=str(tmp_path)))
    assert len(peripheral.connected.all) == 4
    assert len(pairings.all) == 1


class Client:
    """A client of Bumble's, connected to the peripheral of the program, and what it has found there."""

    def __init__(self, central, connection) -> None:
        self.central, self.connection = central, connection
        self.peer = Peer(connection)

    @classmethod
    async def connect(cls, central) -> "Client":
        advertisement = await central.find("interop")
        client = cls(central, await central.connect(advertisement.address))
        await soon(client.peer.discover_all())
        return client

    def __getitem__(self, uuid: core.UUID):
        return self.peer.get_characteristics_by_uuid(uuid)[0]


async def test_peripheral_serves_foreign_client(air, host, start):
    app = await start("interop-app", "peripheral", "interop")
    await app.line("^advertising$")
    client = await Client.connect(await host("central", pairing=pairing()))
    description = client[service.FIXED].get_descriptor(GATT_CHARACTERISTIC_USER_DESCRIPTION_DESCRIPTOR)
    assert await soon(description.read_value()) == service.DESCRIPTION.encode()
    assert await soon(client[service.FIXED].read_value()) == service.FIXED_VALUE

    notified, indicated = Events("notified"), Events("indicated")
    await soon(client[service.EVENTS].subscribe(notified.add))
    await app.line("^subscribed events")
    await soon(client[service.CHANGES].subscribe(indicated.add, prefer_notify=False))
    await app.line("^subscribed changes")
    for value in (b"one", b"two"):
        await soon(client[service.CONTROL].write_value(value, with_response=True))
        assert await notified.next() == value
        assert await indicated.next() == value
    await soon(client[service.EVENTS].unsubscribe())
    await app.line("^unsubscribed events")

    for number in range(20):
        await soon(client[service.COMMAND].write_value(bytes([number])))
    for number in range(20):
        await app.line(f"^written command 0 {number:02x}$")


@pytest.mark.parametrize("mtu", [23, 517])
async def test_peripheral_serves_long_value(air, host, start, mtu):
    app = await start("interop-app", "peripheral", "interop")
    await app.line("^advertising$")
    client = await Client.connect(await host("central"))
    if mtu > 23:
        assert await soon(client.peer.request_mtu(mtu)) == mtu
    assert await soon(client[service.LONG].read_value()) == service.LONG_VALUE
    await soon(client[service.LONG].write_value(service.LONG_VALUE[::-1], with_response=True))
    assert await soon(client[service.LONG].read_value()) == service.LONG_VALUE[::-1]


@pytest.mark.parametrize("sc", [False, True], ids=["legacy", "secure connections"])
async def test_peripheral_pairs_with_foreign_client(air, host, start, sc):
    app = await start("interop-app", "peripheral", "interop")
    await app.line("^advertising$")
    central = await host("central", pairing=pairing(sc))
    client = await Client.connect(central)
    with pytest.raises(ATT_Error):
        await soon(client[service.PROTECTED].read_value())
    await soon(client.connection.pair())
    assert await soon(client[service.PROTECTED].read_value()) == service.PROTECTED_VALUE
    await disconnected(client.connection)

    client = await Client.connect(central)
    await soon(client.connection.encrypt())
    assert await soon(client[service.PROTECTED].read_value()) == service.PROTECTED_VALUE


async def test_two_programs_meet(air, start):
    peripheral = await start("interop-app", "peripheral", "interop")
    await peripheral.line("^advertising$")
    await goes_through_with_it(await start("interop-app", "central"))


@pytest.mark.not_over(air="bumble", because="its controller tells nobody that a peer has vanished")
async def test_peripheral_takes_next_client_when_one_vanishes(air, host, start):
    app = await start("interop-app", "peripheral", "interop")
    await app.line("^advertising$")
    first = await host("first")
    client = await Client.connect(first)
    await soon(client[service.EVENTS].subscribe(lambda _: None))
    await app.line("^subscribed events")
    await first.close()
    await app.line("^unsubscribed events")
    client = await Client.connect(await host("second"))
    assert await soon(client[service.FIXED].read_value()) == service.FIXED_VALUE


async def test_central_is_told_that_foreign_server_has_gone(air, host, start):
    peripheral, server = await bumble_server(host, pairing=pairing())
    app = await start("interop-app", "central")
    connection = await peripheral.accept()
    await soon(connection.disconnect())
    await app.line("^failed staying connected: 7 ")
    assert await app.exit() == 1


@pytest.mark.not_over(air="rootcanal", because="its program can't be told to let go of one host")
@pytest.mark.not_over(air="ble", because="Tests/ has this in virtual time")
async def test_managers_reset_when_the_controller_goes_away(air, start):
    app = await start("interop-app", "peripheral", "interop")
    await app.line("^advertising$")
    air.let_go()
    await app.line(f"^state {RESETTING}$")
    await app.line(f"^state {POWERED_ON}$")
    # It is as new: the program adds its service and advertises again.
    await app.line("^advertising$")
