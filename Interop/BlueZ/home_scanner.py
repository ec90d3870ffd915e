"""The scanner of Home Assistant, habluetooth, as that program uses it: it lists the adapters, and scans on each."""

import asyncio
import sys

from bleak_retry_connector import BleakSlotManager
from bluetooth_adapters import get_adapters
from habluetooth import BluetoothManager, BluetoothScanningMode, HaScanner, set_manager


async def main(mode: str, name: str) -> None:
    adapters = get_adapters()
    manager = BluetoothManager(adapters, BleakSlotManager())
    set_manager(manager)
    await manager.async_setup()
    await adapters.refresh()
    for adapter, details in adapters.adapters.items():
        print(f"{adapter} {details['address']} passive {details['passive_scan']}")
        scanner = HaScanner(BluetoothScanningMode(mode), adapter, details["address"])
        scanner.async_setup()
        cancel = manager.async_register_scanner(scanner)
        await scanner.async_start()
    while not any(info.name == name for info in manager.async_discovered_service_info(connectable=False)):
        await asyncio.sleep(0.05)
    print(f"found {name} by {scanner.current_mode.value}")
    await scanner.async_stop()
    cancel()
    manager.async_stop()


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 40))
