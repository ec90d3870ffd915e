"""Pairing in all methods that foreign hosts have, bonds, and links that are encrypted by them again: Vol 3, Part H, 2.3 and 2.4.

Keys are the hosts'; what encrypts is the air's.
"""

import asyncio
from dataclasses import dataclass

import pytest
from bumble import hci
from bumble.att import ATT_Error
from bumble.device import Connection, Peer
from bumble.pairing import PairingConfig
from bumble.smp import OobContext, OobLegacyContext
from support import gatt_service as service
from support.gatt_service import Server
from support.hosts import User, connected, disconnected
from support.waiting import events_of, soon

IO = User.IoCapability


@dataclass
class Method:
    """What the initiator and the responder can do, and who of them is shown a passkey and who has to type it."""

    initiator: IO
    responder: IO
    shows: str | None = None
    types: tuple[str, ...] = ()
    compares: bool = False
    authenticates: bool = True


METHODS = {
    "just works": Method(IO.NO_OUTPUT_NO_INPUT, IO.NO_OUTPUT_NO_INPUT, authenticates=False),
    "passkey that the initiator shows": Method(
        IO.DISPLAY_OUTPUT_ONLY, IO.KEYBOARD_INPUT_ONLY, shows="initiator", types=("responder",)),
    "passkey that the responder shows": Method(
        IO.KEYBOARD_INPUT_ONLY, IO.DISPLAY_OUTPUT_ONLY, shows="responder", types=("initiator",)),
    "passkey that both type": Method(
        IO.KEYBOARD_INPUT_ONLY, IO.KEYBOARD_INPUT_ONLY, types=("initiator", "responder")),
    "numeric comparison": Method(
        IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT, IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT, compares=True),
}  # fmt: skip


class Couple:
    """Two hosts, of which one has a server that the other wants to read."""

    def __init__(self, central, peripheral, users) -> None:
        self.central, self.peripheral, self.users = central, peripheral, users

    @classmethod
    async def meet(cls, host, method: Method, sc=True, mitm=True, oob=(None, None), central=(), peripheral=(), **keys):
        users = {"initiator": User(method.initiator, "initiator", **keys), "responder": User(method.responder, "responder", **keys)}
        configurations = [
            PairingConfig(sc, mitm, bonding=True, delegate=user, identity_address_type=PairingConfig.AddressType.RANDOM, oob=data)
            for user, data in zip(users.values(), oob, strict=True)
        ]
        couple = cls(
            await host("central", pairing=configurations[0], **dict(central)),
            await host("peripheral", pairing=configurations[1], services=[Server().service], **dict(peripheral)), users)
        await couple.connect()
        return couple

    async def connect(self, **options) -> None:
        self.outgoing, self.incoming = await connected(self.central, self.peripheral, **options)

    async def pair(self, method: Method, mistake: int = 0) -> None:
        """Pairs; whoever has to type what the other is shown adds `mistake` to it."""
        ended = events_of(self.incoming, Connection.EVENT_PAIRING, Connection.EVENT_PAIRING_FAILURE)
        pairing = asyncio.ensure_future(soon(self.outgoing.pair()))
        number = await self.users[method.shows].shown.next() if method.shows else 271828
        for name in method.types:
            self.users[name].passkeys.add((number + mistake) % 1_000_000)
        try:
            await pairing
        finally:
            self.responder_ended = (await ended.next())[0]

    async def read(self, uuid) -> bytes:
        peer = Peer(self.outgoing)
        await soon(peer.discover_all())
        return await soon(peer.get_characteristics_by_uuid(uuid)[0].read_value())

    async def encrypt_again(self) -> None:
        """Lets the link go, makes another one, and encrypts that by the bond."""
        await disconnected(self.outgoing, self.incoming)
        await self.connect()
        encrypted = events_of(self.incoming, Connection.EVENT_CONNECTION_ENCRYPTION_CHANGE)
        await soon(self.outgoing.encrypt())
        await encrypted.next()
        assert self.outgoing.is_encrypted and self.incoming.is_encrypted


