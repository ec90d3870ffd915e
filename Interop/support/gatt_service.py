"""The service that all servers of this suite have: Bumble's below, and the Swift programs'.

What is written to `control` comes back as a notification of `events` and an indication of `changes` to who has subscribed.
"""

from bumble import core, gatt
from bumble.att import Attribute, AttributeValue
from bumble.device import Device
from bumble.gatt import Characteristic, Descriptor, Service

from support.waiting import Events


def uuid(number: int) -> core.UUID:
    return core.UUID(f"7A1E{number:04X}-5C6B-4E1D-9B0A-2F0D6C3B1A90")


def text(uuid: core.UUID) -> str:
    """A UUID as BlueZ writes it."""
    return str(uuid).split(" ")[0].lower()


SERVICE = uuid(0)
FIXED = uuid(1)
CONTROL = uuid(2)
COMMAND = uuid(3)
LONG = uuid(4)
EVENTS = uuid(5)
CHANGES = uuid(6)
PROTECTED = uuid(7)
AUTHENTICATED = uuid(8)

FIXED_VALUE = b"fixed"
DESCRIPTION = "What never changes"
PROTECTED_VALUE = b"for bonded eyes"
# As long as a value can be, and not periodic in 256.
LONG_VALUE = bytes((17 * index + index // 256) % 256 for index in range(512))


def for_bluez(long: bytes = LONG_VALUE) -> dict:
    """The service as the guest's command `serve` wants it."""

    def characteristic(uuid: core.UUID, *flags: str, value: bytes = b"", **more) -> dict:
        return {"uuid": text(uuid), "flags": flags, "value": value.hex(), **more}

    description = {
        "uuid": "00002901-0000-1000-8000-00805f9b34fb", "flags": ["read"], "value": DESCRIPTION.encode().hex()}
    return {
        "uuid": text(SERVICE),
        "characteristics": [
            characteristic(FIXED, "read", value=FIXED_VALUE, descriptors=[description]),
            characteristic(CONTROL, "write", echoes=[text(EVENTS), text(CHANGES)]),
            characteristic(COMMAND, "write-without-response"),
            characteristic(LONG, "read", "write", value=long),
            characteristic(EVENTS, "notify"),
            characteristic(CHANGES, "indicate"),
            characteristic(PROTECTED, "encrypt-read", value=PROTECTED_VALUE),
        ],
    }  # fmt: skip


class Server:
    """The service on a device of Bumble's, and what clients have done to it."""

    def __init__(self) -> None:
        self.written = Events("written")
        self.subscriptions = Events("subscriptions")
        self.long = LONG_VALUE
        properties = Characteristic.Properties
        self.events = self._characteristic(EVENTS, properties.NOTIFY)
        self.changes = self._characteristic(CHANGES, properties.INDICATE)
        self.device: Device | None = None
        self.service = Service(
            SERVICE,
            [
                self._characteristic(
                    FIXED, properties.READ, Attribute.READABLE, FIXED_VALUE,
                    [Descriptor(gatt.GATT_CHARACTERISTIC_USER_DESCRIPTION_DESCRIPTOR, Attribute.READABLE,
                                DESCRIPTION.encode())]),
                self._characteristic(
                    CONTROL, properties.WRITE, Attribute.WRITEABLE, AttributeValue(write=self._control)),
                self._characteristic(
                    COMMAND, properties.WRITE_WITHOUT_RESPONSE, Attribute.WRITEABLE,
                    AttributeValue(write=lambda _, value: self.written.add((COMMAND, bytes(value))))),
                self._characteristic(
                    LONG, properties.READ | properties.WRITE, Attribute.READABLE | Attribute.WRITEABLE,
                    AttributeValue(read=lambda _: self.long, write=self._set_long)),
                self.events,
                self.changes,
                self._characteristic(
                    PROTECTED, properties.READ, Attribute.READABLE | Attribute.READ_REQUIRES_ENCRYPTION,
                    PROTECTED_VALUE),
                self._characteristic(
                    AUTHENTICATED, properties.READ, Attribute.READABLE | Attribute.READ_REQUIRES_AUTHENTICATION,
                    PROTECTED_VALUE),
            ],
        )  # fmt: skip
        for characteristic in (self.events, self.changes):
            characteristic.on(
                Characteristic.EVENT_SUBSCRIPTION,
                lambda _, notifies, indicates, it=characteristic: self.subscriptions.add((it.uuid, notifies, indicates)))

    @staticmethod
    def _characteristic(uuid, properties, permissions=Attribute.Permissions(0), value=b"", descriptors=()):
        return Characteristic(uuid, properties, permissions, value, list(descriptors))

    async def _control(self, connection, value: bytes) -> None:
        self.written.add((CONTROL, bytes(value)))
        if self.device:
            await self.device.notify_subscribers(self.events, bytes(value))
            # An indication waits for the client, who waits for the response to this very write.
            connection.cancel_on_disconnection(self.device.indicate_subscribers(self.changes, bytes(value)))

    def _set_long(self, _, value: bytes) -> None:
        self.long = bytes(value)
        self.written.add((LONG, self.long))
