"""Accessories of the standard profiles under a foreign client: Bumble reads those of a world file on `ble air`, by its own
profile clients where it has them, otherwise by the formats of the specifications.

Where somebody has to use the accessory meanwhile, the test plays its user. `test_profile_clients.py` is the other way
round.
"""

import datetime
import json
import struct
import uuid

import pytest
from bumble import core, data_types
from bumble.att import ATT_Error
from bumble.core import AdvertisingData
from bumble.device import Connection, Peer
from bumble.gatt import GATT_ANCS_SERVICE
from bumble.pairing import PairingConfig
from bumble.profiles import ancs
from bumble.profiles.heart_rate_service import HeartRateService, HeartRateServiceProxy
from support import formats
from support.profile_client import ProfileClient
from support.profile_server import P, ProfileServer
from support.hosts import disconnected
from support.waiting import Events, events_of, soon
from test_corebluetooth import pairing

# Radio seconds per second: many accessories measure once a second.
SPEED = 8
SUCCESS, NOT_SUPPORTED, INVALID_PARAMETER, OPERATION_FAILED = 1, 2, 3, 4
VALUE_NOT_ALLOWED = 0x13
KILOGRAM_PER_LITRE, FINGER, CAPILLARY_WHOLE_BLOOD, FASTING = "kg/l", 1, 1, 3


@pytest.fixture
def meets(serve, host, tmp_path):
    """Connects Bumble to an accessory: `await meets("heart-rate", beatsPerMinute=61)`."""

    async def meet(kind: str, model: str | None = None, pairing: PairingConfig | None = None, **fields) -> ProfileClient:
        accessory = {"kind": kind, "localName": "accessory", "batteryLevel": 80, **fields}
        (tmp_path / "world.json").write_text(json.dumps({"devices": [{"name": "accessory", "accessory": accessory}]}))
        air = await serve("--world", tmp_path / "world.json", "--speed", SPEED)
        central = await host("central", endpoint=air.endpoint, pairing=pairing)
        client = await ProfileClient.connect(central, "accessory")
        assert await client.battery_level() == 80
        if model:
            assert await client.names() == ("BluetoothLab", model)
        return client

    return meet


@pytest.fixture
def plays(play, host):
    """Connects Bumble to an accessory whose user the test plays: `await plays("keyboard")`."""

    async def meet(kind: str):
        air = await play(kind)
        central = await host("central", endpoint=air.endpoint, pairing=pairing())
        return air, await ProfileClient.connect(central, "accessory")

    return meet


async def refusal(writing) -> int:
    """The error code with which a write is rejected."""
    with pytest.raises(ATT_Error) as caught:
        await writing
    return caught.value.error_code


async def test_heart_rate(meets):
    client = await meets("heart-rate", beatsPerMinute=61, energyPerMeasurement=3)
    belt = await soon(client.peer.discover_service_and_create_proxy(HeartRateServiceProxy))
    assert await soon(belt.body_sensor_location.read_value()) == HeartRateService.BodySensorLocation.CHEST
    measurements = Events("measurements")
    await soon(belt.heart_rate_measurement.subscribe(measurements.add))
    first, second = await measurements.next(), await measurements.next()
    assert (first.heart_rate, first.sensor_contact_detected, first.rr_intervals) == (61, True, None)
    assert second.energy_expended == first.energy_expended + 3
    # Not by `reset_energy_expended`, which sends a Write Command: the characteristic permits requests only.
    await soon(belt.heart_rate_control_point.write_value(HeartRateService.RESET_ENERGY_EXPENDED, with_response=True))
    assert (await measurements.next(lambda value: value.energy_expended < second.energy_expended)).energy_expended <= 6
    assert await refusal(client.write(0x180D, 0x2A39, b"\2")) == HeartRateService.CONTROL_POINT_NOT_SUPPORTED


async def test_heart_rate_of_more_than_255(meets):
    client = await meets("heart-rate", beatsPerMinute=300)
    belt = await soon(client.peer.discover_service_and_create_proxy(HeartRateServiceProxy))
    measurements = Events("measurements")
    await soon(belt.heart_rate_measurement.subscribe(measurements.add))
    assert (await measurements.next()).heart_rate == 300


async def test_health_thermometer(meets):
    client = await meets("thermometer", "Thermometer", celsius=37.25)
    measurements = await client.subscribe(0x1809, 0x2A1C)
    assert formats.temperature(await measurements.next()) == {"unit": "°C", "temperature": 37.25}
    intermediate = await client.subscribe(0x1809, 0x2A1E)
    assert formats.temperature(await intermediate.next()) == {"unit": "°C", "temperature": 37.25}
    body = 2
    assert await client.read(0x1809, 0x2A1D) == bytes([body])

    assert await client.read(0x1809, 0x2A21) == b"\1\0"
    interval = client.characteristic(0x1809, 0x2A21)
    await soon(interval.discover_descriptors())
    valid_range = interval.get_descriptor(core.UUID.from_16_bits(0x2906))
    assert await soon(valid_range.read_value()) == b"\x01\x00\xff\xff"
    intervals = await client.subscribe(0x1809, 0x2A21)
    await client.write(0x1809, 0x2A21, b"\2\0")
    assert await intervals.next() == b"\2\0" == await client.read(0x1809, 0x2A21)


async def test_blood_pressure(meets):
    client = await meets("blood-pressure", "Blood Pressure Monitor", systolic=131, diastolic=86, pulseRate=64)
    measurements = await client.subscribe(0x1810, 0x2A35)
    assert formats.blood_pressure(await measurements.next()) == {
        "unit": "mmHg", "systolic": 131, "diastolic": 86, "mean": 101, "pulse": 64}  # fmt: skip
    pressures = await client.subscribe(0x1810, 0x2A36)
    first, second = [formats.blood_pressure(await pressures.next()) for _ in range(2)]
    assert 131 + 30 > first["systolic"] > second["systolic"] > 86 - 20
    assert first["diastolic"] != first["diastolic"] and first["mean"] != first["mean"], "NaN"
    assert await client.read(0x1810, 0x2A49) == b"\0\0"


