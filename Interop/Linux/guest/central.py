"""BlueZ as a central, by bleak."""

import asyncio

import bus
from bleak import BleakClient, BleakScanner
from bleak.exc import BleakDBusError

found = {}
clients = {}

FIRST_SIGN = 15.0
"""The seconds after which an attempt to connect that has led to no connection is made again."""


async def find(name: str | None = None, service: str | None = None, adapter: str = "hci0", seconds: float = 60):
    """Scans for a device with this name or this service, and returns what it advertises."""
    heard = {}

    def matches(device, advertisement) -> bool:
        heard[device.address] = advertisement
        return advertisement.local_name == name if name else service in advertisement.service_uuids

    device = await BleakScanner.find_device_by_filter(matches, timeout=seconds, bluez={"adapter": adapter})
    if device is None:
        raise LookupError(f"heard only {heard}")
    found[device.address] = device
    advertisement = heard[device.address]
    return {
        "address": device.address, "name": advertisement.local_name, "services": advertisement.service_uuids,
        "rssi": advertisement.rssi,
    }  # fmt: skip


async def connect(address: str, seconds: float = 60):
    """Connects, discovers, and returns services with their characteristics and descriptors."""
    client = BleakClient(
        found[address], timeout=seconds,
        disconnected_callback=lambda _: bus.report(event="client disconnected", address=address))  # fmt: skip
    count = bus.connections[address]
    async with asyncio.timeout(seconds):
        while True:
            attempt = asyncio.ensure_future(client.connect())
            try:
                await asyncio.wait({attempt}, timeout=FIRST_SIGN)
            except asyncio.CancelledError:
                attempt.cancel()
                raise
            if not attempt.done() and bus.connections[address] == count:
                # Linux 6.1 sometimes stops its scan for a bonded device and never sends LE Extended Create Connection.
                attempt.cancel()
                await asyncio.wait({attempt})
                bus.report(event="attempt cancelled", address=address)
                continue
            try:
                await attempt
                break
            except BleakDBusError as error:
                # The kernel is busy while it removes the last connection, whose end BlueZ has already reported.
                if "Input/output error" not in str(error) or bus.connections[address] > count:
                    raise
                await asyncio.sleep(0.05)
    clients[address] = client
    return {
        service.uuid: {
            characteristic.uuid: {
                "handle": characteristic.handle, "properties": characteristic.properties,
                "descriptors": {descriptor.uuid: descriptor.handle for descriptor in characteristic.descriptors},
            }
            for characteristic in service.characteristics
        }
        for service in client.services
    }  # fmt: skip


async def disconnect(address: str):
    await clients.pop(address).disconnect()


async def mtu(address: str):
    client = clients[address]
    await client._backend._acquire_mtu()
    return client.mtu_size


async def read(address: str, characteristic: str | int):
    """Reads a characteristic that a UUID or a handle names."""
    return bytes(await clients[address].read_gatt_char(characteristic)).hex()


async def read_descriptor(address: str, handle: int):
    return bytes(await clients[address].read_gatt_descriptor(handle)).hex()


async def write(address: str, characteristic: str, value: str, response: bool = True):
    await clients[address].write_gatt_char(characteristic, bytes.fromhex(value), response=response)


async def write_each(address: str, characteristic: str, values: list):
    """Writes several values without response, each as soon as BlueZ has taken the one before."""
    for value in values:
        await clients[address].write_gatt_char(characteristic, bytes.fromhex(value), response=False)


async def subscribe(address: str, characteristic: str):
    def changed(_, value: bytearray) -> None:
        bus.report(event="value", characteristic=characteristic, value=bytes(value).hex())

    await clients[address].start_notify(characteristic, changed)


async def unsubscribe(address: str, characteristic: str):
    await clients[address].stop_notify(characteristic)


async def pair(address: str):
    await clients[address].pair()


COMMANDS = {
    function.__name__: function
    for function in (
        find, connect, disconnect, mtu, read, read_descriptor, write, write_each, subscribe, unsubscribe, pair)
}  # fmt: skip
