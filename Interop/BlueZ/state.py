"""Waits until an adapter does nothing for other clients, and turns it off and on."""

import asyncio

from dbus_fast import BusType, Variant
from dbus_fast.aio import MessageBus

ADAPTER = "/org/bluez/hci0"


async def main() -> None:
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    described = await bus.introspect("org.bluez", ADAPTER)
    properties = bus.get_proxy_object("org.bluez", ADAPTER, described).get_interface("org.freedesktop.DBus.Properties")

    async def value(name: str, interface: str = "Adapter1") -> object:
        return (await properties.call_get(f"org.bluez.{interface}", name)).value

    while await value("Discovering") or await value("ActiveInstances", "LEAdvertisingManager1"):
        await asyncio.sleep(0.05)
    for power in (False, True):
        await properties.call_set("org.bluez.Adapter1", "Powered", Variant("b", power))
        assert await value("Powered") is power
    print("not discovering, no advertisement, power off and on")


asyncio.run(main())
