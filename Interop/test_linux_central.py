"""BlueZ as a central, driven by bleak: our host and our accessories as its peripherals."""

import asyncio
import itertools
import json
import re

import pytest
from support import gatt_service as service
from support.linux import PATIENCE, GuestError

EVENTS, CHANGES, CONTROL = (service.text(uuid) for uuid in (service.EVENTS, service.CHANGES, service.CONTROL))
FIXED, LONG, COMMAND = (service.text(uuid) for uuid in (service.FIXED, service.LONG, service.COMMAND))
PROTECTED, SERVICE = service.text(service.PROTECTED), service.text(service.SERVICE)

HEART_RATE, MEASUREMENT, LOCATION, CONTROL_POINT, BATTERY, DESCRIPTION = (
    f"0000{number}-0000-1000-8000-00805f9b34fb" for number in ("180d", "2a37", "2a38", "2a39", "180f", "2901"))


async def central(boot, air, name="linux"):
    """A guest with an adapter on the air."""
    linux = await boot(name, air.endpoint)
    await linux.adapters()
    return linux


async def found(linux, **wanted) -> str:
    return (await linux("find", **wanted))["address"]


async def peripheral_program(start, air, *arguments):
    app = await start("interop-app", "peripheral", "interop", *arguments, endpoint=air.endpoint)
    await app.line("^advertising$")
    return app


async def reads(linux, address: str, characteristic: str) -> bytes:
    return bytes.fromhex(await linux("read", address=address, characteristic=characteristic))


async def test_linux_uses_heart_rate_sensor(serve, boot, start):
    air = await serve()
    sensor = await start("heart-rate", "--only", "sensor", endpoint=air.endpoint)
    await sensor.line("advertising$")
    linux = await central(boot, air)
    address = await found(linux, name="Heart Rate")
    services = await linux("connect", address=address)
    assert set(services[HEART_RATE]) == {MEASUREMENT, LOCATION, CONTROL_POINT}
    assert await reads(linux, address, LOCATION) == bytes([1])
    [handle] = [services[HEART_RATE][LOCATION]["descriptors"][DESCRIPTION]]
    assert bytes.fromhex(await linux("read_descriptor", address=address, handle=handle)) == b"Where it is worn"

    await linux("subscribe", address=address, characteristic=MEASUREMENT)
    energies = [bytes.fromhex((await linux.event("value"))["value"])[2] for _ in range(3)]
    assert [energy - energies[0] for energy in energies] == [0, 3, 6]
    await linux("write", address=address, characteristic=CONTROL_POINT, value="01")
    await sensor.line("energy expended is reset$")
    with pytest.raises(GuestError, match="(?i)0x80"):
        await linux("write", address=address, characteristic=CONTROL_POINT, value="02")
    await linux("disconnect", address=address)
    await sensor.line("a central unsubscribed")


async def test_linux_uses_peripheral_of_corebluetooth(serve, boot, start):
    air = await serve()
    app = await peripheral_program(start, air)
    linux = await central(boot, air)
    address = await found(linux, service=SERVICE)
    services = await linux("connect", address=address)
    assert set(services[SERVICE]) == {FIXED, CONTROL, COMMAND, LONG, EVENTS, CHANGES, PROTECTED}
    handle = services[SERVICE][FIXED]["descriptors"][DESCRIPTION]
    description = await linux("read_descriptor", address=address, handle=handle)
    assert bytes.fromhex(description) == service.DESCRIPTION.encode()
    assert await reads(linux, address, FIXED) == service.FIXED_VALUE

    assert await reads(linux, address, LONG) == service.LONG_VALUE
    await linux("write", address=address, characteristic=LONG, value=service.LONG_VALUE[::-1].hex())
    assert await reads(linux, address, LONG) == service.LONG_VALUE[::-1]

    for name, characteristic in (("events", EVENTS), ("changes", CHANGES)):
        await linux("subscribe", address=address, characteristic=characteristic)
        await app.line(f"^subscribed {name}")
    for value in ("11", "22"):
        await linux("write", address=address, characteristic=CONTROL, value=value)
        # The notification and the indication, in any order.
        values = [await linux.event("value", value=value) for _ in range(2)]
        assert {value["characteristic"] for value in values} == {EVENTS, CHANGES}
    await linux("unsubscribe", address=address, characteristic=EVENTS)
    await app.line("^unsubscribed events")

    # The kernel takes no more than 100 at once without losing some.
    burst = [f"{number:02x}" for number in range(90)]
    await linux("write_each", address=address, characteristic=COMMAND, values=burst)
    for value in burst:
        await app.line(f"^written command 0 {value}$")


