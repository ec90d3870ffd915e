"""A peripheral by D-Bus, with dbus-fast alone: a GATT application and an advertisement, which bleak uses on the second
adapter. The service is the same as in the examples of BlueZ: a value that is read, written and notified."""

import asyncio

from bleak import BleakClient, BleakScanner
from dbus_fast import BusType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.service import PropertyAccess, ServiceInterface, dbus_property, dbus_method

SERVICE = "12345678-1234-5678-1234-56789abcdef0"
VALUE = "12345678-1234-5678-1234-56789abcdef1"


class Service(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.bluez.GattService1")

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":
        return SERVICE

    @dbus_property(access=PropertyAccess.READ)
    def Primary(self) -> "b":
        return True


class Characteristic(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.bluez.GattCharacteristic1")
        self.value = b"\x01"
        self.started = asyncio.Event()

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":
        return VALUE

    @dbus_property(access=PropertyAccess.READ)
    def Service(self) -> "o":
        return "/app/service0"

    @dbus_property(access=PropertyAccess.READ)
    def Flags(self) -> "as":
        return ["read", "write", "notify"]

    @dbus_property(access=PropertyAccess.READ)
    def Value(self) -> "ay":
        return self.value

    @dbus_method()
    def ReadValue(self, options: "a{sv}") -> "ay":
        return self.value

    @dbus_method()
    def WriteValue(self, value: "ay", options: "a{sv}"):
        self.value = bytes(value)

    @dbus_method()
    def StartNotify(self):
        self.started.set()

    @dbus_method()
    def StopNotify(self):
        pass


class Advertisement(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.bluez.LEAdvertisement1")

    @dbus_property(access=PropertyAccess.READ)
    def Type(self) -> "s":
        return "peripheral"

    @dbus_property(access=PropertyAccess.READ)
    def LocalName(self) -> "s":
        return "Dial"

    @dbus_property(access=PropertyAccess.READ)
    def ServiceUUIDs(self) -> "as":
        return [SERVICE]

    @dbus_property(access=PropertyAccess.READ)
    def Discoverable(self) -> "b":
        return True

    @dbus_method()
    def Release(self):
        pass


class Root(ServiceInterface):
    """The object manager that BlueZ asks."""

    def __init__(self, characteristic: Characteristic) -> None:
        super().__init__("org.freedesktop.DBus.ObjectManager")
        self.characteristic = characteristic

    @dbus_method()
    def GetManagedObjects(self) -> "a{oa{sa{sv}}}":
        return {
            "/app/service0": {
                "org.bluez.GattService1": {"UUID": Variant("s", SERVICE), "Primary": Variant("b", True)}},
            "/app/service0/char0": {
                "org.bluez.GattCharacteristic1": {
                    "UUID": Variant("s", VALUE), "Service": Variant("o", "/app/service0"),
                    "Flags": Variant("as", ["read", "write", "notify"])}},
        }  # fmt: skip


async def main() -> None:
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    characteristic = Characteristic()
    bus.export("/app", Root(characteristic))
    bus.export("/app/service0", Service())
    bus.export("/app/service0/char0", characteristic)
    bus.export("/app/advertisement", Advertisement())
    node = await bus.introspect("org.bluez", "/org/bluez/hci0")
    adapter = bus.get_proxy_object("org.bluez", "/org/bluez/hci0", node)
    await adapter.get_interface("org.bluez.GattManager1").call_register_application("/app", {})
    await adapter.get_interface("org.bluez.LEAdvertisingManager1").call_register_advertisement("/app/advertisement", {})
    print("registered")

    device = await BleakScanner.find_device_by_name("Dial", bluez={"adapter": "hci1"})
    assert device, "the advertisement was not seen"
    async with BleakClient(device, bluez={"adapter": "hci1"}) as client:
        print(f"read {(await client.read_gatt_char(VALUE)).hex()}")
        await client.write_gatt_char(VALUE, b"\x02\x03", response=True)
        print(f"written {characteristic.value.hex()}")
        values: asyncio.Queue[bytes] = asyncio.Queue()
        await client.start_notify(VALUE, lambda _, value: values.put_nowait(bytes(value)))
        await asyncio.wait_for(characteristic.started.wait(), 5)
        characteristic.emit_properties_changed({"Value": b"\x04"})
        print(f"notified {(await asyncio.wait_for(values.get(), 5)).hex()}")


asyncio.run(main())
