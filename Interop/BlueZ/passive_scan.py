"""A program with bleak that scans passively, by an advertisement monitor."""

import asyncio
import sys

from bleak import BleakScanner
from bleak.args.bluez import BlueZScannerArgs, OrPattern
from bleak.assigned_numbers import AdvertisementDataType


async def main(name: str) -> None:
    found = asyncio.Event()

    def detected(device, advertisement) -> None:
        if advertisement.local_name == name:
            found.set()

    patterns = [OrPattern(0, AdvertisementDataType.COMPLETE_LOCAL_NAME, name.encode()[:1])]
    async with BleakScanner(detected, scanning_mode="passive", bluez=BlueZScannerArgs(or_patterns=patterns)):
        await asyncio.wait_for(found.wait(), 10)
    print(f"found {name}")


asyncio.run(main(sys.argv[1]))
