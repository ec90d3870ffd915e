"""GATT and ATT between two foreign hosts: Vol 3, Part G, 4. What passes the link is theirs, the link is the air's."""

import pytest_asyncio
from bumble.device import Peer
from bumble.gatt import GATT_CHARACTERISTIC_USER_DESCRIPTION_DESCRIPTOR
from support import gatt_service as service
from support.gatt_service import Server
from support.hosts import connected
from support.waiting import Events, soon


@pytest_asyncio.fixture
async def peers(air, host):
    """A client that has discovered everything, and the server."""
    server = Server()
    central, peripheral = await host("central"), await host("peripheral", services=[server.service])
    server.device = peripheral.device
    outgoing, _ = await connected(central, peripheral)
    peer = Peer(outgoing)
    await soon(peer.discover_all())
    return peer, server


def characteristic(peer, uuid):
    return peer.get_characteristics_by_uuid(uuid)[0]


async def test_services_characteristics_and_descriptors_are_discovered(peers):
    peer, _ = peers
    found = peer.get_services_by_uuid(service.SERVICE)[0]
    assert {it.uuid for it in found.characteristics} == {service.uuid(number) for number in range(1, 9)}
    description = characteristic(peer, service.FIXED).get_descriptor(GATT_CHARACTERISTIC_USER_DESCRIPTION_DESCRIPTOR)
    assert await soon(description.read_value()) == service.DESCRIPTION.encode()


async def test_value_is_read(peers):
    peer, _ = peers
    assert await soon(characteristic(peer, service.FIXED).read_value()) == service.FIXED_VALUE


async def test_value_is_written(peers):
    peer, server = peers
    await soon(characteristic(peer, service.CONTROL).write_value(b"one", with_response=True))
    assert await server.written.next() == (service.CONTROL, b"one")


async def test_values_written_without_response_arrive_in_order(peers):
    peer, server = peers
    for number in range(100):
        await soon(characteristic(peer, service.COMMAND).write_value(bytes([number])))
    for number in range(100):
        assert await server.written.next() == (service.COMMAND, bytes([number]))


async def test_long_value_is_read_and_written_in_parts(peers):
    peer, server = peers
    long = characteristic(peer, service.LONG)
    assert await soon(long.read_value()) == service.LONG_VALUE
    await soon(long.write_value(service.LONG_VALUE[::-1], with_response=True))
    assert server.long == service.LONG_VALUE[::-1]


async def test_long_value_is_read_at_once_with_larger_mtu(peers):
    peer, _ = peers
    assert await soon(peer.request_mtu(517)) == 517
    assert await soon(characteristic(peer, service.LONG).read_value()) == service.LONG_VALUE


async def test_notifications_and_indications_arrive_until_unsubscribed(peers):
    peer, server = peers
    notified, indicated = Events("notified"), Events("indicated")
    events, changes = characteristic(peer, service.EVENTS), characteristic(peer, service.CHANGES)
    await soon(events.subscribe(notified.add))
    await soon(changes.subscribe(indicated.add, prefer_notify=False))
    control = characteristic(peer, service.CONTROL)
    for number in range(10):
        await soon(control.write_value(bytes([number]), with_response=True))
        assert await notified.next() == bytes([number])
        assert await indicated.next() == bytes([number])
    await soon(events.unsubscribe())
    await soon(control.write_value(b"last", with_response=True))
    assert await indicated.next() == b"last"
    assert len(notified.all) == 10


async def test_burst_of_notifications_arrives_whole(peers):
    peer, server = peers
    await soon(peer.request_mtu(247))
    notified = Events("notified")
    await soon(characteristic(peer, service.EVENTS).subscribe(notified.add))
    values = [bytes([number]) * 200 for number in range(200)]
    for value in values:
        await soon(server.device.notify_subscribers(server.events, value))
    for value in values:
        assert await notified.next() == value