async def test_glucose(meets):
    client = await meets("glucose", "Glucose Meter", records=12)
    assert len(await client.read(0x1808, 0x2A51)) == 2
    CONTROL_POINT_NOT_CONFIGURED = 0x81
    assert await refusal(client.write(0x1808, 0x2A52, b"\1\1")) == CONTROL_POINT_NOT_CONFIGURED
    measurements, contexts = [await client.subscribe(0x1808, number) for number in (0x2A18, 0x2A34)]
    access = await client.control_point(0x1808, 0x2A52)
    REPORT, DELETE, ABORT, COUNT, NUMBER, RESPONSE = 1, 2, 3, 4, 5, 6
    ALL, UP_TO, FROM, WITHIN, FIRST, LAST = range(1, 7)
    NO_RECORDS, INVALID_OPERATOR, ABORT_UNSUCCESSFUL, INVALID_OPERAND, NO_OPERAND = 6, 3, 7, 5, 9

    assert await access.perform(COUNT, ALL) == bytes([NUMBER, 0, 12, 0])
    assert await access.perform(REPORT, ALL) == bytes([RESPONSE, 0, REPORT, SUCCESS])
    records = [formats.glucose(await measurements.next()) for _ in range(12)]
    assert [record["number"] for record in records] == list(range(12))
    assert records[2] == {
        "number": 2, "time": (2024, 1, 1, 2, 0, 0), "has context": True, "unit": KILOGRAM_PER_LITRE,
        "concentration": 0.00104, "type": CAPILLARY_WHOLE_BLOOD, "location": FINGER}  # fmt: skip
    with_context = [record["number"] for record in records if record["has context"]]
    assert [formats.glucose_context(await contexts.next()) for _ in with_context] == [
        {"number": number, "meal": FASTING} for number in with_context]  # fmt: skip

    for selection, numbers in {
        (FIRST,): [0], (LAST,): [11], (UP_TO, 1, 1, 0): [0, 1], (FROM, 1, 10, 0): [10, 11],
        (WITHIN, 1, 4, 0, 6, 0): [4, 5, 6],
        # By time: 2024-01-01 from 09:00:00 on.
        (FROM, 2, 0xE8, 0x07, 1, 1, 9, 0, 0): [9, 10, 11],
    }.items():  # fmt: skip
        assert await access.perform(REPORT, *selection) == bytes([RESPONSE, 0, REPORT, SUCCESS])
        assert [formats.glucose(await measurements.next())["number"] for _ in numbers] == numbers
    for wrong, code in {
        (COUNT, 7): INVALID_OPERATOR, (COUNT, FROM): INVALID_OPERAND, (COUNT, FROM, 9, 0, 0): NO_OPERAND,
        (9, ALL): NOT_SUPPORTED, (REPORT, FROM, 1, 99, 0): NO_RECORDS, (ABORT, 0): ABORT_UNSUCCESSFUL,
    }.items():  # fmt: skip
        assert await access.perform(*wrong) == bytes([RESPONSE, 0, wrong[0], code])
    assert await access.perform(DELETE, WITHIN, 1, 4, 0, 6, 0) == bytes([RESPONSE, 0, DELETE, SUCCESS])
    assert await access.perform(COUNT, ALL) == bytes([NUMBER, 0, 9, 0])
    assert await access.perform(REPORT, FROM, 1, 3, 0) == bytes([RESPONSE, 0, REPORT, SUCCESS])
    assert [formats.glucose(await measurements.next())["number"] for _ in range(6)] == [3, 7, 8, 9, 10, 11]


async def test_glucose_report_that_is_aborted(meets):
    client = await meets("glucose", records=60_000)
    measurements = await client.subscribe(0x1808, 0x2A18)
    access = await client.control_point(0x1808, 0x2A52)
    await access.begin(1, 1)
    await measurements.next()
    IN_PROGRESS = 0x80
    assert await refusal(access.begin(4, 1)) == IN_PROGRESS
    assert await access.perform(3, 0) == bytes([6, 0, 3, SUCCESS])
    assert await access.perform(4, 1) == bytes([5, 0]) + (60_000).to_bytes(2, "little")
    assert len(measurements.all) < 60_000
    assert not formats.glucose(measurements.all[2])["has context"], "the client does not take contexts"


async def test_weight_scale(meets):
    weighings = [
        {"at": 0, "weight": 61.52, "user": 2, "height": 1.7}, {"at": 6, "weight": 40, "duration": 1},
        {"at": 8, "weight": 400}, {"at": 60, "weight": 62.5}]  # fmt: skip
    client = await meets("weight-scale", "Weight Scale", weighings=weighings, startTime="2024-02-29T23:59:58")
    assert await client.read(0x181D, 0x2A9E) == bytes([0b1010_0111, 0, 0, 0])
    measurements = await client.subscribe(0x181D, 0x2A9D)
    assert [formats.weight(await measurements.next()) for _ in range(4)] == [
        {"unit": "g", "weight": 61_500, "time": (2024, 3, 1, 0, 0, 0), "user": 2, "index": 213, "height": 1_700},
        {"unit": "g", "weight": None, "time": (2024, 3, 1, 0, 0, 5), "user": 255},
        {"unit": "g", "weight": None, "time": (2024, 3, 1, 0, 0, 8), "user": 255},
        {"unit": "g", "weight": 62_500, "time": (2024, 3, 1, 0, 1, 0), "user": 255}]  # fmt: skip


