"""What `ble air` has beside controllers: speed, Unix sockets, and the verbs that steer it."""

import asyncio
import time

import pytest
from bumble import hci
from bumble.device import AdvertisingSet, Connection, Peer
from support import gatt_service as service
from support.gatt_service import Server
from support.hosts import connected
from support.waiting import Events, events_of, soon
from test_advertising import complete_name, parameters
from test_pairing import METHODS, Couple


async def test_hosts_meet_at_highest_speed(serve, host):
    air = await serve("--speed", "max")
    place = {"endpoint": air.endpoint}
    couple = await Couple.meet(host, METHODS["just works"], mitm=False, central=place, peripheral=place)
    await couple.pair(METHODS["just works"])
    assert await couple.read(service.PROTECTED) == service.PROTECTED_VALUE


async def test_timers_stay_true_while_the_air_is_idle_at_highest_speed(serve, host):
    air = await serve("--speed", "max")
    peripheral = await host("peripheral", endpoint=air.endpoint)
    advertising = await soon(peripheral.device.create_advertising_set(
        parameters(), advertising_data=complete_name("peripheral"), auto_start=False))
    ended = events_of(advertising, AdvertisingSet.EVENT_TERMINATION)
    begin = time.monotonic()
    await soon(advertising.start(duration=0.5))
    await ended.next()
    assert time.monotonic() - begin >= 0.45


async def test_hosts_join_at_tcp_and_unix_sockets(serve, host, tmp_path_factory):
    path = tmp_path_factory.mktemp("air") / "hci"
    air = await serve("--hci", f"unix:{path}")
    await connected(await host("central", endpoint=air.endpoint), await host("peripheral", endpoint=str(path)))


async def test_burst_of_notifications_with_few_buffers(serve, host):
    air = await serve("--acl-buffers", 1)
    server = Server()
    central = await host("central", endpoint=air.endpoint)
    peripheral = await host("peripheral", endpoint=air.endpoint, services=[server.service])
    outgoing, _ = await connected(central, peripheral)
    peer = Peer(outgoing)
    await soon(peer.discover_all())
    notified = Events("notified")
    await soon(peer.get_characteristics_by_uuid(service.EVENTS)[0].subscribe(notified.add))
    for number in range(20):
        await soon(peripheral.device.notify_subscribers(server.events, bytes([number])))
    for number in range(20):
        assert await notified.next() == bytes([number])


async def test_radio_that_is_switched_off_ends_connections(serve, host):
    air = await serve()
    central, peripheral = [await host(name, endpoint=air.endpoint) for name in ("central", "peripheral")]
    outgoing, incoming = await connected(central, peripheral)
    # A link is established with its first packet from the peer.
    await soon(outgoing.get_remote_le_features())
    lost = [events_of(connection, Connection.EVENT_DISCONNECTION) for connection in (outgoing, incoming)]
    devices = (await air.ask("devices")).splitlines()[1:]
    assert len(devices) == 2
    name = devices[1].split("  ")[0]
    await air.ask("radio", name, "off")
    for events in lost:
        assert (await events.next())[1][0] == hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR
    await air.ask("radio", name, "on")
    await connected(central, peripheral)


@pytest.mark.parametrize(
    "garbage", [b"\xff" * 100, b"\x01\x03\x0c\xff" + b"\x00" * 10, b"\x02\x00\x00\xff\xff", b"\x01", b""],
    ids=["no packet", "half a command", "data of a giant length", "a type", "nothing"])  # fmt: skip
async def test_host_that_sends_garbage_harms_nobody_else(serve, host, garbage):
    air = await serve()
    central, peripheral = [await host(name, endpoint=air.endpoint) for name in ("central", "peripheral")]
    outgoing, _ = await connected(central, peripheral)
    address, port = air.endpoint.rsplit(":", 1)
    _, writer = await asyncio.open_connection(address, int(port))
    writer.write(garbage)
    await writer.drain()
    writer.close()
    assert await soon(Peer(outgoing).request_mtu(100)) == 100
    await connected(await host("third", endpoint=air.endpoint), await host("fourth", endpoint=air.endpoint))
