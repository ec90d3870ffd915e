"""The adapter `bluez`: programs of this package in the guest, beside bluetoothd, as an ordinary user."""

import pytest
from support import gatt_service as service
from support import programs
from support.linux import PATIENCE
from test_corebluetooth import POWERED_ON, uses_everything

pytestmark = pytest.mark.nightly

RESETTING, POWERED_OFF = 1, 4
WORLDS = programs.REPOSITORY / "Examples" / "Worlds"


async def guest(boot, air, agent: str | None = None, **options):
    """A guest that runs this package's programs beside bluetoothd, on an adapter on the air."""
    linux = await boot("linux", air.endpoint, runs_programs=True)
    await linux.adapters(agent=agent, **options)
    return linux


async def test_ble_inspects_and_subscribes(serve, boot, start):
    air = await serve()
    sensor = await start("heart-rate", "--only", "sensor", endpoint=air.endpoint)
    await sensor.line("advertising$")
    linux = await guest(boot, air)
    ble = await linux.start_program("ble", "inspect", "Heart Rate", "--timeout", 60)
    await ble.line("Heart Rate Measurement")
    await ble.line("Body Sensor Location")
    await ble.line("Heart Rate Control Point")
    assert await ble.exit() == 0
    ble = await linux.start_program("ble", "subscribe", "Heart Rate", "2A37", "--count", 3, "--timeout", 60)
    for _ in range(3):
        await ble.line("heart rate")
    assert await ble.exit() == 0
    await sensor.line("a central unsubscribed", PATIENCE)


async def test_central_uses_peripheral(serve, boot, start):
    air = await serve()
    app = await start("interop-app", "peripheral", "interop", endpoint=air.endpoint)
    await app.line("^advertising$")
    linux = await guest(boot, air)
    central = await linux.start_program("interop-app", "central")
    await central.line(f"^state {POWERED_ON}$", PATIENCE)
    await uses_everything(central, seconds=PATIENCE)
    for number in range(10):
        await app.line(f"^written command 0 {number:02x}$")


async def test_ble_serves(serve, boot, start):
    air = await serve()
    linux = await guest(boot, air)
    await linux("put_file", path="/tmp/gym.yaml", text=(WORLDS / "gym.yaml").read_text())
    ble = await linux.start_program("ble", "serve", "/tmp/gym.yaml", "--device", "strap-cyclist", "--for", "10min")
    await ble.line("serving")
    client = await start("ble", "inspect", "Cyclist", "--timeout", 60, endpoint=air.endpoint)
    await client.line("Heart Rate Measurement", PATIENCE)
    assert await client.exit(PATIENCE) == 0
    client = await start("ble", "subscribe", "Cyclist", "2A37", "--count", 3, "--timeout", 60, endpoint=air.endpoint)
    await ble.line("subscribe")
    for _ in range(3):
        await client.line("heart rate", PATIENCE)
    assert await client.exit(PATIENCE) == 0
    await ble.line("unsubscribe")


async def test_peripheral_serves_central(serve, boot, start):
    air = await serve()
    linux = await guest(boot, air)
    app = await linux.start_program("interop-app", "peripheral", "interop")
    await app.line("^advertising$")
    client = await start(
        "ble", "subscribe", "interop", service.text(service.EVENTS), service.text(service.CHANGES), "--write",
        f"{service.text(service.CONTROL)}=0x6162", "--count", 2, "--timeout", 60, endpoint=air.endpoint)
    await app.line("^written control 0 6162$")
    for _ in range(2):
        await client.line("0x6162", PATIENCE)
    assert await client.exit(PATIENCE) == 0
    client = await start("ble", "pair", "interop", "--timeout", 60, endpoint=air.endpoint)
    await client.line("paired with .*bonded", PATIENCE)
    assert await client.exit(PATIENCE) == 0


async def test_states_follow_bluetoothd_and_its_adapter(serve, boot):
    air = await serve()
    linux = await guest(boot, air)
    app = await linux.start_program("interop-app", "peripheral", "interop")
    await app.line(f"^state {POWERED_ON}$")
    await app.line("^advertising$")
    await linux("power", on=False)
    await app.line(f"^state {POWERED_OFF}$")
    await linux("power", on=True)
    await app.line(f"^state {POWERED_ON}$")
    await app.line("^advertising$")
    await linux("stop_bluetoothd")
    await app.line(f"^state {RESETTING}$")
    await linux("start_bluetoothd")
    await linux("power")
    await app.line(f"^state {POWERED_ON}$")
    await app.line("^advertising$")


async def test_channel_of_peripheral_outside(serve, boot, start):
    air = await serve()
    app = await start("interop-app", "peripheral", "interop", endpoint=air.endpoint)
    psm = (await app.line(r"^published (\d+)$"))[1]
    await app.line("^advertising$")
    linux = await guest(boot, air)
    central = await linux.start_program("interop-app", "channel", psm)
    await central.line(f"^channel {psm}$")
    await central.line("^echoed true$")
    assert await central.exit() == 0


async def test_ble_scans(serve, boot):
    air = await serve("--world", "gym")
    linux = await guest(boot, air)
    ble = await linux.start_program("ble", "scan", "--name", "Cyclist", "--count", 1, "--for", 60)
    await ble.line("Cyclist")
    assert await ble.exit() == 0


async def test_ble_pairs(serve, boot, start):
    air = await serve()
    app = await start("interop-app", "peripheral", "interop", endpoint=air.endpoint)
    await app.line("^advertising$")
    linux = await guest(boot, air)
    ble = await linux.start_program("ble", "pair", "interop", "--timeout", 60)
    await ble.line("paired with .*bonded")
    assert await ble.exit() == 0
