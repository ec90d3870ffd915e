"""Typed clients of `CoreBluetoothProfiles` with foreign servers: `interop-app profile` prints what it gets from a server of
Bumble's, which has Bumble's own services where there are any, and otherwise services made from the specifications.
"""

import struct

import pytest
from bumble.att import ATT_Error, Attribute, AttributeValue
from bumble.core import UUID, AdvertisingData
from bumble.device import Connection, Peer
from bumble.gatt import GATT_ANCS_SERVICE, Characteristic
from bumble.profiles.ancs import Ancs
from bumble.profiles.battery_service import BatteryService
from bumble.profiles.device_information_service import DeviceInformationService
from bumble.profiles.heart_rate_service import HeartRateService
from support import gatt_service
from support.profile_server import P, ProfileServer, report_reference
from support.waiting import Events, soon
from test_corebluetooth import pairing

SUCCESS, NOT_SUPPORTED, INVALID_PARAMETER = 1, 2, 3


@pytest.fixture
def reads(serve, host, start):
    """What the typed client of a profile prints about a server: `await reads("glucose", server, 0x1808)`."""

    async def read(profile: str, server: ProfileServer, advertised: int | UUID, **options) -> list[str]:
        air = await serve("--speed", "max")
        await server.start(host, air.endpoint, advertised, **options)
        app = await start("interop-app", "profile", profile, endpoint=air.endpoint)
        assert await app.exit() == 0, app.output.all
        return [line for line in app.output.all if line]

    return read


def sfloat(mantissa: int, exponent: int = 0) -> bytes:
    return struct.pack("<H", (exponent & 0xF) << 12 | mantissa & 0xFFF)


INFORMATION = ["battery: 55 %", "manufacturer: Anyone"]


def information() -> list:
    return [BatteryService(lambda _: 55), DeviceInformationService(manufacturer_name="Anyone")]


async def test_heart_rate(reads):
    server, resets = ProfileServer(), Events("resets")
    measurement = HeartRateService.HeartRateMeasurement(
        heart_rate=131, sensor_contact_detected=True, energy_expended=9, rr_intervals=[0.5])
    service = HeartRateService(
        lambda _: measurement, HeartRateService.BodySensorLocation.WRIST, lambda _: resets.add("reset"))
    characteristic = service.heart_rate_measurement_characteristic
    server.sent(0x2A37, P.NOTIFY, bytes(measurement), bytes(measurement), base=characteristic)
    server.services += [service, *information()]
    lines = await reads("heart-rate", server, 0x180D)
    assert lines[0] == "location: Wrist"
    assert lines[1:3] == [
        "measurement: heart rate 131 /min, sensor contact detected, energy expended 9 kJ, RR interval 0.5 s"] * 2  # fmt: skip
    assert lines[3:] == ["reset: done", *INFORMATION]
    assert resets.all == ["reset"]


async def test_thermometer(reads):
    server = ProfileServer()

    def set_interval(_, value: bytes) -> None:
        if value != struct.pack("<H", 60):
            raise ATT_Error(0x80)

    interval = Characteristic(
        server.value(0x2A21, b"").uuid, P.READ | P.WRITE, Attribute.READABLE | Attribute.WRITEABLE,
        AttributeValue(read=lambda _: struct.pack("<H", 30), write=set_interval))  # fmt: skip
    fahrenheit = b"\1" + struct.pack("<i", 986 | -1 << 24)
    celsius_at_noon_in_ear = b"\6" + struct.pack("<i", 3712 | -2 << 24) + bytes([0xE8, 7, 2, 29, 12, 0, 0]) + b"\3"
    server.add(
        0x1809, server.sent(0x2A1C, P.INDICATE, fahrenheit, celsius_at_noon_in_ear), server.value(0x2A1D, b"\6"),
        server.sent(0x2A1E, P.NOTIFY, fahrenheit), interval)  # fmt: skip
    lines = await reads("thermometer", server, 0x1809)
    assert lines == [
        "type: mouth", "intermediate: 98.6 °F", "measurement: 98.6 °F",
        "measurement: 37.12 °C, at 2024-02-29 12:00:00, measured at ear", "interval: 30 s", "set 60: done",
        "set 5: The peripheral does not permit the value."]  # fmt: skip