async def test_weight_scale_in_pounds(meets):
    client = await meets("weight-scale", weighings=[{"at": 0, "weight": 61.52}], units="lb", weightResolution="5 g")
    measurements = await client.subscribe(0x181D, 0x2A9D)
    value = formats.weight(await measurements.next())
    assert (value["unit"], value["weight"]) == ("0.01 lb", 13_563)


def rate(first: tuple[int, int], second: tuple[int, int], unit: int = 1024) -> float:
    """Revolutions per second between two values of (cumulative revolutions, time of the last one)."""
    return (second[0] - first[0]) / ((second[1] - first[1]) % 65_536 / unit)


async def test_cycling_speed_and_cadence(meets):
    client = await meets("cycling", "Speed and Cadence Sensor", speed=6, cadence=90, wheelCircumference=2)
    wheel_crank_and_locations = 0b111
    assert await client.read(0x1816, 0x2A5C) == bytes([wheel_crank_and_locations, 0])
    rear_wheel, front_wheel, chainstay, rear_hub, in_shoe = 12, 4, 11, 13, 2
    assert await client.read(0x1816, 0x2A5D) == bytes([rear_wheel])
    measurements = await client.subscribe(0x1816, 0x2A5B)
    first, second = [formats.cycling(await measurements.next()) for _ in range(2)]
    assert rate(first["wheel"], second["wheel"]) == pytest.approx(3, rel=0.01)
    assert rate(first["crank"], second["crank"]) == pytest.approx(1.5, rel=0.01)

    control = await client.control_point(0x1816, 0x2A55)
    assert await control.perform(4) == bytes([16, 4, SUCCESS, rear_wheel, front_wheel, chainstay, rear_hub])
    assert await control.perform(3, front_wheel) == bytes([16, 3, SUCCESS])
    assert await client.read(0x1816, 0x2A5D) == bytes([front_wheel])
    assert await control.perform(3, in_shoe) == bytes([16, 3, INVALID_PARAMETER])
    assert await control.perform(1, 0x40, 0x42, 0x0F, 0) == bytes([16, 1, SUCCESS])
    while (formats.cycling(await measurements.next()))["wheel"][0] < 1_000_000:
        pass
    assert await control.perform(1, 0, 0) == bytes([16, 1, INVALID_PARAMETER])
    assert await control.perform(2) == bytes([16, 2, NOT_SUPPORTED])


async def test_running_speed_and_cadence(meets):
    client = await meets("running", "Foot Pod", speed=3, cadence=160)
    assert await client.read(0x1814, 0x2A54) == bytes([0b11111, 0])
    in_shoe, top_of_shoe, hip = 2, 1, 3
    assert await client.read(0x1814, 0x2A5D) == bytes([in_shoe])
    measurements = await client.subscribe(0x1814, 0x2A53)
    first, second = [formats.running(await measurements.next()) for _ in range(2)]
    assert second["distance"] - first["distance"] == pytest.approx(3, abs=0.11)
    del first["distance"]
    assert first == {"running": True, "speed": 3, "cadence": 160, "stride": 1.13}

    control = await client.control_point(0x1814, 0x2A55)
    assert await control.perform(4) == bytes([16, 4, SUCCESS, in_shoe, top_of_shoe, hip])
    assert await control.perform(1, 0x10, 0x27, 0, 0) == bytes([16, 1, SUCCESS])
    assert (await measurements.next(lambda value: formats.running(value)["distance"] >= 1_000)) is not None
    await control.begin(2)
    IN_PROGRESS = 0x80
    assert await refusal(control.begin(4)) == IN_PROGRESS
    assert await control.response() == bytes([16, 2, SUCCESS])
    # Who unsubscribes ends the calibration, and gets no response.
    await control.begin(2)
    await client.unsubscribe(0x1814, 0x2A55)
    control = await client.control_point(0x1814, 0x2A55)
    assert await control.perform(3, hip) == bytes([16, 3, SUCCESS])


async def test_cycling_power(meets):
    client = await meets("cycling-power", "Power Meter", power=210, cadence=90, speed=6, wheelCircumference=2, leftShare=48)
    assert len(await client.read(0x1818, 0x2A65)) == 4
    left_crank, right_crank, spider = 5, 6, 15
    assert await client.read(0x1818, 0x2A5D) == bytes([left_crank])
    measurements = await client.subscribe(0x1818, 0x2A63)
    first, second = [formats.cycling_power(await measurements.next()) for _ in range(2)]
    assert first | second == second and (second["power"], second["balance"], second["balance of"]) == (210, 48, "left")
    assert rate(first["wheel"], second["wheel"], 2048) == pytest.approx(3, rel=0.01)
    assert rate(first["crank"], second["crank"]) == pytest.approx(1.5, rel=0.01)
    # Torque is power by angular velocity, and is accumulated with each revolution.
    assert second["torque"] - first["torque"] == pytest.approx(210 / (2 * 3.14159 * 1.5) * 1.5, abs=1 / 16)
    vectors = await client.subscribe(0x1818, 0x2A64)
    vector = formats.cycling_power_vector(await vectors.next())
    force = 210 / (2 * 3.14159 * 1.5) / 0.1725
    assert vector["direction"] == "tangential" and len(vector["forces"]) == 6
    assert sum(vector["forces"]) / 6 == pytest.approx(force, abs=1)

    NOT_CONFIGURED, IN_PROGRESS = 0xFD, 0xFE
    assert await refusal(client.write(0x1818, 0x2A66, b"\5")) == NOT_CONFIGURED
    control = await client.control_point(0x1818, 0x2A66)
    assert await control.perform(3) == bytes([32, 3, SUCCESS, left_crank, right_crank, spider])
    assert await control.perform(5) == bytes([32, 5, SUCCESS]) + (345).to_bytes(2, "little")
    for setting, request, value in ((4, 5, 340), (6, 7, 1_390), (8, 9, 240), (10, 11, 55)):
        octets = value.to_bytes(2, "little")
        assert await control.perform(setting, *octets) == bytes([32, setting, SUCCESS])
        assert await control.perform(request) == bytes([32, request, SUCCESS]) + octets
    await control.begin(12)
    assert await refusal(control.begin(3)) == IN_PROGRESS
    assert await control.response() == bytes([32, 12, SUCCESS, 12, 0])
    assert await control.perform(14) == bytes([32, 14, SUCCESS, 50])
    assert await control.perform(15) == bytes([32, 15, SUCCESS, 0xE8, 0x07, 1, 15, 0, 0, 0])
    assert await control.perform(0x30) == bytes([32, 0x30, NOT_SUPPORTED])
    assert await control.perform(1, 1) == bytes([32, 1, INVALID_PARAMETER])
    every_field = 0x1FF
    assert await control.perform(13, *every_field.to_bytes(2, "little")) == bytes([32, 13, SUCCESS])
    alone = await measurements.next(lambda value: len(value) == 4)
    assert formats.cycling_power(alone) == {"power": 210}


