"""A heart rate monitor with bluez-peripheral, which bleak finds and follows by the second adapter."""

import asyncio
import contextlib

from bleak import BleakClient, BleakScanner
from bluez_peripheral.advert import Advertisement
from bluez_peripheral.agent import NoIoAgent
from bluez_peripheral.gatt.characteristic import CharacteristicFlags, characteristic
from bluez_peripheral.gatt.descriptor import DescriptorFlags, descriptor
from bluez_peripheral.gatt.service import Service
from bluez_peripheral.util import Adapter, get_message_bus

MEASUREMENT = "00002a37-0000-1000-8000-00805f9b34fb"
CONTROL_POINT = "00002a39-0000-1000-8000-00805f9b34fb"
LOCATION = "00002a38-0000-1000-8000-00805f9b34fb"


class Monitor(Service):
    def __init__(self) -> None:
        super().__init__("180D", True)
        self.written = asyncio.Event()

    @characteristic("2A37", CharacteristicFlags.NOTIFY)
    def measurement(self, options):
        pass

    @characteristic("2A38", CharacteristicFlags.READ)
    def location(self, options):
        return b"\x03"

    @descriptor("2901", location, DescriptorFlags.READ)
    def description(self, options):
        return b"finger"

    @characteristic("2A39", CharacteristicFlags.WRITE)
    def control_point(self, options):
        pass

    @control_point.setter
    def control_point(self, value, options):
        assert value == b"\x01"
        self.written.set()


async def beat(monitor: Monitor) -> None:
    while True:
        monitor.measurement.changed(b"\x00\x3c")
        await asyncio.sleep(0.2)


async def main() -> None:
    bus = await get_message_bus()
    adapters = {await one.get_address(): one for one in await Adapter.get_all(bus)}
    adapter = adapters["02:00:00:00:00:01"]
    monitor = Monitor()
    await monitor.register(bus, adapter=adapter)
    await NoIoAgent().register(bus)
    await Advertisement("Monitor", ["180D"], 0x0340, 0).register(bus, adapter)
    print("registered")
    device = await BleakScanner.find_device_by_name("Monitor", timeout=20, bluez={"adapter": "hci1"})
    assert device, "the monitor is not there"
    async with BleakClient(device) as client:
        location = client.services.get_characteristic(LOCATION)
        print(f"location {(await client.read_gatt_char(location)).hex()}")
        place = next(one for one in location.descriptors if one.uuid.startswith("00002901"))
        print(f"place {bytes(await client.read_gatt_descriptor(place)).decode()}")
        await client.write_gatt_char(CONTROL_POINT, b"\x01", response=True)
        await asyncio.wait_for(monitor.written.wait(), 10)
        print("reset")
        values: asyncio.Queue[bytes] = asyncio.Queue()
        await client.start_notify(MEASUREMENT, lambda _, value: values.put_nowait(bytes(value)))
        beating = asyncio.create_task(beat(monitor))
        print(f"rate {(await values.get())[1]}")
        beating.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await beating
    print("disconnected")


asyncio.run(main())
