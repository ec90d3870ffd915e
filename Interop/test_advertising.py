"""Extended and periodic advertising: Vol 6, Part B, 4.4.2 and Vol 4, Part E, 7.8.52 to 7.8.70."""

import pytest
from bumble import hci
from bumble.core import AdvertisingData
from bumble.device import (
    AdvertisingEventProperties,
    AdvertisingParameters,
    AdvertisingSet,
    AdvertisingType,
    Device,
    PeriodicAdvertisingParameters,
    PeriodicAdvertisingSync,
)
from bumble.hci import Phy
from support.hosts import ADVERTISING_INTERVAL, complete_name
from support.waiting import events_of, soon

no_extended = pytest.mark.not_over(air="bumble", because="its controller sends the same report whatever the set's parameters are")


def parameters(connectable=False, scannable=False, **others) -> AdvertisingParameters:
    return AdvertisingParameters(
        AdvertisingEventProperties(is_connectable=connectable, is_scannable=scannable),
        ADVERTISING_INTERVAL, ADVERTISING_INTERVAL, **others)  # fmt: skip


def long_data(name: str, length: int = 229) -> bytes:
    """A name, and manufacturer data that makes it too long for a legacy advertisement."""
    data = complete_name(name)
    rest = length - len(data) - 4
    return data + bytes([rest + 3, AdvertisingData.Type.MANUFACTURER_SPECIFIC_DATA, 0xFF, 0xFF]) + bytes(
        index % 256 for index in range(rest))


async def test_extended_advertisement_is_heard_whole(air, host):
    central, peripheral = await host("central"), await host("peripheral")
    data = long_data("peripheral")
    await soon(peripheral.device.create_advertising_set(parameters(), advertising_data=data))
    advertisement = await central.find("peripheral")
    assert advertisement.data_bytes == data
    assert advertisement.is_complete and not advertisement.is_legacy


@no_extended
@pytest.mark.parametrize("primary, secondary", [(Phy.LE_1M, Phy.LE_2M), (Phy.LE_CODED, Phy.LE_CODED)], ids=str)
async def test_extended_advertisement_on_other_phys(air, host, primary, secondary):
    central, peripheral = await host("central"), await host("peripheral")
    data = long_data("peripheral")
    await soon(peripheral.device.create_advertising_set(
        parameters(primary_advertising_phy=primary, secondary_advertising_phy=secondary), advertising_data=data))
    advertisement = await central.find("peripheral")
    assert advertisement.data_bytes == data
    assert (advertisement.primary_phy, advertisement.secondary_phy) == (primary, secondary)


@no_extended
async def test_extended_scan_response_is_heard_whole(air, host):
    central, peripheral = await host("central"), await host("peripheral")
    data = long_data("peripheral")
    await soon(peripheral.device.create_advertising_set(parameters(scannable=True), scan_response_data=data))
    await soon(central.device.start_scanning(active=True))
    heard = await central.advertisements.next(lambda event: event[1][0].data_bytes == data)
    assert heard[1][0].is_scan_response


@pytest.mark.parametrize("secondary", [Phy.LE_1M, Phy.LE_2M], ids=str)
async def test_connection_to_extended_advertiser(air, host, secondary):
    central, peripheral = await host("central"), await host("peripheral")
    own = hci.Address("F3:00:00:00:00:01")
    advertising = await soon(peripheral.device.create_advertising_set(
        parameters(connectable=True, secondary_advertising_phy=secondary), random_address=own,
        advertising_data=long_data("peripheral")))  # fmt: skip
    ended = events_of(advertising, AdvertisingSet.EVENT_TERMINATION)
    outgoing = await central.connect(own)
    incoming = await peripheral.accept()
    assert (await ended.next())[1][0] == hci.HCI_SUCCESS
    assert incoming.self_address == own == outgoing.peer_address
    assert await soon(outgoing.get_phy()) == await soon(incoming.get_phy())


@no_extended
async def test_sets_advertise_side_by_side(air, host):
    central, peripheral = await host("central"), await host("peripheral")
    names = {f"set {number}": hci.Address(f"F3:00:00:00:00:{number:02X}") for number in range(3)}
    for sid, (name, address) in enumerate(names.items()):
        await soon(peripheral.device.create_advertising_set(
            parameters(advertising_sid=sid), random_address=address, advertising_data=complete_name(name)))
    for sid, (name, address) in enumerate(names.items()):
        advertisement = await central.find(name)
        assert (advertisement.address, advertisement.sid) == (address, sid)