@pytest.mark.parametrize("sc", [False, True], ids=["legacy", "secure connections"])
@pytest.mark.parametrize("name", METHODS)
async def test_pairing_gives_a_bond(air, host, name, sc):
    method = METHODS[name]
    couple = await Couple.meet(host, method, sc=sc, mitm=method.authenticates)
    with pytest.raises(ATT_Error):
        await couple.read(service.PROTECTED)
    await couple.pair(method)
    assert couple.outgoing.is_encrypted and couple.incoming.is_encrypted
    if method.compares and sc:
        assert couple.users["initiator"].compared.all == couple.users["responder"].compared.all != []
    assert await couple.read(service.PROTECTED) == service.PROTECTED_VALUE
    await couple.encrypt_again()
    assert await couple.read(service.PROTECTED) == service.PROTECTED_VALUE


@pytest.mark.parametrize("sc", [False, True], ids=["legacy", "secure connections"])
async def test_pairing_with_data_out_of_band(air, host, sc):
    contexts = [OobContext(), OobContext()]
    legacy = OobLegacyContext()
    oob = [
        PairingConfig.OobConfig(ours if sc else None, theirs.share() if sc else None, None if sc else legacy)
        for ours, theirs in (contexts, contexts[::-1])
    ]
    method = METHODS["just works"]
    couple = await Couple.meet(host, method, sc=sc, oob=oob)
    await couple.pair(method)
    assert couple.outgoing.authenticated
    assert await couple.read(service.AUTHENTICATED) == service.PROTECTED_VALUE
    await couple.encrypt_again()


@pytest.mark.parametrize("sc", [False, True], ids=["legacy", "secure connections"])
async def test_wrong_passkey_gives_no_bond(air, host, sc):
    method = METHODS["passkey that the responder shows"]
    couple = await Couple.meet(host, method, sc=sc)
    with pytest.raises(Exception, match="(?i)confirm|failed"):
        await couple.pair(method, mistake=1)
    assert couple.responder_ended == Connection.EVENT_PAIRING_FAILURE
    assert not couple.outgoing.is_encrypted
    assert await couple.central.device.keystore.get_all() == []


async def test_refused_numeric_comparison_gives_no_bond(air, host):
    method = METHODS["numeric comparison"]
    couple = await Couple.meet(host, method)
    couple.users["responder"].confirms = False
    with pytest.raises(Exception, match="(?i)confirm|comparison|failed"):
        await couple.pair(method)
    assert not couple.outgoing.is_encrypted


@pytest.mark.parametrize("size", [7, 16])
async def test_key_size_is_the_smaller_one(air, host, size):
    method = METHODS["just works"]
    couple = await Couple.meet(host, method, sc=False, mitm=False, maximum_encryption_key_size=size)
    await couple.pair(method)
    assert couple.outgoing.is_encrypted
    await couple.encrypt_again()


async def test_peripheral_asks_for_security(air, host):
    method = METHODS["just works"]
    couple = await Couple.meet(host, method, mitm=False)
    asked = events_of(couple.outgoing, Connection.EVENT_SECURITY_REQUEST)
    couple.incoming.request_pairing()
    await asked.next()
    await couple.pair(method)
    assert couple.incoming.is_encrypted


async def test_bond_that_one_side_has_lost_encrypts_nothing(air, host):
    method = METHODS["just works"]
    couple = await Couple.meet(host, method, mitm=False)
    await couple.pair(method)
    await disconnected(couple.outgoing, couple.incoming)
    await couple.peripheral.device.keystore.delete_all()
    await couple.connect()
    with pytest.raises((hci.HCI_Error, asyncio.CancelledError)) as failure:
        await soon(couple.outgoing.encrypt())
    if isinstance(failure.value, hci.HCI_Error):
        assert failure.value.error_code == hci.HCI_ErrorCode.PIN_OR_KEY_MISSING_ERROR
    assert not couple.outgoing.is_encrypted


async def test_encrypted_link_carries_long_values(air, host):
    method = METHODS["just works"]
    couple = await Couple.meet(host, method, mitm=False)
    await couple.pair(method)
    peer = Peer(couple.outgoing)
    await soon(peer.request_mtu(517))
    await soon(peer.discover_all())
    long = peer.get_characteristics_by_uuid(service.LONG)[0]
    for _ in range(20):
        assert await soon(long.read_value()) == service.LONG_VALUE
        await soon(long.write_value(service.LONG_VALUE, with_response=True))