async def test_location_and_navigation(meets):
    # The second waypoint is 111.2 m north of the first.
    route = {"name": "Hut", "waypoints": [{"latitude": latitude, "longitude": 11} for latitude in (48, 48.001)]}
    client = await meets("location", "Location Sensor", speed=5, heading=90, elevation=500, routes=[route])
    assert len(await client.read(0x1819, 0x2A6A)) == 4
    assert formats.position_quality(await client.read(0x1819, 0x2A69)) == {
        "status": "ok", "in_solution": 8, "in_view": 11, "horizontal": 3}  # fmt: skip
    locations = await client.subscribe(0x1819, 0x2A67)
    first, second = [formats.location(await locations.next()) for _ in range(2)]
    assert second["distance"] - first["distance"] == pytest.approx(5, abs=0.11)
    assert first["position"][0] == 48 and first["position"][1] < second["position"][1]
    assert (first["status"], first["speed"], first["elevation"], first["heading"]) == ("ok", 5, 500, 90)

    control = await client.control_point(0x1819, 0x2A6B)
    assert await control.perform(4) == bytes([32, 4, SUCCESS, 1, 0])
    assert await control.perform(5, 0, 0) == bytes([32, 5, SUCCESS]) + b"Hut"
    assert await control.perform(5, 1, 0) == bytes([32, 5, INVALID_PARAMETER])
    start = (3, 1)
    assert await control.perform(*start) == bytes([32, 3, OPERATION_FAILED])
    assert await control.perform(6, 0, 0) == bytes([32, 6, SUCCESS])
    directions = await client.subscribe(0x1819, 0x2A68)
    assert await control.perform(*start) == bytes([32, 3, SUCCESS])
    direction = formats.navigation(await directions.next())
    # Back to the west, where it came from.
    assert direction["bearing"] == 270 and direction["remaining"] > 0 and not direction["to destination"]
    reached = await directions.next(lambda value: formats.navigation(value)["waypoint reached"])
    assert formats.navigation(reached)["bearing"] == pytest.approx(0, abs=0.01)
    assert formats.navigation(reached)["remaining"] == pytest.approx(111.2, abs=0.1)
    stop = (3, 0)
    assert await control.perform(*stop) == bytes([32, 3, SUCCESS])
    assert await control.perform(1, 0x10, 0x27, 0) == bytes([32, 1, SUCCESS])
    assert await control.perform(8, 0x00, 0xFF, 0xFF) == bytes([32, 8, SUCCESS])
    lower = await locations.next(lambda value: formats.location(value)["elevation"] < 500)
    assert formats.location(lower)["elevation"] == -2.56 and formats.location(lower)["distance"] >= 1_000
    assert await control.perform(7, 0) == bytes([32, 7, INVALID_PARAMETER])
    assert await control.perform(7, 5) == bytes([32, 7, SUCCESS])
    every_field = 0x7F
    assert await control.perform(2, every_field, 0) == bytes([32, 2, SUCCESS])
    await locations.next(lambda value: formats.location(value) == {"status": "ok"})


async def test_find_me_and_proximity(meets):
    client = await meets("key-fob", "Key Fob", transmitPowerLevel=-8)
    assert await client.read(0x1804, 0x2A07) == b"\xf8"
    mild, high, reserved = b"\1", b"\2", b"\3"
    assert await client.read(0x1803, 0x2A06) == b"\0"
    await client.write(0x1803, 0x2A06, high)
    assert await client.read(0x1803, 0x2A06) == high
    assert await refusal(client.write(0x1803, 0x2A06, reserved)) == VALUE_NOT_ALLOWED
    immediate = client.characteristic(0x1802, 0x2A06)
    assert immediate.properties == immediate.properties.WRITE_WITHOUT_RESPONSE
    await client.write(0x1802, 0x2A06, mild, with_response=False)


async def test_finder_tag(meets):
    client = await meets("finder-tag", "Tag", transmitPowerLevel=-8, light="flashing")
    assert await client.read(0x1804, 0x2A07) == b"\xf8"
    light = [f"6E1B3A40-2C5D-4F07-9A8E-3D94B1C06F{number}" for number in ("00", "01")]
    off, on, flashing, reserved = b"\0", b"\1", b"\2", b"\3"
    states = await client.subscribe(*light)
    assert await client.read(*light) == flashing
    await client.write(*light, on)
    assert await states.next() == on
    await client.write(*light, off, with_response=False)
    assert await states.next() == off == await client.read(*light)
    assert await refusal(client.write(*light, reserved)) == VALUE_NOT_ALLOWED
    buzzer = client.characteristic(0x1802, 0x2A06)
    assert buzzer.properties == buzzer.properties.WRITE_WITHOUT_RESPONSE