async def test_blood_pressure(reads):
    server = ProfileServer()
    kilopascals = b"\5" + sfloat(175, -1) + sfloat(116, -1) + sfloat(136, -1) + sfloat(64)
    cuff = b"\0" + sfloat(150) + b"\xff\x07\xff\x07"
    server.add(
        0x1810, server.sent(0x2A35, P.INDICATE, kilopascals), server.sent(0x2A36, P.NOTIFY, cuff),
        server.value(0x2A49, b"\x01\x00"))  # fmt: skip
    assert await reads("blood-pressure", server, 0x1810) == [
        "feature: body movement detection", "cuff: cuff 150 mmHg",
        "measurement: systolic 17.5 kPa, diastolic 11.6 kPa, mean 13.6 kPa, pulse 64 /min"]  # fmt: skip


async def test_weight_scale(reads):
    server = ProfileServer()
    at_noon = bytes([0xE8, 7, 2, 29, 12, 0, 0])
    stored = b"\x0e" + struct.pack("<H", 14_480) + at_noon + struct.pack("<BHH", 1, 229, 1_780)
    pounds, failed = b"\1" + struct.pack("<H", 15_961), b"\4\xff\xff\xff"
    server.add(
        0x181D, server.value(0x2A9E, b"\xa7\0\0\0"), server.sent(0x2A9D, P.INDICATE, stored, pounds, failed))
    assert await reads("weight-scale", server, 0x181D) == [
        "feature: time stamp, multiple users, body mass index, weight resolution 0.05 kg or 0.1 lb, "
        "height resolution 0.01 m or 1 inch",
        "measurement: weight 72.4 kg, at 2024-02-29 12:00:00, user 1, body mass index 22.9 kg/m², height 1.78 m",
        "measurement: weight 159.61 lb", "measurement: weight not measured, user not known"]  # fmt: skip


async def test_glucose(reads):
    """The Record Access Control Point is written here: count, report and delete, of all records or by their numbers."""
    server = ProfileServer()
    records = {number: b"\x12" + struct.pack("<H", number) + bytes([0xE8, 7, 1, 1, number, 0, 0]) + sfloat(90, -5) + b"\x11"
               for number in range(4)}
    context = struct.pack("<BHB", 2, 0, 3)
    measurements, contexts = server.sent(0x2A18, P.NOTIFY), server.sent(0x2A34, P.NOTIFY)

    def perform(command: bytes) -> bytes | None:
        code, selection, operand = command[0], command[1], command[2:]
        first, last = (struct.unpack("<HH", operand[1:]) if selection == 4 else
                       (struct.unpack("<H", operand[1:])[0], 65_535) if selection == 3 else (0, 65_535))
        selected = [number for number in records if first <= number <= last]
        if code == 4:
            return bytes([5, 0, len(selected), 0])
        if not selected:
            return bytes([6, 0, code, 6])
        if code == 2:
            for number in selected:
                del records[number]
            return bytes([6, 0, 2, SUCCESS])
        server.later(lambda: report(selected))
        return None

    async def report(selected: list[int]) -> None:
        for number in selected:
            await server.send(measurements, records[number])
            await server.send(contexts, context[:1] + struct.pack("<H", number) + context[3:])
        await server.send(access, bytes([6, 0, 1, SUCCESS]))

    access = server.control_point(0x2A52, perform)
    server.add(0x1808, measurements, contexts, server.value(0x2A51, b"\0\0"), access)
    lines = await reads("glucose", server, 0x1808)
    assert lines[1] == "count: 4"
    numbers = [line for line in lines if line.startswith("record: sequence number")]
    assert [line.split(",")[0].rsplit(" ", 1)[1] for line in numbers] == ["0", "1", "2", "3", "2", "3"]
    assert len([line for line in lines if line.startswith("context:") and "fasting" in line]) == 4
    assert lines[-3:] == [
        "delete: done", "delete again: The peripheral has refused the command: no records found.", "count: 3"]  # fmt: skip


