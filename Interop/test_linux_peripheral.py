"""BlueZ as a peripheral: our central and another guest as its clients."""

import pytest
from support import gatt_service as service
from support.linux import PATIENCE
from test_corebluetooth import POWERED_ON, uses_everything
from test_linux_central import (
    CHANGES, COMMAND, CONTROL, EVENTS, FIXED, LONG, PROTECTED, SERVICE, central, found, reads,
)  # fmt: skip

pytestmark = pytest.mark.nightly

# bluetoothd 5.66 as a server refuses a single Write Request of 511 or 512 octets.
LONG_VALUE = service.LONG_VALUE[:510]
EXTRA = "7a1e0100-5c6b-4e1d-9b0a-2f0d6c3b1a90"
EXTRA_SERVICE = {"uuid": EXTRA, "characteristics": [{"uuid": FIXED.replace("0001", "0101", 1), "flags": ["read"]}]}
CONNECTION_TIMEOUT = 6


async def server(boot, air, **options):
    """A guest that serves and advertises the suite's service."""
    linux = await boot("server", air.endpoint)
    await linux.adapters(**options)
    await linux("serve", services=[service.for_bluez(LONG_VALUE)])
    await linux("advertise", name="interop", services=[SERVICE])
    return linux


async def watcher(start, air):
    """Our central, connected, and through with its discovery."""
    app = await start("interop-app", "watch", endpoint=air.endpoint)
    await app.line("^connected$", PATIENCE)
    await app.line(f"^service {SERVICE.upper()}$", PATIENCE)
    await app.line("^discovered$", PATIENCE)
    return app


async def test_central_uses_service_of_bluez(serve, boot, start):
    air = await serve()
    linux = await server(boot, air)
    app = await start("interop-app", "central", endpoint=air.endpoint)
    await app.line(f"^state {POWERED_ON}$")
    await uses_everything(app, LONG_VALUE, name=".*")
    for number in range(10):
        await linux.event("written", uuid=COMMAND, value=f"{number:02x}")


async def test_central_is_told_that_bluez_removes_a_service(serve, boot, start):
    air = await serve()
    linux = await server(boot, air)
    await linux("serve", services=[EXTRA_SERVICE], path="/lab/extra")
    app = await watcher(start, air)
    assert f"service {EXTRA.upper()}" in app.output.all
    await linux("withdraw", path="/lab/extra")
    await app.line(f"^modified {EXTRA.upper()}$", PATIENCE)
    await app.line("^discovered$", PATIENCE)
    assert app.output.all.count(f"service {EXTRA.upper()}") == 1


async def test_central_is_told_that_bluez_adds_a_service(serve, boot, start):
    air = await serve()
    linux = await server(boot, air)
    app = await watcher(start, air)
    await linux("serve", services=[EXTRA_SERVICE], path="/lab/extra")
    await app.line("^modified $", PATIENCE)
    await app.line(f"^service {EXTRA.upper()}$", PATIENCE)


async def test_central_notices_that_linux_has_vanished(serve, boot, start):
    air = await serve()
    linux = await server(boot, air)
    app = await watcher(start, air)
    await linux.kill()
    await app.line(f"^disconnected {CONNECTION_TIMEOUT}$", PATIENCE)


async def test_two_guests_meet(serve, boot):
    air = await serve()
    serving = await server(boot, air)
    linux = await central(boot, air)
    address = await found(linux, service=SERVICE)
    services = await linux("connect", address=address)
    assert set(services[SERVICE]) == {FIXED, CONTROL, COMMAND, LONG, EVENTS, CHANGES, PROTECTED}
    assert await reads(linux, address, FIXED) == service.FIXED_VALUE
    assert await reads(linux, address, LONG) == LONG_VALUE
    await linux("write", address=address, characteristic=LONG, value=LONG_VALUE[::-1].hex())
    assert await reads(linux, address, LONG) == LONG_VALUE[::-1]
    for characteristic in (EVENTS, CHANGES):
        await linux("subscribe", address=address, characteristic=characteristic)
        await serving.event("subscribed", uuid=characteristic)
    await linux("write", address=address, characteristic=CONTROL, value="11")
    values = [await linux.event("value", value="11") for _ in range(2)]
    assert {value["characteristic"] for value in values} == {EVENTS, CHANGES}
    await linux("write_each", address=address, characteristic=COMMAND, values=[f"{n:02x}" for n in range(20)])
    for number in range(20):
        await serving.event("written", uuid=COMMAND, value=f"{number:02x}")
    assert await reads(linux, address, PROTECTED) == service.PROTECTED_VALUE
    await linux("disconnect", address=address)
    for guest in (linux, serving):
        await guest.event("Connected", value=False)
    await linux("connect", address=address)
    assert await reads(linux, address, PROTECTED) == service.PROTECTED_VALUE


async def test_bonded_central_finds_linux_by_its_private_address(serve, boot, start, host):
    air = await serve()
    await server(boot, air, Privacy="device")
    observer = await host("observer", endpoint=air.endpoint)
    assert (await observer.find("interop")).address.is_resolvable
    await observer.close()
    app = await start("interop-app", "central", endpoint=air.endpoint)
    await app.line(f"^state {POWERED_ON}$")
    await uses_everything(app, LONG_VALUE, name=".*")