async def test_pin_board(meets):
    press = {"at": 60, "pin": 7, "duration": 1}
    client = await meets("pin-board", "Pin Board", lowPins=[5], millivolts=[1300, 650, 0], presses=[press])

    def board(number: int) -> tuple[str, str]:
        return tuple(f"229B{part:04X}-03FB-40DA-98A7-B0DEF65C2D4B" for part in (0xFF00, number))

    SETTING, PULL_UP, OUTPUT, INPUT, PULSED, PERIOD, DUTY, DRIVE, ANALOG = range(0x3000, 0x3009)
    led = bytes([1 << 1])
    for number in (SETTING, OUTPUT):
        await client.write(*board(number), led, with_response=False)
        assert await client.read(*board(number)) == led
    levels = await client.subscribe(*board(INPUT))
    await client.write(*board(PULL_UP), bytes([0b0110_0000]))
    assert await levels.next() == bytes([0b0100_0000]) == await client.read(*board(INPUT))
    # By the schedule of the file.
    assert [await levels.next() for _ in range(2)] == [bytes([0b1100_0000]), bytes([0b0100_0000])]
    assert await refusal(client.write(*board(DUTY), bytes([1, 0, 0, 0, 1]))) == VALUE_NOT_ALLOWED
    await client.write(*board(PERIOD), bytes([1]) + (10_000).to_bytes(4, "big"))
    await client.write(*board(DUTY), bytes([1]) + (2_500).to_bytes(4, "big"))
    await client.write(*board(PULSED), led)
    voltages = [await client.read(*board(ANALOG + pin)) for pin in range(3)]
    assert [int.from_bytes(voltage, "big") for voltage in voltages] == [1_300, 650, 0]
    await client.write(*board(DRIVE), bytes([2]) + (1_000).to_bytes(2, "big"))
    assert int.from_bytes(await client.read(*board(ANALOG + 2)), "big") == 1_000


async def test_sensor_tag(meets):
    client = await meets("sensor-tag", "Sensor Tag", ambientTemperature=-7.5, humidity=75, pressure=98_765)

    def sensor(service: int, number: int) -> tuple[str, str]:
        return tuple(f"F000{service + part:04X}-0451-4000-B000-000000000000" for part in (0, number))

    HUMIDITY, PRESSURE, DATA, CONFIGURATION = 0xAA20, 0xAA40, 1, 2
    on, off = b"\1", b"\0"
    values = await client.subscribe(*sensor(HUMIDITY, DATA))
    await client.write(*sensor(HUMIDITY, CONFIGURATION), on)
    value = await values.next()
    assert int.from_bytes(value[:2], "little") / 65_536 * 165 - 40 == pytest.approx(-7.5, abs=0.01)
    assert int.from_bytes(value[2:], "little") / 65_536 * 100 == pytest.approx(75, abs=0.01)
    await client.write(*sensor(HUMIDITY, CONFIGURATION), off)
    assert await client.read(*sensor(HUMIDITY, DATA)) == bytes(4)
    values = await client.subscribe(*sensor(PRESSURE, DATA))
    await client.write(*sensor(PRESSURE, CONFIGURATION), on)
    value = await values.next()
    assert int.from_bytes(value[:3], "little", signed=True) == -750
    assert int.from_bytes(value[3:], "little") == 98_765
    assert await refusal(client.write(*sensor(PRESSURE, CONFIGURATION), b"\2")) == VALUE_NOT_ALLOWED


async def test_flashlight(meets):
    client = await meets("flashlight")

    def lamp(number: int) -> tuple[str, str]:
        return tuple(f"2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D{part:02X}" for part in (0, number))

    SWITCH, STATUS, BRIGHTNESS = 1, 2, 3
    states = await client.subscribe(*lamp(STATUS))
    on, off = b"\1", b"\0"
    await client.write(*lamp(SWITCH), on)
    assert await states.next() == on
    await client.write(*lamp(SWITCH), off, with_response=False)
    assert await states.next() == off == await client.read(*lamp(STATUS))
    assert await client.read(*lamp(BRIGHTNESS)) == bytes([100])
    await client.write(*lamp(BRIGHTNESS), bytes([40]))
    assert await client.read(*lamp(BRIGHTNESS)) == bytes([40])
    assert await refusal(client.write(*lamp(BRIGHTNESS), bytes([101]))) == VALUE_NOT_ALLOWED


async def test_ibeacon(serve, host, tmp_path):
    proximity = uuid.UUID("6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C0DE")
    accessory = {"kind": "ibeacon", "proximityUUID": str(proximity), "major": 258, "minor": 772, "measuredPower": -61}
    (tmp_path / "world.json").write_text(json.dumps({"devices": [{"name": "beacon", "accessory": accessory}]}))
    air = await serve("--world", tmp_path / "world.json", "--speed", SPEED)
    central = await host("central", endpoint=air.endpoint)
    await soon(central.device.start_scanning())
    heard = (await central.advertisements.next())[1][0]
    company, data = heard.data.get(AdvertisingData.Type.MANUFACTURER_SPECIFIC_DATA)
    APPLE = 0x004C
    assert company == APPLE
    assert bytes(data) == b"\x02\x15" + proximity.bytes + struct.pack(">HHb", 258, 772, -61)
    assert not heard.is_connectable