def sensor_control(supported: bytes):
    """The SC Control Point of a sensor with these locations."""

    def perform(command: bytes) -> bytes:
        code = command[0]
        if code == 4:
            return bytes([16, 4, SUCCESS]) + supported
        wrong = code == 3 and command[1] not in supported
        return bytes([16, code, INVALID_PARAMETER if wrong else SUCCESS])

    return perform


async def test_cycling(reads):
    server = ProfileServer()
    values = [b"\3" + struct.pack("<IHHH", 100 + number, 1024 * number, 50, 512) for number in range(2)]
    server.add(
        0x1816, server.sent(0x2A5B, P.NOTIFY, *values), server.value(0x2A5C, b"\7\0"), server.value(0x2A5D, b"\x0c"),
        server.control_point(0x2A55, sensor_control(bytes([12, 13]))))  # fmt: skip
    lines = await reads("cycling", server, 0x1816)
    crank = "crank revolutions 50, the last at 0.5 s"
    assert lines == [
        "feature: wheel revolution data, crank revolution data, multiple sensor locations", "location: rear wheel",
        f"measurement: wheel revolutions 100, the last at 0 s, {crank}",
        f"measurement: wheel revolutions 101, the last at 1 s, {crank}",
        "locations: rear wheel, rear hub", "set revolutions: done", "move: done",
        "move wrongly: The peripheral has refused the command: invalid parameter."]  # fmt: skip
    assert (0x2A55, b"\x01\x40\x42\x0f\x00") in server.written.all


async def test_running(reads):
    server = ProfileServer()
    value = b"\7" + struct.pack("<HBHI", 768, 160, 113, 10_000)
    server.add(
        0x1814, server.sent(0x2A53, P.NOTIFY, value), server.value(0x2A54, b"\x1f\0"), server.value(0x2A5D, b"\2"),
        server.control_point(0x2A55, sensor_control(bytes([2, 3]))))  # fmt: skip
    lines = await reads("running", server, 0x1814)
    assert lines[1:] == [
        "location: in shoe",
        "measurement: running at 3 m/s, cadence 160 /min, stride length 1.13 m, total distance 1000 m",
        "locations: in shoe, hip", "set distance: done", "calibrate: done"]  # fmt: skip
    assert (0x2A55, b"\x01\x10\x27\0\0") in server.written.all


async def test_cycling_power(reads):
    server = ProfileServer()

    def perform(command: bytes) -> bytes:
        parameters = {5: struct.pack("<H", 350), 12: struct.pack("<h", -7), 15: bytes([0xE8, 7, 1, 15, 0, 0, 0])}
        known = command[0] in (4, *parameters)
        return bytes([32, command[0], SUCCESS if known else NOT_SUPPORTED]) + parameters.get(command[0], b"")

    value = struct.pack("<HhBIH", 0x0013, 210, 96, 1_000, 2_048)
    vector = struct.pack("<BHH3h", 0x15, 60, 1_024, 100, 110, 90)
    server.add(
        0x1818, server.sent(0x2A63, P.NOTIFY, value), server.sent(0x2A64, P.NOTIFY, vector),
        server.value(0x2A65, struct.pack("<I", 0x8D)), server.value(0x2A5D, b"\5"), server.control_point(0x2A66, perform),
    )  # fmt: skip
    lines = await reads("cycling-power", server, 0x1818)
    assert lines == [
        "feature: pedal power balance, wheel revolution data, crank revolution data, accumulated energy",
        "location: left crank",
        "measurement: power 210 W, left pedal's share 48 %, wheel revolutions 1000, the last at 1 s",
        "vector: crank revolutions 60, the last at 1 s, direction tangential, force 100 N, force 110 N, force 90 N",
        "set crank length: done", "crank length: 0.175 m", "offset: -7", "calibrated: 2024-01-15 00:00:00",
        "chain length: The peripheral has refused the command: op code not supported."]  # fmt: skip
    assert (0x2A66, b"\4\x5e\1") in server.written.all


