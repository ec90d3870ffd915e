"""A client that floods, sends garbage, leaves requests open, registers invalid objects and never answers. It says when
all of it is under way, and goes on until it is killed."""

import asyncio
import itertools
import os
import socket
import struct
import threading

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

ADAPTER = "/org/bluez/hci0"
INVALID = {"/app/a": {"org.bluez.GattCharacteristic1": {"UUID": Variant("s", "x"), "Flags": Variant("as", ["fly"])}}}


def call(member: str, interface: str, path: str = ADAPTER, signature: str = "", body: list | None = None) -> Message:
    return Message(
        destination="org.bluez", path=path, interface=f"org.bluez.{interface}", member=member, signature=signature,
        body=body or [])  # fmt: skip


async def main() -> None:
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()

    def answer(message: Message) -> Message | bool | None:
        if message.message_type is not MessageType.METHOD_CALL:
            return None
        if message.path == "/app" and message.member == "GetManagedObjects":
            return Message.new_method_return(message, "a{oa{sa{sv}}}", [INVALID])
        return True  # Nothing else is ever answered.

    bus.add_message_handler(answer)
    garbage = [
        call("SetDiscoveryFilter", "Adapter1", signature="a{sv}", body=[{"UUIDs": Variant("a{sv}", {})}]),
        call("SetDiscoveryFilter", "Adapter1", signature="a{sv}", body=[{"RSSI": Variant("s", "near")}]),
        call("SetDiscoveryFilter", "Adapter1", signature="a{sv}", body=[{"UUIDs": Variant("as", ["0"] * 100_000)}]),
        call("SetDiscoveryFilter", "Adapter1", signature="s", body=["?"]),
        call("RemoveDevice", "Adapter1", signature="o", body=["/"]),
        call("Connect", "Device1", f"{ADAPTER}/dev_00_00_00_00_00_00"),
        call("NoSuchMethod", "Adapter1"),
        call("RegisterAgent", "AgentManager1", "/org/bluez", "os", ["/agent", "Telepathy"]),
        call("RegisterApplication", "GattManager1", signature="oa{sv}", body=["/app", {}]),
    ]
    for message in garbage:
        reply = await bus.call(message)
        assert reply.message_type is MessageType.ERROR, message.member
    await bus.call(call("RegisterAgent", "AgentManager1", "/org/bluez", "os", ["/agent", ""]))
    await bus.call(call("RequestDefaultAgent", "AgentManager1", "/org/bluez", "o", ["/agent"]))
    await bus.call(call("StartDiscovery", "Adapter1"))
    flood = Flood(os.environ["DBUS_SYSTEM_BUS_ADDRESS"])
    for number in range(1_000):
        # These objects never answer.
        path = f"/silent/{number}"
        for member, interface, signature, body in (
            ("RegisterApplication", "GattManager1", "oa{sv}", [path, {}]),
            ("RegisterAdvertisement", "LEAdvertisingManager1", "oa{sv}", [path, {}]),
            ("RegisterMonitor", "AdvertisementMonitorManager1", "o", [path]),
        ):  # fmt: skip
            flood.send(call(member, interface, signature=signature, body=body))
    print("under way", flush=True)
    while True:
        flood.places.acquire()
        flood.send(call("GetDiscoveryFilters", "Adapter1"))


class Flood:
    """A connection that always has as many calls under way as it has places, and answers nothing."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(address.removeprefix("unix:path=").split(",")[0])
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        assert self.socket.recv(100).startswith(b"OK")
        self.socket.sendall(b"BEGIN\r\n")
        self.serials = itertools.count(1)
        self.places = threading.Semaphore(250)
        bus = "org.freedesktop.DBus"
        self.send(Message(destination=bus, path="/org/freedesktop/DBus", interface=bus, member="Hello"))
        threading.Thread(target=self.drain, daemon=True).start()

    def send(self, message: Message) -> None:
        message.serial = next(self.serials)
        self.socket.sendall(message._marshall(False))

    def drain(self) -> None:
        stream = self.socket.makefile("rb")
        while head := stream.read(16):
            body, fields = struct.unpack_from("<4xI4xI", head)
            stream.read((fields + 7) // 8 * 8 + body)
            self.places.release()


asyncio.run(main())
