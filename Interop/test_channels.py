"""LE credit based connection-oriented channels: Vol 3, Part A, 4.22 and 10.1."""

import pytest
from bumble.l2cap import LeCreditBasedChannel, LeCreditBasedChannelSpec
from support.hosts import connected
from support.waiting import Events, events_of, soon

PSM = 0x0081


async def channel(host, client: LeCreditBasedChannelSpec, server: LeCreditBasedChannelSpec):
    """A channel, as both sides see it."""
    central, peripheral = await host("central"), await host("peripheral")
    accepted = Events("channels")
    peripheral.device.create_l2cap_server(server, accepted.add)
    outgoing, _ = await connected(central, peripheral)
    return await soon(outgoing.create_l2cap_channel(client)), await accepted.next()


@pytest.mark.parametrize("mps, credits", [(23, 1), (247, 4), (1000, 64)])
async def test_data_passes_both_ways_within_credits(air, host, mps, credits):
    spec = LeCreditBasedChannelSpec(psm=PSM, mtu=1024, mps=mps, max_credits=credits)
    near, far = await channel(host, spec, spec)
    for sender, receiver in ((near, far), (far, near)):
        received = Events("received")
        receiver.sink = received.add
        sent = [bytes([number]) * (1 + 100 * number) for number in range(10)]
        for data in sent:
            sender.write(data)
        # Bumble packs what is written while there are no credits into one SDU.
        await received.next(lambda _: sum(map(len, received.all)) >= sum(map(len, sent)))
        assert b"".join(received.all) == b"".join(sent)


@pytest.mark.parametrize("closing", [0, 1])
async def test_either_side_closes_channel(air, host, closing):
    ends = await channel(host, LeCreditBasedChannelSpec(psm=PSM), LeCreditBasedChannelSpec(psm=PSM))
    closed = events_of(ends[1 - closing], LeCreditBasedChannel.EVENT_CLOSE)
    await soon(ends[closing].disconnect())
    await closed.next()


async def test_channel_to_unknown_psm_is_refused(air, host):
    outgoing, _ = await connected(await host("central"), await host("peripheral"))
    with pytest.raises(Exception, match="(?i)psm|refused|not supported"):
        await soon(outgoing.create_l2cap_channel(LeCreditBasedChannelSpec(psm=PSM)))
