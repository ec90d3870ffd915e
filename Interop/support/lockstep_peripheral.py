"""A peripheral on Bumble's host: notifies a heart rate every second, while a central is connected."""

import asyncio
import sys

from bumble.device import Device
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from bumble.pairing import PairingConfig
from bumble.transport import open_transport


async def main(transport: str) -> None:
    async with await open_transport(transport) as hci:
        device = Device.with_hci("strap", Address("F0:F1:F2:F3:F4:F5"), hci.source, hci.sink)
        rate = Characteristic("2A37", Characteristic.Properties.NOTIFY, 0, b"\0\0")
        device.add_service(Service("180D", [rate]))
        device.pairing_config_factory = lambda connection: PairingConfig(sc=True, mitm=False, bonding=True)
        loop = asyncio.get_running_loop()
        connected = loop.create_future()
        device.on("connection", connected.set_result)
        await device.power_on()
        await device.start_advertising()
        print("advertising", flush=True)
        connection = await connected
        ended = loop.create_future()
        connection.on("disconnection", ended.set_result)
        count = 0
        while not ended.done():
            await asyncio.wait([ended], timeout=1)
            count += 1
            if not ended.done():
                await device.notify_subscribers(rate, bytes([0, count & 0xFF]))
        print("disconnected", flush=True)


asyncio.run(main(sys.argv[1]))
