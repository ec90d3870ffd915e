"""Resolvable private addresses, made and resolved by hosts and by controllers: Vol 6, Part B, 6."""

import pytest
from bumble import hci
from bumble.hci import OwnAddressType
from support.hosts import disconnected
from support.waiting import soon
from test_pairing import METHODS, Couple

METHOD = METHODS["just works"]
no_resolving = pytest.mark.not_over(air="bumble", because="its controller claims LL privacy, and does nothing for it")
no_identities = pytest.mark.not_over(
    air="rootcanal", because="it resolves, but calls identity addresses device addresses (0x01, not 0x03)")
PRIVATE = {"le_privacy_enabled": True}


async def take_new_address(host) -> hci.Address:
    """Gives a private device its next address."""
    address = hci.Address.generate_private_address(host.device.irk)
    await soon(host.device.send_sync_command(hci.HCI_LE_Set_Random_Address_Command(random_address=address)))
    host.device.random_address = address
    return address


async def bonded(host, **options) -> Couple:
    """Two devices that have bonded and let go of each other."""
    couple = await Couple.meet(host, METHOD, mitm=False, **options)
    await couple.pair(METHOD)
    await disconnected(couple.outgoing, couple.incoming)
    return couple


async def test_private_devices_know_each_other_at_new_addresses(air, host):
    couple = await bonded(host, central=PRIVATE, peripheral=PRIVATE)
    first = couple.outgoing.peer_resolvable_address or couple.outgoing.peer_address
    await take_new_address(couple.central)
    second = await take_new_address(couple.peripheral)
    assert first != second
    identity = couple.peripheral.device.static_address
    await soon(couple.peripheral.device.start_advertising())
    outgoing = await couple.central.connect(identity)
    incoming = await couple.peripheral.accept()
    assert outgoing.peer_address == identity and outgoing.peer_resolvable_address == second
    assert incoming.peer_address == couple.central.device.static_address
    await soon(outgoing.encrypt())
    assert outgoing.is_encrypted


@no_resolving
@no_identities
async def test_controller_resolves_address_of_peer_that_it_connects_to(air, host):
    couple = await bonded(host, central={"address_resolution_offload": True}, peripheral=PRIVATE)
    private = await take_new_address(couple.peripheral)
    identity = couple.peripheral.device.static_address
    await soon(couple.peripheral.device.start_advertising())
    outgoing = await couple.central.connect(identity)
    assert outgoing.peer_address == identity
    assert outgoing.peer_resolvable_address == private
    await soon(outgoing.encrypt())
    assert outgoing.is_encrypted


@no_identities
async def test_controller_resolves_address_of_peer_that_connects(air, host):
    couple = await bonded(host, central=PRIVATE, peripheral={"address_resolution_offload": True})
    private = await take_new_address(couple.central)
    await soon(couple.peripheral.device.start_advertising())
    await couple.central.connect(couple.peripheral.device.random_address)
    incoming = await couple.peripheral.accept()
    assert incoming.peer_address == couple.central.device.static_address
    assert incoming.peer_resolvable_address == private


@no_resolving
@no_identities
async def test_controller_resolves_advertiser_for_scanner(air, host):
    couple = await bonded(host, central={"address_resolution_offload": True}, peripheral=PRIVATE)
    await take_new_address(couple.peripheral)
    await soon(couple.peripheral.device.start_advertising())
    advertisement = await couple.central.find("peripheral")
    assert advertisement.address == couple.peripheral.device.static_address
    assert advertisement.address.is_resolved


@no_resolving
@pytest.mark.not_over(air="rootcanal", because="it takes no new address while a set advertises")
async def test_controller_makes_addresses_and_changes_them_in_time(air, host):
    couple = await bonded(host, peripheral={"address_generation_offload": True})
    device = couple.peripheral.device
    await soon(device.send_sync_command(hci.HCI_LE_Set_Resolvable_Private_Address_Timeout_Command(rpa_timeout=1)))
    await soon(device.send_sync_command(hci.HCI_LE_Set_Address_Resolution_Enable_Command(address_resolution_enable=1)))
    await soon(device.start_advertising(own_address_type=OwnAddressType.RESOLVABLE_OR_RANDOM))
    await soon(couple.central.device.start_scanning())
    seen: set[hci.Address] = set()

    def is_new(event) -> bool:
        address = event[1][0].address
        if not address.is_resolvable or address in seen:
            return False
        seen.add(address)
        return True

    for _ in range(2):
        address = (await couple.central.advertisements.next(is_new))[1][0].address
        assert couple.central.device.address_resolver.resolve(address) == device.static_address


@no_resolving
async def test_controller_connects_from_an_address_of_its_own_making(air, host):
    couple = await bonded(
        host, central={"address_generation_offload": True, "address_resolution_offload": True}, peripheral=PRIVATE)
    device = couple.central.device
    await soon(couple.peripheral.device.start_advertising())
    outgoing = await couple.central.connect(
        couple.peripheral.device.static_address, own_address_type=OwnAddressType.RESOLVABLE_OR_RANDOM)
    incoming = await couple.peripheral.accept()
    assert outgoing.self_resolvable_address == incoming.peer_resolvable_address
    assert outgoing.self_resolvable_address.is_resolvable
    assert incoming.peer_address == device.static_address


@no_resolving
async def test_peer_in_device_privacy_mode_may_use_its_identity_address(air, host):
    couple = await bonded(host, central={"address_resolution_offload": True})
    identity = couple.peripheral.device.static_address
    await soon(couple.central.device.send_sync_command(hci.HCI_LE_Set_Privacy_Mode_Command(
        peer_identity_address_type=hci.Address.RANDOM_DEVICE_ADDRESS, peer_identity_address=identity, privacy_mode=1)))
    await soon(couple.peripheral.device.start_advertising())
    outgoing = await couple.central.connect(identity)
    assert outgoing.peer_address == identity and outgoing.peer_resolvable_address is None