async def set_that_ends(host, **how) -> hci.HCI_ErrorCode:
    """The status with which a set ends that is started like this."""
    peripheral = await host("peripheral")
    advertising = await soon(peripheral.device.create_advertising_set(
        parameters(), advertising_data=complete_name("peripheral"), auto_start=False))
    ended = events_of(advertising, AdvertisingSet.EVENT_TERMINATION)
    await soon(advertising.start(**how))
    return (await ended.next())[1][0]


@no_extended
async def test_set_ends_after_its_time(air, host):
    assert await set_that_ends(host, duration=0.1) == hci.HCI_ErrorCode.ADVERTISING_TIMEOUT_ERROR


@no_extended
@pytest.mark.not_over(air="rootcanal", because="it says Advertising Timeout, not Limit Reached")
async def test_set_ends_after_its_events(air, host):
    assert await set_that_ends(host, max_advertising_events=3) == hci.HCI_ErrorCode.LIMIT_REACHED_ERROR


@pytest.mark.parametrize(
    "kind", [AdvertisingType.DIRECTED_CONNECTABLE_HIGH_DUTY, AdvertisingType.DIRECTED_CONNECTABLE_LOW_DUTY],
    ids=["high duty cycle", "low duty cycle"])  # fmt: skip
async def test_connection_to_directed_advertiser(air, host, kind):
    central, peripheral = await host("central"), await host("peripheral")
    # Who initiates first hears the 1.28 s of the high duty cycle from their beginning.
    await soon(peripheral.device.start_advertising(kind, target=central.device.random_address))
    outgoing = await central.connect(peripheral.device.random_address)
    assert (await peripheral.accept()).peer_address == central.device.random_address
    assert outgoing.peer_address == peripheral.device.random_address


async def periodic_advertiser(host, data: bytes):
    """A device with a periodic train, and its set."""
    peripheral = await host("peripheral")
    advertising = await soon(peripheral.device.create_advertising_set(
        parameters(advertising_sid=3), advertising_data=complete_name("peripheral"),
        periodic_advertising_parameters=PeriodicAdvertisingParameters(50, 50), periodic_advertising_data=data))
    await soon(advertising.start_periodic())
    return peripheral, advertising


@pytest.mark.not_over(air="bumble", because="nobody is told that a train has ended")
async def test_periodic_train_is_followed_until_it_ends(air, host):
    data = long_data("train", 200)
    peripheral, advertising = await periodic_advertiser(host, data)
    central = await host("central")
    await soon(central.device.start_scanning())
    sync = await soon(central.device.create_periodic_advertising_sync(
        peripheral.device.random_address, 3, sync_timeout=0.5))
    events = events_of(
        sync, PeriodicAdvertisingSync.EVENT_ESTABLISHMENT, PeriodicAdvertisingSync.EVENT_PERIODIC_ADVERTISEMENT,
        PeriodicAdvertisingSync.EVENT_LOSS)  # fmt: skip
    await events.next(lambda event: event[0] == PeriodicAdvertisingSync.EVENT_ESTABLISHMENT)
    for _ in range(3):
        report = await events.next(lambda event: event[0] == PeriodicAdvertisingSync.EVENT_PERIODIC_ADVERTISEMENT)
        assert report[1][0].data_bytes == data
    await soon(advertising.stop_periodic())
    await events.next(lambda event: event[0] == PeriodicAdvertisingSync.EVENT_LOSS)


@pytest.mark.not_over(air="bumble", because="it has no command for it")
async def test_periodic_train_is_transferred(air, host):
    data = complete_name("train")
    peripheral, advertising = await periodic_advertiser(host, data)
    central = await host("central")
    await soon(peripheral.device.start_advertising())
    outgoing = await central.connect(peripheral.device.random_address)
    incoming = await peripheral.accept()
    await soon(central.device.send_sync_command(
        hci.HCI_LE_Set_Periodic_Advertising_Sync_Transfer_Parameters_Command(outgoing.handle, 2, 0, 100, 0)))
    transferred = events_of(central.device, Device.EVENT_PERIODIC_ADVERTISING_SYNC_TRANSFER)
    await soon(advertising.transfer_periodic_info(incoming))
    sync = (await transferred.next())[1][0]
    report = await events_of(sync, PeriodicAdvertisingSync.EVENT_PERIODIC_ADVERTISEMENT).next()
    assert report[1][0].data_bytes == data