async def test_location(reads):
    server = ProfileServer()

    def perform(command: bytes) -> bytes:
        parameters = {4: b"\1\0", 5: "Hütte".encode()}
        code = INVALID_PARAMETER if command == b"\7\0" else SUCCESS
        return bytes([32, command[0], code]) + parameters.get(command[0], b"")

    value = struct.pack("<HHii", 0x0085, 500, 480_000_000, -110_000_000)
    direction = struct.pack("<HHH", 0x0008 | 1, 27_000, 9_000) + (1_234).to_bytes(3, "little")
    server.add(
        0x1819, server.value(0x2A6A, struct.pack("<I", 0x05)), server.sent(0x2A67, P.NOTIFY, value),
        server.value(0x2A69, b"\x83\x00\x08\x0b"), server.control_point(0x2A6B, perform),
        server.sent(0x2A68, P.NOTIFY, direction))  # fmt: skip
    lines = await reads("location", server, 0x1819)
    assert lines == [
        "feature: instantaneous speed, location", "quality: position OK, beacons in solution 8, beacons in view 11",
        "location: position OK, latitude 48 °, longitude -11 °, speed 5 m/s", "routes: 1", "route: Hütte", "select: done",
        "start: done", "direction: position OK, waypoint at 270 °, heading 90 °, remaining 123.4 m",
        "fix rate: The peripheral has refused the command: invalid parameter."]  # fmt: skip
    assert [value for _, value in server.written.all] == [b"\4", b"\5\0\0", b"\6\0\0", b"\3\1", b"\7\0"]


async def test_keyboard(reads):
    server = ProfileServer()
    encrypted = Attribute.READABLE | Attribute.READ_REQUIRES_ENCRYPTION
    report_map = bytes.fromhex(
        "05010906a1018501 050719e029e71500250175019508 8102 95017508 8101 9506750815002565050719002965 8100 c0")  # fmt: skip
    a = bytes([0, 0, 4]) + bytes(5)
    report = server.value(0x2A4D, bytes(8), P.READ | P.NOTIFY, [report_reference(1, 1)], encrypted)
    boot = server.value(0x2A22, bytes(8), P.READ | P.NOTIFY, permissions=encrypted)
    mode = Characteristic(
        server.value(0x2A4E, b"").uuid, P.READ | P.WRITE_WITHOUT_RESPONSE, Attribute.READABLE | Attribute.WRITEABLE, b"\1")
    server.add(
        0x1812, mode, server.value(0x2A4B, report_map, permissions=encrypted),
        server.sent(0x2A4D, P.NOTIFY, a, bytes(8), base=report), server.sent(0x2A22, P.NOTIFY, a, bytes(8), base=boot),
        server.command(0x2A32, P.READ | P.WRITE | P.WRITE_WITHOUT_RESPONSE),
        server.value(0x2A4A, b"\x11\x01\x00\x02", permissions=encrypted), server.command(0x2A4C))  # fmt: skip
    server.services += information()
    lines = await reads("keyboard", server, 0x1812, pairing=pairing())
    assert lines[:2] == ["information: version 1.11, country 0, flags normally connectable", "report: report 1, type input"]
    assert "mode: Boot Protocol Mode" in lines
    inputs = [line for line in lines if line.startswith(("input", "key "))]
    assert inputs == [f"input 1: {a.hex()}", f"input 1: {bytes(8).hex()}", "key 4: pressed", "key 4: released"]
    assert lines[-2:] == INFORMATION
    assert (0x2A32, b"\2") in server.written.all and (0x2A4C, b"\0") in server.written.all