async def test_time(meets):
    client = await meets("telephone", "Telephone")
    before = formats.current_time(await client.read(0x1805, 0x2A2B))
    monday, manual_update, reference_update = 1, 1, 2
    assert before["time"][:4] == (2024, 1, 1, 0) and (before["day of the week"], before["reason"]) == (monday, 0)
    central_european_time = 4
    assert await client.read(0x1805, 0x2A0F) == bytes([central_european_time, 0])
    # Daylight saving time begins on 2024-03-31 at 02:00.
    assert await client.read(0x1807, 0x2A11) == bytes([0xE8, 0x07, 3, 31, 2, 0, 0, 4])

    times = await client.subscribe(0x1805, 0x2A2B)
    thursday = 4
    leap_day = bytes([0xE8, 0x07, 2, 29, 23, 59, 58, thursday, 128, manual_update])
    await client.write(0x1805, 0x2A2B, leap_day)
    adjusted = formats.current_time(await times.next())
    assert adjusted["time"][:5] == (2024, 2, 29, 23, 59) and adjusted["reason"] == manual_update
    wrong_day, DATA_FIELD_IGNORED = leap_day[:7] + bytes([1, 0, 0]), 0x80
    assert await refusal(client.write(0x1805, 0x2A2B, wrong_day)) == DATA_FIELD_IGNORED

    IDLE, PENDING, SUCCESSFUL, CANCELLED, NOT_ATTEMPTED = 0, 1, 0, 1, 5
    assert await client.read(0x1806, 0x2A17) == bytes([IDLE, NOT_ATTEMPTED])
    get, cancel = b"\1", b"\2"
    await client.write(0x1806, 0x2A16, get, with_response=False)
    assert await client.read(0x1806, 0x2A17) == bytes([PENDING, NOT_ATTEMPTED])
    await client.write(0x1806, 0x2A16, cancel, with_response=False)
    assert await client.read(0x1806, 0x2A17) == bytes([IDLE, CANCELLED])
    await client.write(0x1806, 0x2A16, get, with_response=False)
    await times.next(lambda value: formats.current_time(value)["reason"] == reference_update)
    assert await client.read(0x1806, 0x2A17) == bytes([IDLE, SUCCESSFUL])
    cellular = 6
    source, _, days, hours = await client.read(0x1805, 0x2A14)
    assert (source, days, hours) == (cellular, 0, 0)


async def test_keyboard(plays):
    air, client = await plays("keyboard")
    INSUFFICIENT_AUTHENTICATION, INSUFFICIENT_ENCRYPTION = 0x05, 0x0F
    assert await refusal(client.read(0x1812, 0x2A4B)) in (INSUFFICIENT_AUTHENTICATION, INSUFFICIENT_ENCRYPTION)
    await soon(client.peer.connection.pair())
    # Six octets of keys after modifiers and a reserved octet, and an octet of LEDs: the reports with the ID 1.
    assert formats.report_sizes(await client.read(0x1812, 0x2A4B)) == {("input", 1): 64, ("output", 1): 8}
    version_1_11, normally_connectable = b"\x11\x01", b"\x02"
    assert await client.read(0x1812, 0x2A4A) == version_1_11 + b"\0" + normally_connectable
    references = []
    for instance in range(2):
        report = client.characteristic(0x1812, 0x2A4D, instance)
        await soon(report.discover_descriptors())
        references.append(await soon(report.get_descriptor(core.UUID.from_16_bits(0x2908)).read_value()))
    INPUT, OUTPUT = 1, 2
    assert references == [bytes([1, INPUT]), bytes([1, OUTPUT])]
    pnp_id = await client.read(0x180A, 0x2A50)
    assert len(pnp_id) == 7 and pnp_id[0] in (1, 2)

    left_shift, a, b = 2, 4, 5
    typed = [bytes([0, 0, a]) + bytes(5), bytes(8), bytes([left_shift, 0, b]) + bytes(5), bytes(8)]
    reports = await client.subscribe(0x1812, 0x2A4D)
    await air.program.say("type aB")
    assert [await reports.next() for _ in typed] == typed
    BOOT, REPORT, SUSPEND = b"\0", b"\1", b"\0"
    assert await client.read(0x1812, 0x2A4E) == REPORT
    await client.write(0x1812, 0x2A4E, BOOT, with_response=False)
    boot_reports = await client.subscribe(0x1812, 0x2A22)
    await air.program.say("type aB")
    assert [await boot_reports.next() for _ in typed] == typed
    assert len(reports.all) == len(typed), "no reports in Boot Protocol Mode"
    caps_lock = b"\2"
    await soon(client.characteristic(0x1812, 0x2A4D, 1).write_value(caps_lock, with_response=True))
    assert await client.read(0x1812, 0x2A32) == caps_lock
    await client.write(0x1812, 0x2A4C, SUSPEND, with_response=False)
    await air.ask("state", "leds: caps lock, suspended: true")


async def test_mouse(plays):
    air, client = await plays("mouse")
    await soon(client.peer.connection.pair())
    assert formats.report_sizes(await client.read(0x1812, 0x2A4B)) == {("input", 1): 32}
    reports = await client.subscribe(0x1812, 0x2A4D)
    await air.program.say("move 200 -5 1")
    assert [await reports.next() for _ in range(2)] == [bytes([0, 127, 251, 1]), bytes([0, 73, 0, 0])]
    await air.program.say("click")
    assert [await reports.next() for _ in range(2)] == [bytes([1, 0, 0, 0]), bytes(4)]


async def test_key_fob_alerts(play, host):
    air = await play("key-fob")
    central = await host("central", endpoint=air.endpoint)
    client = await ProfileClient.connect(central, "accessory")
    mild, high = b"\1", b"\2"
    await client.write(0x1803, 0x2A06, mild)
    await client.write(0x1802, 0x2A06, high, with_response=False)
    await air.ask("state", "(?i)alert: high.*link loss: mild")
    await central.close()
    await air.ask("state", "(?i)alert: mild")


