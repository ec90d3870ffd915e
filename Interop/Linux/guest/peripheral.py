"""BlueZ as a peripheral: a GATT application and an advertisement, registered over D-Bus."""

import bus
from dbus_fast import DBusError, Message, Variant
from dbus_fast.constants import PropertyAccess
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property

READ = PropertyAccess.READ
characteristics = {}


class Service(ServiceInterface):
    def __init__(self, uuid: str) -> None:
        super().__init__("org.bluez.GattService1")
        self.uuid = uuid

    @dbus_property(READ)
    def UUID(self) -> "s":  # noqa: F821
        return self.uuid

    @dbus_property(READ)
    def Primary(self) -> "b":  # noqa: F821
        return True


class Attribute(ServiceInterface):
    """The part that characteristics and descriptors have in common. Reports each access."""

    def __init__(self, interface: str, parent: str, description: dict) -> None:
        super().__init__(interface)
        self.parent, self.uuid, self.flags = parent, description["uuid"], description["flags"]
        self.value = bytearray.fromhex(description.get("value", ""))
        self.echoes = description.get("echoes", [])

    @dbus_property(READ)
    def UUID(self) -> "s":  # noqa: F821
        return self.uuid

    @dbus_property(READ)
    def Flags(self) -> "as":  # noqa: F722
        return self.flags

    @dbus_method()
    def ReadValue(self, options: "a{sv}") -> "ay":  # noqa: F722, F821
        offset = options["offset"].value if "offset" in options else 0
        bus.report(event="read", uuid=self.uuid, offset=offset)
        if offset > len(self.value):
            raise DBusError("org.bluez.Error.InvalidOffset", "beyond the end")
        return bytes(self.value[offset:])

    @dbus_method()
    def WriteValue(self, value: "ay", options: "a{sv}"):  # noqa: F722, F821
        offset = options["offset"].value if "offset" in options else 0
        self.value[offset:] = value
        bus.report(event="written", uuid=self.uuid, offset=offset, value=bytes(value).hex())
        for uuid in self.echoes:
            characteristics[uuid].change(bytes(value))


class Characteristic(Attribute):
    @dbus_property(READ)
    def Service(self) -> "o":  # noqa: F821
        return self.parent

    @dbus_property(READ)
    def Value(self) -> "ay":  # noqa: F821
        return bytes(self.value)

    @dbus_method()
    def StartNotify(self) -> None:
        bus.report(event="subscribed", uuid=self.uuid)

    @dbus_method()
    def StopNotify(self) -> None:
        bus.report(event="unsubscribed", uuid=self.uuid)

    @dbus_method()
    def Confirm(self) -> None:
        bus.report(event="confirmed", uuid=self.uuid)

    def change(self, value: bytes) -> None:
        """Sets the value, and sends it to subscribers."""
        self.value[:] = value
        self.emit_properties_changed({"Value": value})


class Descriptor(Attribute):
    @dbus_property(READ)
    def Characteristic(self) -> "o":  # noqa: F821
        return self.parent


class Advertisement(ServiceInterface):
    """BlueZ reads the properties by GetManagedObjects on the path of the advertisement. dbus-fast leaves the object of that
    path out of its answer, hence this one of its own."""

    PATH = "/lab/advertisement"

    def __init__(self, name: str, services: list) -> None:
        super().__init__("org.bluez.LEAdvertisement1")
        self.properties = {
            "Type": Variant("s", "peripheral"), "Discoverable": Variant("b", True),
            "ServiceUUIDs": Variant("as", services), "LocalName": Variant("s", name),
        }  # fmt: skip

    def answer(self, message: Message) -> Message | None:
        if message.member != "GetManagedObjects" or message.path != self.PATH:
            return None
        return Message.new_method_return(message, "a{oa{sa{sv}}}", [{self.PATH: {self.name: self.properties}}])

    @dbus_method()
    def Release(self) -> None:
        bus.report(event="advertisement released")


async def serve(services: list, path: str = "/lab/application", adapter: str = "hci0"):
    """Registers services: {"uuid", "characteristics": [{"uuid", "flags", "value", "echoes", "descriptors": […]}]}.

    What is written to a characteristic also becomes the value of the characteristics that `echoes` names."""
    connection = await bus.connection()
    for number, service in enumerate(services):
        service_path = f"{path}/service{number}"
        connection.export(service_path, Service(service["uuid"]))
        for index, description in enumerate(service["characteristics"]):
            characteristic_path = f"{service_path}/characteristic{index}"
            characteristic = Characteristic("org.bluez.GattCharacteristic1", service_path, description)
            characteristics[characteristic.uuid] = characteristic
            connection.export(characteristic_path, characteristic)
            for position, inner in enumerate(description.get("descriptors", [])):
                descriptor = Descriptor("org.bluez.GattDescriptor1", characteristic_path, inner)
                connection.export(f"{characteristic_path}/descriptor{position}", descriptor)
    await bus.call(f"/org/bluez/{adapter}", "org.bluez.GattManager1", "RegisterApplication", "oa{sv}", [path, {}])


async def withdraw(path: str = "/lab/application", adapter: str = "hci0"):
    """Withdraws the services that were registered under a path."""
    await bus.call(f"/org/bluez/{adapter}", "org.bluez.GattManager1", "UnregisterApplication", "o", [path])


async def advertise(name: str, services: list, adapter: str = "hci0"):
    connection, advertisement = await bus.connection(), Advertisement(name, services)
    connection.export(advertisement.PATH, advertisement)
    connection.add_message_handler(advertisement.answer)
    await bus.set_value(f"/org/bluez/{adapter}", "org.bluez.Adapter1", "Pairable", "b", True)
    await bus.call(
        f"/org/bluez/{adapter}", "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement", "oa{sv}",
        [advertisement.PATH, {}])


async def change(uuid: str, value: str):
    """Changes the value of a characteristic, and sends it to subscribers."""
    characteristics[uuid].change(bytes.fromhex(value))


COMMANDS = {function.__name__: function for function in (serve, withdraw, advertise, change)}