async def test_proximity(reads):
    server = ProfileServer()
    level = Characteristic(
        server.value(0x2A06, b"").uuid, P.READ | P.WRITE, Attribute.READABLE | Attribute.WRITEABLE, b"\0")
    server.add(0x1802, server.command(0x2A06))
    server.add(0x1803, level)
    server.add(0x1804, server.value(0x2A07, b"\xf8"))
    lines = await reads("proximity", server, 0x1803)
    assert lines == [
        "link loss: No Alert", "set link loss: done", "power: -8 dBm", "alert: done", "link loss: Mild Alert"]  # fmt: skip
    assert server.written.all == [(0x2A06, b"\2")]


async def test_find_me(reads):
    server = ProfileServer()
    server.add(0x1802, server.command(0x2A06))
    server.services += information()
    assert await reads("find-me", server, 0x1802) == ["alert: done", *INFORMATION]
    assert server.written.all == [(0x2A06, b"\2")]


async def test_time(reads):
    server = ProfileServer()
    now = bytes([0xE8, 7, 2, 29, 23, 59, 58, 4, 128, 0])
    current = server.value(0x2A2B, now, P.READ | P.NOTIFY)
    server.add(
        0x1805, server.sent(0x2A2B, P.NOTIFY, now[:-1] + b"\2", base=current), server.value(0x2A0F, b"\4\0"),
        server.value(0x2A14, b"\6\x08\0\1"))  # fmt: skip
    server.add(0x1807, server.value(0x2A11, bytes([0xE8, 7, 3, 31, 2, 0, 0, 4])))
    server.add(0x1806, server.command(0x2A16), server.value(0x2A17, b"\0\5"))
    lines = await reads("time", server, 0x1805)
    state, clock = "state: state idle, last result update not attempted after reset", "2024-02-29 23:59:58, Thursday"
    assert lines == [
        f"time: {clock}, fraction 128/256 s, adjusted for none", "local: time zone 60 min, standard time",
        "reference: source cellular network, accuracy 1 s, updated 0 d 1 h ago",
        "change: 2024-03-31 02:00:00, daylight time", state,
        f"adjustment: {clock}, fraction 128/256 s, adjusted for external reference time update", "update: done",
        state]  # fmt: skip
    assert (0x2A16, b"\1") in server.written.all


async def test_alert_notification(reads):
    server = ProfileServer()

    def perform(_, command: bytes) -> None:
        if command != b"\0\1":
            raise ATT_Error(0xA0)

    control = Characteristic(
        server.value(0x2A44, b"").uuid, P.WRITE, Attribute.WRITEABLE, AttributeValue(write=perform))
    server.add(
        0x1811, server.value(0x2A47, b"\x0a\0"), server.sent(0x2A46, P.NOTIFY, b"\1\2Anna"), server.value(0x2A48, b"\2"),
        server.sent(0x2A45, P.NOTIFY, b"\1\3"), control)  # fmt: skip
    assert await reads("alert-notification", server, 0x1811) == [
        "new: email, call", "unread: email", "enable: done",
        "enable news: The peripheral does not support the command.", "alert: category email, new 2, text Anna",
        "unread alerts: category email, unread 3"]  # fmt: skip


async def test_phone_alert_status(reads):
    server = ProfileServer()
    status = server.value(0x2A3F, b"\1", P.READ | P.NOTIFY)
    server.add(
        0x180E, server.sent(0x2A3F, P.NOTIFY, b"\0", base=status), server.value(0x2A41, b"\1", P.READ | P.NOTIFY),
        server.command(0x2A40))  # fmt: skip
    assert await reads("phone-alert", server, 0x180E) == [
        "status: ringing", "ringer: Ringer Normal", "mute: done", "status: none"]  # fmt: skip
    assert (0x2A40, b"\2") in server.written.all