@pytest.mark.parametrize("properties", [P.WRITE, P.WRITE_WITHOUT_RESPONSE], ids=str)
async def test_key_fob_button(play, host, properties):
    air = await play("key-fob")
    phone = ProfileServer()
    phone.add(0x1802, phone.command(0x2A06, properties))
    central = await host("central", endpoint=air.endpoint, services=phone.services)
    await ProfileClient.connect(central, "accessory")
    high = b"\2"
    for _ in range(2):
        await air.program.say("press")
        assert await phone.written.next() == (0x2A06, high)


async def test_alerts_of_telephone(plays):
    air, client = await plays("telephone")
    email, news, call = 1, 2, 3
    assert int.from_bytes(await client.read(0x1811, 0x2A47), "little") >> email & 1
    alerts, unread = [await client.subscribe(0x1811, number) for number in (0x2A46, 0x2A45)]
    ENABLE_NEW, ENABLE_UNREAD, NOTIFY_NEW, NOT_SUPPORTED_COMMAND = 0, 1, 4, 0xA0
    assert await refusal(client.write(0x1811, 0x2A44, bytes([ENABLE_NEW, news]))) == NOT_SUPPORTED_COMMAND
    await client.write(0x1811, 0x2A44, bytes([ENABLE_NEW, email]))
    await air.program.say(f"alert {call} Ben")
    await air.program.say(f"alert {email} Anna")
    assert await alerts.next() == bytes([email, 1]) + b"Anna"
    await client.write(0x1811, 0x2A44, bytes([NOTIFY_NEW, email]))
    assert await alerts.next() == bytes([email, 1]) + b"Anna"
    await client.write(0x1811, 0x2A44, bytes([ENABLE_UNREAD, email]))
    await air.program.say("unread 3")
    assert await unread.next() == bytes([email, 3])

    statuses, ringers = [await client.subscribe(0x180E, number) for number in (0x2A3F, 0x2A41)]
    assert (await client.read(0x180E, 0x2A3F), await client.read(0x180E, 0x2A41)) == (b"\0", b"\1")
    await air.program.say("ring")
    assert await statuses.next() == b"\1"
    SILENT_MODE, CANCEL_SILENT_MODE = b"\1", b"\3"
    await client.write(0x180E, 0x2A40, SILENT_MODE, with_response=False)
    assert (await statuses.next(), await ringers.next()) == (b"\0", b"\0")
    await client.write(0x180E, 0x2A40, CANCEL_SILENT_MODE, with_response=False)
    assert await ringers.next() == b"\1"


