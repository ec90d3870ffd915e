"""Client libraries on top of bleak, unchanged, as their users call them. Each is imported when a test wants it."""

import asyncio

from bleak import BleakClient, BleakScanner


async def _device(name: str):
    device = await BleakScanner.find_device_by_name(name, timeout=60)
    if device is None:
        raise LookupError(f"no device named {name!r}")
    return device


async def bleakheart_beats(name: str, count: int):
    """The battery level and the first heart rates that bleakheart reads from a strap."""
    from bleakheart import BatteryLevel, HeartRate

    async with BleakClient(await _device(name)) as client:
        battery = await BatteryLevel(client).read()
        frames = asyncio.Queue()
        heart_rate = HeartRate(client, queue=frames, unpack=False)
        await heart_rate.start_notify()
        # A frame is (kind, time, (heart rate, intervals between beats), energy).
        beats = [(await frames.get())[2][0] for _ in range(count)]
        await heart_rate.stop_notify()
        return {"battery": battery, "beats": beats}


async def pycycling_turns(name: str, count: int):
    """The feature and the first measurements that pycycling reads from a sensor of speed and cadence."""
    from pycycling.cycling_speed_cadence_service import CyclingSpeedCadenceService

    async with BleakClient(await _device(name)) as client:
        service = CyclingSpeedCadenceService(client)
        feature = await service.get_csc_feature()
        measurements = asyncio.Queue()
        service.set_csc_measurement_handler(measurements.put_nowait)
        await service.enable_csc_measurement_notifications()
        turns = [await measurements.get() for _ in range(count)]
        await service.disable_csc_measurement_notifications()
        return {
            "has_wheel": feature.wheel_rev_supported, "has_crank": feature.crank_rev_supported,
            "turns": [turn._asdict() for turn in turns],
        }  # fmt: skip


async def ruuvitag_values():
    """The first values that ruuvitag-sensor decodes from an advertisement."""
    import os

    os.environ["RUUVI_BLE_ADAPTER"] = "bleak"
    from ruuvitag_sensor.ruuvi import RuuviTagSensor

    async for _, values in RuuviTagSensor.get_data_async():
        return values


async def retried_read(name: str, characteristic: str):
    """A value that is read on a connection of bleak-retry-connector."""
    from bleak_retry_connector import BleakClientWithServiceCache, establish_connection

    device = await _device(name)
    client = await establish_connection(BleakClientWithServiceCache, device, name)
    try:
        return bytes(await client.read_gatt_char(characteristic)).hex()
    finally:
        await client.disconnect()


async def listed_adapters():
    """The adapters as bluetooth-adapters lists them."""
    from bluetooth_adapters import get_adapters

    adapters = get_adapters()
    await adapters.refresh()
    return {name: {"address": details["address"]} for name, details in adapters.adapters.items()}


COMMANDS = {
    function.__name__: function
    for function in (bleakheart_beats, pycycling_turns, ruuvitag_values, retried_read, listed_adapters)
}  # fmt: skip
