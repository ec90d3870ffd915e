"""A program with bleak, as anyone has it: it finds the strap of a cyclist and follows it."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner

HEART_RATE = "0000180d-0000-1000-8000-00805f9b34fb"
MEASUREMENT = "00002a37-0000-1000-8000-00805f9b34fb"
LOCATION = "00002a38-0000-1000-8000-00805f9b34fb"
CONTROL_POINT = "00002a39-0000-1000-8000-00805f9b34fb"
BATTERY_LEVEL = "00002a19-0000-1000-8000-00805f9b34fb"


async def main(name: str) -> None:
    device = await BleakScanner.find_device_by_name(name, service_uuids=[HEART_RATE])
    assert device, f"{name} is not there"
    print(f"found {device.name}")
    gone = asyncio.Event()
    async with BleakClient(device, disconnected_callback=lambda _: gone.set()) as client:
        await client._backend._acquire_mtu()  # as bleak's documentation has it for BlueZ
        print(f"connected, MTU {client.mtu_size}")
        print(f"location {(await client.read_gatt_char(LOCATION)).hex()}")
        print(f"battery {(await client.read_gatt_char(BATTERY_LEVEL))[0]} %")
        measurements: asyncio.Queue[bytes] = asyncio.Queue()
        await client.start_notify(MEASUREMENT, lambda _, value: measurements.put_nowait(bytes(value)))
        for _ in range(3):
            print(f"rate {(await measurements.get())[1]}")
        await client.stop_notify(MEASUREMENT)
        await client.write_gatt_char(CONTROL_POINT, b"\x01", response=True)
        print("reset")
    await asyncio.wait_for(gone.wait(), 5)
    print("disconnected")


asyncio.run(main(sys.argv[1]))