class Watch:
    """A watch of Bumble's, which uses the Apple Notification Center Service of a phone."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.paired = events_of(connection, Connection.EVENT_PAIRING)
        self.encrypted = events_of(connection, Connection.EVENT_CONNECTION_ENCRYPTION_CHANGE)
        self.notifications = Events("notifications")

    @classmethod
    async def meet(cls, host) -> "Watch":
        """A watch that advertises that it looks for the service, after the phone has connected."""
        advertising = AdvertisingData([
            data_types.Flags(AdvertisingData.Flags.LE_GENERAL_DISCOVERABLE_MODE),
            data_types.ListOf128BitServiceSolicitationUUIDs([GATT_ANCS_SERVICE])])  # fmt: skip
        await soon(host.device.start_advertising(advertising_data=bytes(advertising)))
        return cls(await host.accept())

    async def start(self) -> ancs.AncsClient:
        """Subscribes to the service, once the link is encrypted."""
        client = await soon(ancs.AncsClient.for_peer(Peer(self.connection)))
        client.on(ancs.AncsClient.EVENT_NOTIFICATION, self.notifications.add)
        await soon(client.start())
        return client

    async def event(self) -> tuple:
        """The next event: what, flags, category, number in the category, UID."""
        event = await self.notifications.next()
        return (
            event.event_id.name, event.event_flags, event.category_id.name, event.category_count, event.notification_uid)


async def denial(command) -> int:
    """The error code with which a command is rejected."""
    with pytest.raises(ancs.CommandError) as caught:
        await soon(command)
    return caught.value.error_code


async def test_notifications_of_phone(play, host):
    air = await play("phone")
    watch = await Watch.meet(await host("watch", endpoint=air.endpoint, pairing=pairing()))
    # The phone pairs by itself: its app requires the notifications for this accessory.
    await watch.paired.next()
    await air.program.line("^notifications are shared: true$")
    await air.program.say("email one Short")
    client = await watch.start()
    NEGATIVE, PRE_EXISTING, POSITIVE, IMPORTANT = (
        ancs.EventFlags.NEGATIVE_ACTION, ancs.EventFlags.PRE_EXISTING, ancs.EventFlags.POSITIVE_ACTION,
        ancs.EventFlags.IMPORTANT)  # fmt: skip
    assert await watch.event() == ("NOTIFICATION_ADDED", PRE_EXISTING | NEGATIVE, "EMAIL", 1, 1)
    await air.program.say("call call Ben")
    assert await watch.event() == (
        "NOTIFICATION_ADDED", IMPORTANT | POSITIVE | NEGATIVE, "INCOMING_CALL", 1, 2)  # fmt: skip
    message = "äöü " * 150
    await air.program.say(f"email one {message}")
    assert await watch.event() == ("NOTIFICATION_MODIFIED", NEGATIVE, "EMAIL", 1, 1)

    # At the smallest ATT_MTU, the response comes in more than 50 parts.
    A = ancs.NotificationAttributeId
    attributes = await soon(client.get_notification_attributes(
        1, [A.APP_IDENTIFIER, (A.TITLE, 4), A.SUBTITLE, A.MESSAGE, A.MESSAGE_SIZE, A.DATE, A.NEGATIVE_ACTION_LABEL]))
    values = {attribute.attribute_id: attribute.value for attribute in attributes}
    age = datetime.datetime.now(datetime.UTC).replace(tzinfo=None) - values.pop(A.DATE)
    assert datetime.timedelta(seconds=-2) < age < datetime.timedelta(minutes=1)
    assert values == {
        A.APP_IDENTIFIER: "com.example.mail", A.TITLE: "Mail", A.SUBTITLE: "", A.MESSAGE: message.strip(),
        A.MESSAGE_SIZE: len(message.strip().encode()), A.NEGATIVE_ACTION_LABEL: "Clear"}  # fmt: skip
    names = await soon(client.get_app_attributes("com.example.mail", [ancs.AppAttributeId.DISPLAY_NAME]))
    assert [name.value for name in names] == ["Mail"]
    INVALID_PARAMETER, ACTION_FAILED = ancs.ErrorCode.INVALID_PARAMETER, ancs.ErrorCode.ACTION_FAILED
    assert await denial(client.get_notification_attributes(9, [A.TITLE])) == INVALID_PARAMETER
    assert await denial(client.get_app_attributes("unknown", [ancs.AppAttributeId.DISPLAY_NAME])) == INVALID_PARAMETER
    assert await denial(client.perform_positive_action(1)) == ACTION_FAILED, "an email has no positive action"

    # An action ends the notification.
    await soon(client.perform_positive_action(2))
    assert await watch.event() == ("NOTIFICATION_REMOVED", IMPORTANT | POSITIVE | NEGATIVE, "INCOMING_CALL", 0, 2)
    await soon(client.perform_negative_action(1))
    assert await watch.event() == ("NOTIFICATION_REMOVED", NEGATIVE, "EMAIL", 0, 1)
    await air.ask("state", r"bonds: 1, notifications: \[\], actions: \[.call positive., .one negative.\]")


async def test_notifying_phone(meets):
    message = "äöü" * 150
    email = {
        "category": "email", "app": "com.example.mail", "appName": "Mail", "title": "Ann", "message": message,
        "date": "2024-02-29T08:30:00", "negativeAction": "Clear"}  # fmt: skip
    call = {
        "category": "incoming-call", "app": "com.example.phone", "title": "Ben", "isImportant": True,
        "positiveAction": "Answer", "negativeAction": "Decline"}  # fmt: skip
    client = await meets("notifying-phone", "Phone", pairing=pairing(), notifications=[email, call])
    watch = Watch(client.peer.connection)
    await soon(watch.connection.pair())
    phone = await watch.start()
    NEGATIVE, PRE_EXISTING, POSITIVE, IMPORTANT = (
        ancs.EventFlags.NEGATIVE_ACTION, ancs.EventFlags.PRE_EXISTING, ancs.EventFlags.POSITIVE_ACTION,
        ancs.EventFlags.IMPORTANT)  # fmt: skip
    assert await watch.event() == ("NOTIFICATION_ADDED", PRE_EXISTING | NEGATIVE, "EMAIL", 1, 1)
    CALL = IMPORTANT | POSITIVE | NEGATIVE
    assert await watch.event() == ("NOTIFICATION_ADDED", PRE_EXISTING | CALL, "INCOMING_CALL", 1, 2)

    A = ancs.NotificationAttributeId
    attributes = await soon(phone.get_notification_attributes(1, [A.TITLE, A.MESSAGE, A.DATE, A.NEGATIVE_ACTION_LABEL]))
    assert {attribute.attribute_id: attribute.value for attribute in attributes} == {
        A.TITLE: "Ann", A.MESSAGE: message, A.DATE: datetime.datetime(2024, 2, 29, 8, 30),
        A.NEGATIVE_ACTION_LABEL: "Clear"}  # fmt: skip
    names = await soon(phone.get_app_attributes("com.example.mail", [ancs.AppAttributeId.DISPLAY_NAME]))
    assert [name.value for name in names] == ["Mail"]
    INVALID_PARAMETER, ACTION_FAILED = ancs.ErrorCode.INVALID_PARAMETER, ancs.ErrorCode.ACTION_FAILED
    assert await denial(phone.get_notification_attributes(9, [A.TITLE])) == INVALID_PARAMETER
    assert await denial(phone.perform_positive_action(1)) == ACTION_FAILED, "an email has no positive action"
    await soon(phone.perform_positive_action(2))
    assert await watch.event() == ("NOTIFICATION_REMOVED", CALL, "INCOMING_CALL", 0, 2)


async def test_permission_for_notifications_of_phone(play, host):
    air = await play("phone")
    device = await host("watch", endpoint=air.endpoint, pairing=pairing())
    watch = await Watch.meet(device)
    await watch.paired.next()
    await air.program.line("^notifications are shared: true$")
    client = await watch.start()
    await air.program.say("share no")
    await air.program.line("^notifications are shared: false$")
    await air.program.say("email one Hello")
    INSUFFICIENT_AUTHORIZATION = 0x08
    A = ancs.NotificationAttributeId
    assert await denial(client.get_notification_attributes(1, [A.MESSAGE])) == INSUFFICIENT_AUTHORIZATION
    assert not watch.notifications.all
    await air.program.say("share yes")
    await air.program.line("^notifications are shared: true$")
    assert (await watch.event())[0] == "NOTIFICATION_ADDED"
    [message] = await soon(client.get_notification_attributes(1, [A.MESSAGE]))
    assert message.value == "Hello"

    # The bond and the permission outlast the link.
    await disconnected(watch.connection)
    watch = await Watch.meet(device)
    await watch.encrypted.next()
    client = await watch.start()
    await air.program.say("email two Hello again")
    await watch.notifications.next(lambda event: event.notification_uid == 2)
    [message] = await soon(client.get_notification_attributes(2, [A.MESSAGE]))
    assert message.value == "Hello again"
    await air.ask("state", "bonds: 1")
    assert not watch.paired.all