def notification_center() -> ProfileServer:
    """A server with Bumble's service, whose behaviour is written here: there is one call, number 7."""
    server, service = ProfileServer(), Ancs()
    app, message = b"com.example.phone", MESSAGE.encode()
    texts = [app, b"Ben", b"", message, str(len(message)).encode(), b"20240229T235958", b"Answer", b"Decline"]
    HAS_LENGTH = (1, 2, 3)
    INVALID_PARAMETER, ACTION_FAILED = 0xA2, 0xA3
    source, data, control = (
        service.notification_source_characteristic, service.data_source_characteristic,
        service.control_point_characteristic)  # fmt: skip
    event = struct.pack("<BBBBI", 0, 0b11010, 1, 1, 7)
    server.sent(0, P.NOTIFY, event, base=source)

    def attribute(number: int, value: bytes) -> bytes:
        return struct.pack("<BH", number, len(value)) + value

    def respond(response: bytes) -> None:
        # Parts for the smallest ATT_MTU.
        parts = [response[start : start + 20] for start in range(0, len(response), 20)]
        server.later(lambda: server.send(data, *parts))

    def perform(_, command: bytes) -> None:
        code, body = command[0], bytes(command[1:])
        if code == 1:
            assert body == app + b"\0\0"
            return respond(command[:-1] + attribute(0, "Телефон".encode()))
        if body[:4] != struct.pack("<I", 7):
            raise ATT_Error(INVALID_PARAMETER)
        if code == 2:
            if body[4] != 0:
                raise ATT_Error(ACTION_FAILED)
            return server.later(lambda: server.send(source, b"\2" + event[1:3] + b"\0" + event[4:]))
        response, requests = command[:5], list(body[4:])
        while requests:
            number = requests.pop(0)
            length = requests.pop(0) | requests.pop(0) << 8 if number in HAS_LENGTH else 65_535
            response += attribute(number, texts[number][:length])
        respond(response)

    control.value = AttributeValue(write=perform)
    control.permissions |= Attribute.WRITE_REQUIRES_ENCRYPTION
    server.services.append(service)
    return server


MESSAGE, FLAGS = "äöü " * 50, "flags important, positive action, negative action"
# What the client prints of the call.
CALL = [
    f"event: added 7, category incoming call, 1 in the category, {FLAGS}", "app: com.example.phone", "title: Ben",
    "subtitle: ", f"message: {MESSAGE}", f"size: {len(MESSAGE.encode())}", "date: 2024-02-29 23:59:58",
    "actions: Answer, Decline", "name: Телефон", "other notification: The phone has no such notification, app or attribute.",
    "decline: The phone has not performed the action.", "answer: done",
    f"event: removed 7, category incoming call, 0 in the category, {FLAGS}"]  # fmt: skip


async def test_notifications(reads):
    server = notification_center()
    assert await reads("notifications", server, GATT_ANCS_SERVICE, pairing=pairing()) == CALL
    assert [event[1][0].is_encrypted for event in server.host.connected.all] == [True]


async def test_notifications_of_phone_that_connects(serve, host, start):
    """As with a real phone: the accessory advertises, the phone connects, and the accessory is the client."""
    air = await serve("--speed", "max")
    app = await start("interop-app", "consumer", endpoint=air.endpoint)
    server = notification_center()
    server.host = await host("phone", endpoint=air.endpoint, services=server.services, pairing=pairing())
    advertisement = await server.host.find("watch")
    assert GATT_ANCS_SERVICE in advertisement.data.get(AdvertisingData.Type.LIST_OF_128_BIT_SERVICE_SOLICITATION_UUIDS)
    connection = await server.host.connect(advertisement.address)
    # The accessory asks for encryption, because the service demands it.
    connection.on(Connection.EVENT_SECURITY_REQUEST, lambda _: server.later(connection.pair))
    peer = Peer(connection)
    await soon(peer.discover_all())
    await soon(peer.get_characteristics_by_uuid(gatt_service.EVENTS)[0].subscribe(lambda _: None))
    assert await app.exit() == 0, app.output.all
    assert [line for line in app.output.all if line] == CALL
    assert connection.is_encrypted
