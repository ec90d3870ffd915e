"""The large database of the qualification tests, Examples/Worlds/qualification.yaml, as Bumble's client finds it."""

import pytest
import pytest_asyncio
from bumble.att import ATT_Error
from bumble.core import UUID
from bumble.device import Peer
from support import programs
from support.waiting import soon

WORLD = programs.REPOSITORY / "Examples" / "Worlds" / "qualification.yaml"
VENDOR = "0000{}-0000-0000-0123-456789ABCDEF"

# Handle of the service declaration, and its UUID, in the order of the handles.
SERVICES = [
    (32, "A00A"), (48, "A00B"), (80, "A00B"), (96, "A00B"), (112, "A00B"), (128, "A00B"), (144, VENDOR.format("A00C")),
    (160, "A00F"), (192, VENDOR.format("A00C")),
]  # fmt: skip
# Handle of the declaration of each characteristic, and its UUID, of some of the services.
CHARACTERISTICS = {
    32: [(34, "B001"), (36, "B002"), (38, "B002"), (40, "B003")],
    96: [(97, "B004"), (99, "B004"), (102, "B004"), (105, "B004")],
    160: [(161, "B00E"), (164, "B00F"), (167, "B006"), (170, "B007"), (173, "B010"), (176, "B011")],
    192: [(193, "B00A")] + [(handle, "B002") for handle in range(195, 220, 3)],
}
READ_NOT_PERMITTED, WRITE_NOT_PERMITTED, INSUFFICIENT_AUTHENTICATION, INSUFFICIENT_AUTHORIZATION = 0x02, 0x03, 0x05, 0x08
INSUFFICIENT_ENCRYPTION = 0x0F


@pytest_asyncio.fixture
async def peer(serve, host):
    air = await serve("--world", WORLD)
    central = await host("central", endpoint=air.endpoint)
    advertisement = await central.find("Test Database")
    return Peer(await central.connect(advertisement.address))


async def test_services_and_characteristics_have_the_handles_of_the_file(peer):
    services = [it for it in await soon(peer.discover_services()) if it.handle >= 16 and it.handle < 256]
    assert [(it.handle, it.uuid) for it in services] == [(handle, UUID(uuid)) for handle, uuid in SERVICES]
    for service in services:
        found = await soon(peer.discover_characteristics(service=service))
        if service.handle in CHARACTERISTICS:
            # Bumble names a characteristic by the handle of its value, which follows the declaration.
            assert [(it.handle - 1, it.uuid) for it in found] == [
                (handle, UUID(uuid)) for handle, uuid in CHARACTERISTICS[service.handle]]


async def test_included_services_are_found_though_they_are_secondary_or_come_later(peer):
    services = {it.handle: it for it in await soon(peer.discover_services())}
    included = await soon(peer.discover_included_services(services[32]))
    assert [it.handle for it in included] == [16]


async def read_error(peer, handle):
    with pytest.raises(ATT_Error) as error:
        await soon(peer.gatt_client.read_value(handle, no_long_read=True))
    return error.value.error_code


async def test_each_permission_has_its_error(peer):
    # Values: of 0x0013 after authentication, of 0x0015 after authorization, of 0x0023 after encryption.
    assert await read_error(peer, 19) == INSUFFICIENT_AUTHENTICATION
    assert await read_error(peer, 21) == INSUFFICIENT_AUTHORIZATION
    assert await read_error(peer, 35) in (INSUFFICIENT_AUTHENTICATION, INSUFFICIENT_ENCRYPTION)
    assert await read_error(peer, 39) == READ_NOT_PERMITTED
    # Descriptors: without any permission, and behind the three of the service 0x0080.
    assert await read_error(peer, 104) == READ_NOT_PERMITTED
    assert await read_error(peer, 131) == INSUFFICIENT_AUTHENTICATION
    assert await read_error(peer, 132) == INSUFFICIENT_AUTHORIZATION
    assert await read_error(peer, 133) in (INSUFFICIENT_AUTHENTICATION, INSUFFICIENT_ENCRYPTION)
    with pytest.raises(ATT_Error) as error:
        await soon(peer.gatt_client.write_value(35, b"1", with_response=True))
    assert error.value.error_code == WRITE_NOT_PERMITTED


async def test_long_value_and_values_of_one_uuid_are_told_apart(peer):
    assert len(await soon(peer.gatt_client.read_value(37))) == 512
    values = [bytes(await soon(peer.gatt_client.read_value(handle))) for handle in (196, 199, 202)]
    assert values == [b"111112222233333444445", b"2222233333444445555566", b"33333444445555566666777"]
    await soon(peer.gatt_client.write_value(199, b"new", with_response=True))
    values = [bytes(await soon(peer.gatt_client.read_value(handle))) for handle in (196, 199, 202)]
    assert values == [b"111112222233333444445", b"new", b"33333444445555566666777"]
