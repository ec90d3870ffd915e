"""Links between Linux as a central and our peripheral: again and again, with changes, channels, losses and prompts."""

import pytest
from support import gatt_service as service
from support.linux import PATIENCE
from test_corebluetooth_channels import ENCRYPTED, OPEN
from test_linux_central import EVENTS, FIXED, PROTECTED, SERVICE, central, found, peripheral_program, reads
from test_linux_peripheral import EXTRA, server

pytestmark = pytest.mark.nightly


async def connected(serve, boot, start):
    """A guest that is connected to the program's peripheral."""
    air = await serve()
    app = await peripheral_program(start, air)
    linux = await central(boot, air)
    address = await found(linux, service=SERVICE)
    await linux("connect", address=address)
    return app, linux, address


async def test_linux_comes_and_goes_twenty_times(serve, boot, start):
    app, linux, address = await connected(serve, boot, start)
    for _ in range(20):
        await linux("subscribe", address=address, characteristic=EVENTS)
        await app.line("^subscribed events")
        assert await reads(linux, address, FIXED) == service.FIXED_VALUE
        await linux("disconnect", address=address)
        await app.line("^unsubscribed events$")
        await linux("connect", address=address)


async def test_linux_is_told_of_services_that_come_and_go(serve, boot, start):
    app, linux, address = await connected(serve, boot, start)
    # BlueZ reports services before it subscribes to Service Changed. A read comes after that subscription.
    await reads(linux, address, FIXED)
    await app.say("add")
    await linux.event("service added", uuid=EXTRA)
    # BlueZ reads the database hash with two requests, between which a read fits. It keeps a removed service if the hash
    # is then the one that it knows.
    for _ in range(2):
        await reads(linux, address, FIXED)
    await app.say("remove")
    await linux.event("service removed")


async def test_linux_opens_channel_of_program(serve, boot, start):
    app, linux, address = await connected(serve, boot, start)
    place = {"address": address, "kind": await linux("device", address=address, name="AddressType"), "count": 20_000}
    assert await linux("exchange_on_channel", psm=OPEN, **place) == 20_000
    await app.line("^channel ended 20000$")
    # BT_SECURITY_MEDIUM: the kernel pairs first.
    assert await linux("exchange_on_channel", psm=ENCRYPTED, security=2, **place) == 20_000
    await app.line("^channel ended 20000$")


async def test_program_opens_channel_of_linux(serve, boot, start):
    air = await serve()
    linux = await server(boot, air)
    await linux("echo_on_channels", psm=OPEN)
    app = await start("interop-app", "channel", OPEN, endpoint=air.endpoint)
    await app.line(f"^channel {OPEN}$", PATIENCE)
    await app.line("^echoed true$", PATIENCE)
    await app.line("^disconnected$")
    assert await app.exit() == 0
    await linux.event("channel ended", count=20_000)


async def test_peripheral_takes_next_client_when_linux_vanishes(serve, boot, start):
    air = await serve()
    app = await peripheral_program(start, air)
    for name in ("first", "second"):
        linux = await central(boot, air, name)
        address = await found(linux, service=SERVICE)
        await linux("connect", address=address)
        await linux("subscribe", address=address, characteristic=EVENTS)
        await app.line("^subscribed events")
        await linux.kill()
        await app.line("^unsubscribed events$", PATIENCE)


async def test_linux_resets_its_controller_and_comes_back_by_its_bond(serve, boot, start):
    app, linux, address = await connected(serve, boot, start)
    assert await reads(linux, address, PROTECTED) == service.PROTECTED_VALUE
    await linux("subscribe", address=address, characteristic=EVENTS)
    await app.line("^subscribed events")
    # The kernel resets the controller when it is switched on.
    await linux("power", on=False)
    await app.line("^unsubscribed events$", PATIENCE)
    await linux("power")
    await linux("connect", address=address)
    assert await reads(linux, address, PROTECTED) == service.PROTECTED_VALUE


@pytest.mark.parametrize("capability", ["DisplayOnly", "KeyboardOnly", "DisplayYesNo"])
async def test_users_of_linux_and_program_pair(serve, boot, start, terminal, capability):
    air = await serve()
    app = await start(
        "interop-app", "peripheral", "interop", endpoint=air.endpoint, terminal=terminal,
        COREBLUETOOTH_PROMPTS="terminal")  # fmt: skip
    await terminal.shows(r"use Bluetooth\? \[y/N\] ", PATIENCE)
    terminal.type("y")
    await app.line("^advertising$")
    linux = await boot("linux", air.endpoint)
    await linux.adapters(agent=None)
    await linux("agent", capability=capability, accepts=False)
    address = await found(linux, service=SERVICE)
    await linux("connect", address=address)
    reading = linux.begin("read", address=address, characteristic=PROTECTED)
    if capability == "DisplayOnly":
        number = (await linux.event("shown"))["number"]
        await terminal.shows("Enter the six digits that it displays", PATIENCE)
        terminal.type(f"{number:06}")
    elif capability == "KeyboardOnly":
        shown = await terminal.shows(r"enter (\d{3}) (\d{3}) on that device", PATIENCE)
        await linux.event("asked", question="passkey")
        await linux("answer", value=int(shown[1] + shown[2]))
    else:
        number = (await linux.event("asked", question="confirmation"))["number"]
        shown = await terminal.shows(r"Does it display (\d{3}) (\d{3})\?", PATIENCE)
        assert int(shown[1] + shown[2]) == number
        terminal.type("y")
        await linux("answer", value=True)
    assert bytes.fromhex(await reading) == service.PROTECTED_VALUE
    assert await linux("device", address=address, name="Bonded")
