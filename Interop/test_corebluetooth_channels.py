"""L2CAP channels of CoreBluetooth programs on all airs, with foreign hosts at the other end: Vol 3, Part A, 4.22 and 10.1."""

import pytest
from bumble.l2cap import LeCreditBasedChannel, LeCreditBasedChannelSpec
from support.waiting import Events, events_of, soon
from test_corebluetooth import bumble_server, pairing

OPEN, ENCRYPTED = 128, 129


async def connected_to_app(host, start):
    """The peripheral program with its two channels, and a connection of Bumble's to it."""
    app = await start("interop-app", "peripheral", "interop")
    for psm in (OPEN, ENCRYPTED):
        await app.line(f"^published {psm}$")
    await app.line("^advertising$")
    central = await host("central", pairing=pairing())
    advertisement = await central.find("interop")
    return app, await central.connect(advertisement.address)


async def echoed(channel: LeCreditBasedChannel, sent: list[bytes]) -> None:
    received = Events("received")
    channel.sink = received.add
    for data in sent:
        channel.write(data)
    await received.next(lambda _: sum(map(len, received.all)) >= sum(map(len, sent)))
    assert b"".join(received.all) == b"".join(sent)


@pytest.mark.parametrize("mps, credits", [(23, 1), (247, 4), (1000, 64)])
async def test_program_echoes_on_channel_of_foreign_host(air, host, start, mps, credits):
    app, connection = await connected_to_app(host, start)
    spec = LeCreditBasedChannelSpec(psm=OPEN, mtu=1024, mps=mps, max_credits=credits)
    channel = await soon(connection.create_l2cap_channel(spec))
    await app.line(f"^channel {OPEN}$")
    sent = [bytes([number]) * (1 + 100 * number) for number in range(10)]
    await echoed(channel, sent)
    await soon(channel.disconnect())
    await app.line(f"^channel ended {sum(map(len, sent))}$")


async def test_program_wants_encryption(air, host, start):
    app, connection = await connected_to_app(host, start)
    with pytest.raises(Exception, match="(?i)insufficient|refused|authentication"):
        await soon(connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=ENCRYPTED)))
    await soon(connection.pair())
    channel = await soon(connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=ENCRYPTED)))
    await app.line(f"^channel {ENCRYPTED}$")
    await echoed(channel, [b"secret"])


@pytest.mark.parametrize("mps, credits", [(23, 16), (247, 4), (1000, 64)])
async def test_program_opens_channel_of_foreign_host(air, host, start, mps, credits):
    peripheral, _ = await bumble_server(host)
    accepted, closed = Events("channels"), Events("closed")

    def echo(channel: LeCreditBasedChannel) -> None:
        channel.sink = channel.write
        channel.on(LeCreditBasedChannel.EVENT_CLOSE, lambda: closed.add(channel))
        accepted.add(channel)

    spec = LeCreditBasedChannelSpec(psm=OPEN, mtu=1024, mps=mps, max_credits=credits)
    peripheral.device.create_l2cap_server(spec, echo)
    app = await start("interop-app", "channel", str(OPEN))
    await app.line(f"^channel {OPEN}$")
    await accepted.next()
    await app.line("^echoed true$")
    await app.line("^disconnected$")
    assert await app.exit() == 0
    await closed.next()


async def test_program_is_refused_channel(air, host, start):
    await bumble_server(host)
    app = await start("interop-app", "channel", str(OPEN))
    await app.line("^refused CBErrorDomain 0$")
    assert await app.exit() == 2
