"""Linux and Bluetooth 4.0: packets of 27 octets, ATT_MTU 23, parameters that are asked for by L2CAP."""

import json

import pytest
from support import gatt_service as service
from test_corebluetooth import POWERED_ON, uses_everything
from test_linux_central import (
    CHANGES, COMMAND, CONTROL, EVENTS, FIXED, LONG, PROTECTED, SERVICE, central, found, reads)  # fmt: skip

# The part of the long value that a Bluetooth 4.0 accessory gives in seven answers.
LONG_VALUE = service.LONG_VALUE[:150]


def accessory() -> dict:
    """An accessory of 2010 with the suite's service."""
    return {
        "devices": [{
            "name": "old sensor", "generation": "bluetooth40",
            "accessory": {
                "kind": "peripheral",
                "connection": {"interval": 0.05, "latency": 2, "supervisionTimeout": 4},
                "services": [{
                    "uuid": SERVICE,
                    "characteristics": [
                        {"uuid": FIXED, "properties": ["read"], "value": list(service.FIXED_VALUE)},
                        {"uuid": LONG, "properties": ["read", "write"], "value": list(LONG_VALUE)},
                        {"uuid": COMMAND, "properties": ["read", "write-without-response"], "value": [0]},
                        {"uuid": EVENTS, "properties": ["notify"], "values": [[1], [2], [3]], "notifyPeriod": 0.2},
                        {"uuid": CHANGES, "properties": ["indicate"], "values": [[4], [5]], "notifyPeriod": 0.2},
                        {"uuid": CONTROL, "properties": ["write"]},
                        {"uuid": PROTECTED, "properties": ["read"], "protection": "encrypted",
                         "value": list(service.PROTECTED_VALUE)},
                    ],
                }],
            },
        }],
    }  # fmt: skip


def places() -> dict:
    """A place for a host with a controller of today, and one for a host with a controller of 2010."""
    return {"clients": [{"name": "modern host"}, {"name": "old host", "generation": "bluetooth40"}]}


async def air_with(world: dict, serve, tmp_path):
    (tmp_path / "world.json").write_text(json.dumps(world))
    return await serve("--world", tmp_path / "world.json")


async def test_linux_uses_bluetooth_40_accessory(serve, boot, tmp_path):
    air = await air_with(accessory(), serve, tmp_path)
    linux = await central(boot, air)
    address = await found(linux, service=SERVICE)
    services = await linux("connect", address=address)
    assert set(services[SERVICE]) == {FIXED, LONG, COMMAND, EVENTS, CHANGES, CONTROL, PROTECTED}
    assert await linux("mtu", address=address) == 23
    assert await reads(linux, address, FIXED) == service.FIXED_VALUE
    assert await reads(linux, address, LONG) == LONG_VALUE
    await linux("write", address=address, characteristic=LONG, value=LONG_VALUE[::-1].hex())
    assert await reads(linux, address, LONG) == LONG_VALUE[::-1]
    await linux("write_each", address=address, characteristic=COMMAND, values=["11", "22", "33"])
    assert await reads(linux, address, COMMAND) == b"\x33"
    for characteristic in (EVENTS, CHANGES):
        await linux("subscribe", address=address, characteristic=characteristic)
        await linux.event("value", characteristic=characteristic)
    # A value that arrives while devices pair makes the kernel send the read again before the connection is encrypted.
    for characteristic in (EVENTS, CHANGES):
        await linux("unsubscribe", address=address, characteristic=characteristic)
    assert await reads(linux, address, PROTECTED) == service.PROTECTED_VALUE
    await linux("disconnect", address=address)
    await linux("connect", address=address)
    assert await reads(linux, address, PROTECTED) == service.PROTECTED_VALUE


@pytest.mark.nightly
async def test_linux_serves_on_bluetooth_40_controller(serve, boot, start, tmp_path):
    air = await air_with(places(), serve, tmp_path)
    app = await start("interop-app", "central", endpoint=air.endpoint)
    await app.line(f"^state {POWERED_ON}$")
    linux = await central(boot, air)
    # The kernel unmasks LE Connection Complete only if the controller has LE Create Connection, which this one lacks.
    mask = ["1f", *["00"] * 7]
    status, output = await linux("run", words=["hcitool", "-i", "hci0", "cmd", "0x08", "0x0001", *mask])
    assert status == 0, output
    await linux("serve", services=[service.for_bluez(LONG_VALUE)])
    await linux("advertise", name="interop", services=[SERVICE])
    await uses_everything(app, LONG_VALUE, name=".*")
