"""The guest's D-Bus, bluetoothd on it, and adapters."""

import asyncio
import subprocess
from collections import Counter
from pathlib import Path

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

BLUEZ = "org.bluez"
DAEMON = "/usr/libexec/bluetooth/bluetoothd"
PROPERTIES = "org.freedesktop.DBus.Properties"

report = print
"""Sends an event to the test: `report(event=…)`."""
running = set()
"""The tasks that nothing waits for."""
connections = Counter()
"""The number of connections to each address that BlueZ has reported."""
_connection: MessageBus | None = None
_daemon: subprocess.Popen | None = None


def keep(task: asyncio.Task) -> None:
    """Keeps a task until it ends."""
    running.add(task)
    task.add_done_callback(running.discard)


async def connection() -> MessageBus:
    global _connection
    if _connection is None:
        _connection = await MessageBus(bus_type=BusType.SYSTEM).connect()
    return _connection


async def call(path: str, interface: str, member: str, signature: str = "", body=(), destination: str = BLUEZ):
    """Calls a method, and returns its result: nothing, one value, or a list of several."""
    message = Message(
        destination=destination, path=path, interface=interface, member=member, signature=signature, body=list(body))
    reply = await (await connection()).call(message)
    if reply.message_type == MessageType.ERROR:
        raise RuntimeError(f"{reply.error_name}: {' '.join(map(str, reply.body))}")
    return reply.body[0] if len(reply.body) == 1 else reply.body or None


async def call_bus(member: str, argument: str):
    return await call(
        "/org/freedesktop/DBus", "org.freedesktop.DBus", member, "s", [argument], destination="org.freedesktop.DBus")


async def get(path: str, interface: str, name: str):
    return (await call(path, PROPERTIES, "Get", "ss", [interface, name])).value


async def set_value(path: str, interface: str, name: str, signature: str, value) -> None:
    await call(path, PROPERTIES, "Set", "ssv", [interface, name, Variant(signature, value)])


async def start_bluetoothd(options: dict | None = None, arguments: list | None = None):
    """Starts bluetoothd, and reports the signals of its objects. `options` go to the group General of main.conf."""
    lines = [f"{name} = {value}" for name, value in (options or {}).items()]
    Path("/etc/bluetooth/main.conf").write_text("\n".join(["[General]", *lines, ""]))
    global _daemon
    with open("/dev/console", "w") as console:
        _daemon = subprocess.Popen([DAEMON, "-n", *(arguments or [])], stdout=console, stderr=console)
    while not await call_bus("NameHasOwner", BLUEZ):
        await asyncio.sleep(0.02)
    (await connection()).add_message_handler(report_changes)
    for rule in ("interface='org.freedesktop.DBus.ObjectManager'", f"interface='{PROPERTIES}'"):
        await call_bus("AddMatch", f"type='signal',sender='{BLUEZ}',{rule}")


async def stop_bluetoothd():
    """Ends bluetoothd, which takes its name off the bus."""
    assert _daemon is not None
    _daemon.terminate()
    await asyncio.to_thread(_daemon.wait)


async def power(adapter: str = "hci0", on: bool = True):
    """Switches an adapter on or off, and returns its address."""
    path = f"/org/bluez/{adapter}"
    while True:
        try:
            await set_value(path, "org.bluez.Adapter1", "Powered", "b", on)
            return await get(path, "org.bluez.Adapter1", "Address")
        except RuntimeError as error:
            # bluetoothd has its name on the bus before it has its adapters.
            if "UnknownObject" not in str(error) and "Busy" not in str(error):
                raise
            await asyncio.sleep(0.02)


async def remove(address: str, adapter: str = "hci0"):
    """Makes BlueZ forget a device and its bond."""
    await call(f"/org/bluez/{adapter}", "org.bluez.Adapter1", "RemoveDevice", "o", [device_path(address, adapter)])


def device_path(address: str, adapter: str = "hci0") -> str:
    return f"/org/bluez/{adapter}/dev_{address.replace(':', '_')}"


def address_in(path: str) -> str:
    return path.partition("/dev_")[2][:17].replace("_", ":")


async def device(address: str, name: str, adapter: str = "hci0"):
    """A property of a device."""
    return await get(device_path(address, adapter), "org.bluez.Device1", name)


def report_changes(message: Message) -> None:
    if message.member == "PropertiesChanged" and message.body[0] == "org.bluez.Device1":
        for name in ("Connected", "Paired", "Bonded", "ServicesResolved"):
            if name in message.body[1]:
                address, value = address_in(message.path), message.body[1][name].value
                if name == "Connected" and value:
                    connections[address] += 1
                report(event=name, address=address, value=value)
    if message.member == "InterfacesAdded" and "org.bluez.GattService1" in message.body[1]:
        report(event="service added", uuid=message.body[1]["org.bluez.GattService1"]["UUID"].value)
    if message.member == "InterfacesRemoved" and "org.bluez.GattService1" in message.body[1]:
        report(event="service removed", address=address_in(message.body[0]))


COMMANDS = {function.__name__: function for function in (start_bluetoothd, stop_bluetoothd, power, remove, device)}