async def test_linux_gives_accessory_the_parameters_that_it_asks_for(serve, boot, captures, tmp_path):
    accessory = {
        "kind": "peripheral", "connection": {"interval": 0.05, "latency": 2, "supervisionTimeout": 4},
        "services": [{"uuid": SERVICE, "characteristics": [{"uuid": FIXED, "properties": ["read"], "value": [1]}]}],
    }  # fmt: skip
    (tmp_path / "world.json").write_text(json.dumps({"devices": [{"name": "sensor", "accessory": accessory}]}))
    air = await serve("--world", tmp_path / "world.json")
    linux = await central(boot, air)
    await linux("connect", address=await found(linux, service=SERVICE))
    # LE Connection Update Complete: success, 40 × 1.25 ms, latency 2, 400 × 10 ms · Vol 4, Part E, 7.7.65.3.
    updated = re.compile(rb"\x3e\x0a\x03\x00..\x28\x00\x02\x00\x90\x01", re.DOTALL)
    captured = captures("pcapng")
    async with asyncio.timeout(PATIENCE):
        # A capture is complete when another one has taken its place.
        for number in itertools.count():
            following = captures(f"{number}.pcapng")
            await air.ask("capture", following)
            if updated.search(captured.read_bytes()):
                break
            captured = following
            await asyncio.sleep(0.5)


async def test_linux_pairs_when_a_value_wants_it_and_comes_back_by_its_bond(serve, boot, start):
    air = await serve()
    await peripheral_program(start, air)
    linux = await central(boot, air)
    address = await found(linux, service=SERVICE)
    await linux("connect", address=address)
    assert await reads(linux, address, PROTECTED) == service.PROTECTED_VALUE
    await linux.event("Bonded", value=True)
    await linux("disconnect", address=address)
    await linux.event("Connected", value=False)
    questions = linux.asked()
    assert questions == ["authorization"]

    await linux("connect", address=address)
    assert await reads(linux, address, PROTECTED) == service.PROTECTED_VALUE
    await linux("disconnect", address=address)
    assert linux.asked() == questions


KEY_A, KEY_LEFT_SHIFT, KEY_B = 30, 42, 48
PRESSED, RELEASED = 1, 0


@pytest.mark.nightly
async def test_linux_gets_key_events_from_keyboard(play, boot):
    air = await play("keyboard")
    linux = await central(boot, air)
    address = await found(linux, name="accessory")
    # BlueZ pairs by itself: its input plugin wants the link to be encrypted.
    await linux("connect", address=address)
    await linux("input_device", name="accessory")
    assert linux.asked() == ["authorization"]
    _, devices = await linux("run", words=["busybox", "cat", "/proc/bus/input/devices"])
    # The bus of Bluetooth, the PnP ID, and five LEDs.
    device = re.search(r"I: Bus=0005 Vendor=ffff Product=0001 Version=0100\nN: Name=\"accessory\".*?LED=(\w+)", devices, re.DOTALL)
    assert device and device[1] == "1f"
    await air.program.say("type aB")
    events = [await linux.event("key") for _ in range(6)]
    assert [(event["code"], event["value"]) for event in events] == [
        (KEY_A, PRESSED), (KEY_A, RELEASED), (KEY_LEFT_SHIFT, PRESSED), (KEY_B, PRESSED), (KEY_LEFT_SHIFT, RELEASED),
        (KEY_B, RELEASED)]  # fmt: skip
    caps_lock = 1
    await linux("led", name="accessory", number=caps_lock, on=True)
    await air.ask("state", "leds: .*caps lock")


REL_X, REL_Y, REL_WHEEL, REL_WHEEL_HI_RES = 0, 1, 8, 11
BTN_LEFT = 0x110


@pytest.mark.nightly
async def test_linux_gets_movements_and_clicks_from_mouse(play, boot):
    air = await play("mouse")
    linux = await central(boot, air)
    await linux("connect", address=await found(linux, name="accessory"))
    await linux("input_device", name="accessory")
    assert linux.asked() == ["authorization"]
    # A report moves 127 steps at most, and a step of the wheel has 120 steps in high resolution.
    await air.program.say("move 200 -5 1")
    events = [await linux.event("relative") for _ in range(5)]
    assert sorted((event["code"], event["value"]) for event in events[:4]) == [
        (REL_X, 127), (REL_Y, -5), (REL_WHEEL, 1), (REL_WHEEL_HI_RES, 120)]  # fmt: skip
    assert (events[4]["code"], events[4]["value"]) == (REL_X, 73)
    await air.program.say("click")
    events = [await linux.event("key") for _ in range(2)]
    assert [(event["code"], event["value"]) for event in events] == [(BTN_LEFT, PRESSED), (BTN_LEFT, RELEASED)]
