"""A central on Bumble's host: finds the peripheral, pairs, subscribes, and counts notifications for some seconds."""

import asyncio
import sys
import time

from bumble.core import UUID
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.pairing import PairingConfig
from bumble.transport import open_transport


async def main(transport: str, seconds: float) -> None:
    async with await open_transport(transport) as hci:
        device = Device.with_hci("watch", Address("E0:E1:E2:E3:E4:E5"), hci.source, hci.sink)
        device.pairing_config_factory = lambda connection: PairingConfig(sc=True, mitm=False, bonding=True)
        found = asyncio.get_running_loop().create_future()

        def advertised(advertisement):
            if advertisement.address == Address("F0:F1:F2:F3:F4:F5") and not found.done():
                found.set_result(advertisement.address)

        device.on("advertisement", advertised)
        await device.power_on()
        await device.start_scanning()
        address = await found
        await device.stop_scanning()
        connection = await device.connect(address)
        await connection.pair()
        print("encrypted", bool(connection.is_encrypted), flush=True)
        peer = Peer(connection)
        await peer.discover_services()
        await peer.discover_characteristics()
        rates = []
        await peer.subscribe(peer.get_characteristics_by_uuid(UUID("2A37"))[0], rates.append)
        begin = time.monotonic()
        await asyncio.sleep(seconds)
        print("rates", len(rates), "after", time.monotonic() - begin, flush=True)
        await connection.disconnect()


asyncio.run(main(sys.argv[1], float(sys.argv[2])))
