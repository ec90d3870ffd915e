"""What other hosts than Bumble's do to a controller: the Linux kernel, BTstack and NimBLE. They are not here; what they send is."""

import pytest
import pytest_asyncio
from bumble.hci import Address, LeFeatureMask
from bumble.l2cap import L2CAP_PDU
from support.raw_host import DISCONNECTION_COMPLETE, RawHost

NO_BREDR, LE_SUPPORTED, EXTENDED_FEATURES = 1 << 37, 1 << 38, 1 << 63
CONNECTION_COMPLETE, ENHANCED_CONNECTION_COMPLETE, ENHANCED_CONNECTION_COMPLETE_V2 = 0x01, 0x0A, 0x29


@pytest_asyncio.fixture
async def raw(air):
    """Makes hosts: `await raw(…)`, with what `RawHost.open` takes."""
    hosts: list[RawHost] = []

    async def open_host(**options) -> RawHost:
        hosts.append(await RawHost.open(air.endpoint, **options))
        return hosts[-1]

    yield open_host
    for host in hosts:
        host.close()


async def start_as_linux(host: RawHost) -> LeFeatureMask:
    """The kernel's initialization of an LE controller, in its order. What stands behind `if_supported` it sends only where the
    supported commands or a feature say so; every command has to succeed, or the adapter does not come up."""
    await host.command(0x0C03)
    lmp = int.from_bytes(await host.command(0x1003), "little")
    assert lmp & LE_SUPPORTED
    await host.command(0x1001)
    assert any(await host.command(0x1009)), "an address of zeros is refused"
    host.supported = await host.command(0x1002)
    if lmp & EXTENDED_FEATURES:
        last = (await host.command(0x1004, b"\x01"))[1]
        for page in range(2, last + 1):
            await host.command(0x1004, bytes([page]))
    features = LeFeatureMask(int.from_bytes(await host.command(0x2003), "little"))
    buffers = await host.if_supported(0x2060) or await host.command(0x2002)
    assert int.from_bytes(buffers[:2], "little") >= 27 and buffers[2] > 0
    if not lmp & NO_BREDR:
        # The rest of what it asks a dual-mode controller is about BR/EDR.
        await host.command(0x1005)
        await host.command(0x0C6D, b"\x01\x00")
    await host.command(0x201C)
    await host.command(0x0C01, bytes.fromhex("90e8040200800020"))
    extended = bool(features & LeFeatureMask.LE_EXTENDED_ADVERTISING)
    mask = 0x1F
    for feature, bits in {
        LeFeatureMask.CONNECTION_PARAMETERS_REQUEST_PROCEDURE: 1 << 5,
        LeFeatureMask.LE_DATA_PACKET_LENGTH_EXTENSION: 1 << 6,
        LeFeatureMask.LL_PRIVACY: 1 << 9,
        LeFeatureMask.LE_2M_PHY: 1 << 11,
        LeFeatureMask.LE_EXTENDED_ADVERTISING: 1 << 9 | 1 << 12 | 1 << 17,
        LeFeatureMask.CHANNEL_SELECTION_ALGORITHM_2: 1 << 19,
    }.items():  # fmt: skip
        mask |= bits if features & feature else 0
    await host.command(0x2001, mask.to_bytes(8, "little"))
    if not extended:
        await host.if_supported(0x2007)
    await host.if_supported(0x204B)
    await host.if_supported(0x200F)
    await host.if_supported(0x2010)
    await host.if_supported(0x202A)
    await host.if_supported(0x2029)
    await host.if_supported(0x202E, (900).to_bytes(2, "little"))
    if features & LeFeatureMask.LE_DATA_PACKET_LENGTH_EXTENSION:
        await host.if_supported(0x202F)
        await host.if_supported(0x2023)
    if extended:
        await host.if_supported(0x203B)
    await host.if_supported(0x0C63, bytes(8))
    if features & LeFeatureMask.LE_DATA_PACKET_LENGTH_EXTENSION:
        await host.if_supported(0x2024, bytes.fromhex("fb004808"))
    await host.if_supported(0x2031, bytes.fromhex("000303" if features & LeFeatureMask.LE_2M_PHY else "030000"))
    return features


async def start_plainly(host: RawHost, address: str) -> None:
    """As little as a host needs that uses no extended commands."""
    await host.command(0x0C03)
    await host.command(0x0C01, bytes.fromhex("ffffffffffffff3f"))
    await host.command(0x2001, bytes.fromhex("1f00000000000000"))
    await host.command(0x2005, bytes(Address(address)))


