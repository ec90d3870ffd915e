"""The adapter `bluez`: programs of this package in the guest, beside bluetoothd, as an ordinary user."""

import pytest
from support.linux import PATIENCE

pytestmark = pytest.mark.nightly


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