async def connection(central: RawHost, peripheral: RawHost, address: str) -> tuple[int, int]:
    """The handles of a connection, made by the legacy commands."""
    await peripheral.command(0x2006, bytes.fromhex("30003000 00 01 00 000000000000 07 00".replace(" ", "")))
    await peripheral.command(0x200A, b"\x01")
    await central.command(
        0x200D, bytes.fromhex("60006000 00 01".replace(" ", "")) + bytes(Address(address))
        + bytes.fromhex("01 0600 0600 0000 c800 0000 0000".replace(" ", "")))  # fmt: skip
    handles = []
    for host in (central, peripheral):
        event = await host.le_event(CONNECTION_COMPLETE)
        assert event[1] == 0
        handles.append(int.from_bytes(event[2:4], "little"))
    return handles[0], handles[1]


FIRST, SECOND = "F0:F1:F2:F3:F4:01", "F0:F1:F2:F3:F4:02"


async def test_linux_initializes_controller(air, raw):
    await start_as_linux(await raw())


@pytest.mark.not_over(air="bumble", because="it claims extended advertising, and says LE Connection Complete (0x01) all the same")
async def test_linux_gets_the_connection_complete_event_that_it_unmasks(air, raw):
    central, peripheral = await raw(), await raw()
    for host, address in ((central, FIRST), (peripheral, SECOND)):
        features = await start_as_linux(host)
        await host.command(0x2005, bytes(Address(address)))
    if not features & LeFeatureMask.LE_EXTENDED_ADVERTISING:
        return
    # As BlueZ advertises: a set with a random address of its own, the legacy PDUs, connectable.
    await peripheral.command(
        0x2036, bytes.fromhex("01 1300 300000 300000 07 01 00 000000000000 00 7f 01 00 01 00 00".replace(" ", "")))
    await peripheral.command(0x2035, b"\x01" + bytes(Address(SECOND)))
    await peripheral.command(0x2039, bytes.fromhex("0101 01 0000 00".replace(" ", "")))
    await central.command(
        0x2043, bytes.fromhex("00 01 01".replace(" ", "")) + bytes(Address(SECOND))
        + bytes.fromhex("01 6000 6000 1800 2800 0000 2a00 0000 0000".replace(" ", "")))  # fmt: skip
    for host in (central, peripheral):
        event = await host.le_event(
            CONNECTION_COMPLETE, ENHANCED_CONNECTION_COMPLETE, ENHANCED_CONNECTION_COMPLETE_V2)
        assert (event[0], event[1]) == (ENHANCED_CONNECTION_COMPLETE, 0)


@pytest.mark.real_time(air="rootcanal", because="it does not answer the second host; the reason is unknown")
async def test_packets_in_pieces_are_taken(air, raw):
    """BTstack writes the type, the header and the payload one after the other."""
    central, peripheral = await raw(piecewise=True), await raw(piecewise=True)
    await start_plainly(central, FIRST)
    await start_plainly(peripheral, SECOND)
    handles = await connection(central, peripheral, SECOND)
    frame = bytes(L2CAP_PDU(0x0040, bytes(range(40))))
    await central.send(handles[0], frame[:27])
    await central.send(handles[0], frame[27:], continues=True)
    received = b""
    while len(received) < len(frame):
        received += (await peripheral.data.next())[4:]
    assert received == frame


@pytest.mark.not_over(air="bumble", because="Set Controller To Host Flow Control succeeds, and changes nothing")
@pytest.mark.not_over(air="rootcanal", because="it aborts on Set Controller To Host Flow Control, which it lists")
async def test_controller_keeps_what_the_host_has_no_room_for(air, raw):
    """NimBLE drops what comes when its pools are empty, so it switches flow control to itself on."""
    central, peripheral = await raw(), await raw()
    await start_plainly(central, FIRST)
    await start_plainly(peripheral, SECOND)
    peripheral.supported = await peripheral.command(0x1002)
    if not peripheral.supports(0x0C31):
        return
    await peripheral.command(0x0C33, bytes.fromhex("fb00 00 0200 0000".replace(" ", "")))
    await peripheral.command(0x0C31, b"\x01")
    handles = await connection(central, peripheral, SECOND)
    for number in range(6):
        await central.send(handles[0], bytes(L2CAP_PDU(0x0040, bytes([number]))))
    for number in range(6):
        assert (await peripheral.data.next())[-1] == number
        if number == 1:
            # Something that takes longer than the rest would: nothing more has come meanwhile.
            for _ in range(20):
                await peripheral.command(0x1009)
            assert len(peripheral.data.all) == 2
        if number >= 1:
            # Host Number Of Completed Packets has no answer.
            await peripheral._write(1, bytes.fromhex("350c05"), b"\x01" + handles[1].to_bytes(2, "little") + (
                b"\x02\x00" if number == 1 else b"\x01\x00"))
    await central.command(0x0406, handles[0].to_bytes(2, "little") + b"\x13")
    await peripheral.events.next(lambda event: event[0] == DISCONNECTION_COMPLETE)
