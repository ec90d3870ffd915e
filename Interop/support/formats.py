"""The values of standard characteristics, read from the formats of their specifications and not by this package's codecs.

Each function takes the octets of a value and returns its fields; one that is not present is missing. A value with octets
that no field takes is an error.
"""

import math
import struct
from collections.abc import Callable


class Octets:
    """Reads fields from the beginning of a value: little-endian integers, and the numbers of IEEE 11073-20601."""

    def __init__(self, value: bytes) -> None:
        self.rest = bytes(value)

    def take(self, count: int) -> bytes:
        assert len(self.rest) >= count, f"{count} octets expected, {self.rest.hex()} left"
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def unsigned(self, count: int = 1) -> int:
        return int.from_bytes(self.take(count), "little")

    def signed(self, count: int = 1) -> int:
        return int.from_bytes(self.take(count), "little", signed=True)

    def sfloat(self) -> float:
        """SFLOAT: four bits of exponent, twelve of mantissa."""
        number = self.unsigned(2)
        special = {0x07FF: math.nan, 0x0800: math.nan, 0x07FE: math.inf, 0x0802: -math.inf, 0x0801: math.nan}
        return special[number] if number in special else decimal(number, 12, 4)

    def float(self) -> float:
        """FLOAT: eight bits of exponent, 24 of mantissa."""
        number = self.unsigned(4)
        special = {
            0x007FFFFF: math.nan, 0x00800000: math.nan, 0x007FFFFE: math.inf, 0x00800002: -math.inf,
            0x00800001: math.nan}  # fmt: skip
        return special[number] if number in special else decimal(number, 24, 8)

    def date(self) -> tuple[int, ...]:
        """Date Time: year, month, day, hours, minutes, seconds."""
        return struct.unpack("<H5B", self.take(7))

    def end(self) -> None:
        assert not self.rest, f"nothing takes the octets {self.rest.hex()}"


def decimal(number: int, mantissa_bits: int, exponent_bits: int) -> float:
    def signed(value: int, bits: int) -> int:
        return value - (1 << bits) if value >> bits - 1 else value

    mantissa = signed(number & (1 << mantissa_bits) - 1, mantissa_bits)
    exponent = signed(number >> mantissa_bits, exponent_bits)
    # By way of the text, so that 372 · 10⁻² is the number that a test writes as 3.72.
    return float(f"{mantissa}e{exponent}")


def whole(read: Callable[[Octets], dict]) -> Callable[[bytes], dict]:
    """A reader that takes all octets."""

    def read_whole(value: bytes) -> dict:
        octets = Octets(value)
        fields = read(octets)
        octets.end()
        return fields

    read_whole.__doc__ = read.__doc__
    return read_whole


def optional(flags: int, octets: Octets, **fields: tuple[int, Callable[[Octets], object]]) -> dict:
    """The fields whose flag is set, in this order: `name=(bit, reader)`."""
    return {name: read(octets) for name, (bit, read) in fields.items() if flags >> bit & 1}


def u8(octets: Octets) -> int:
    return octets.unsigned(1)


def u16(octets: Octets) -> int:
    return octets.unsigned(2)


def u24(octets: Octets) -> int:
    return octets.unsigned(3)


def u32(octets: Octets) -> int:
    return octets.unsigned(4)


@whole
def temperature(octets: Octets) -> dict:
    """Temperature Measurement, Intermediate Temperature · Health Thermometer Service 1.0, 3.1 and 3.3."""
    flags = octets.unsigned()
    return {"unit": "°F" if flags & 1 else "°C", "temperature": octets.float()} | optional(
        flags, octets, time=(1, Octets.date), type=(2, u8))


@whole
def blood_pressure(octets: Octets) -> dict:
    """Blood Pressure Measurement, Intermediate Cuff Pressure · Blood Pressure Service 1.1.1, 3.1 and 3.2."""
    flags = octets.unsigned()
    fields = {"unit": "kPa" if flags & 1 else "mmHg"}
    fields |= {name: octets.sfloat() for name in ("systolic", "diastolic", "mean")}
    return fields | optional(
        flags, octets, time=(1, Octets.date), pulse=(2, Octets.sfloat), user=(3, u8), status=(4, u16))


@whole
def glucose(octets: Octets) -> dict:
    """Glucose Measurement · Glucose Service 1.0, 3.1."""
    flags = octets.unsigned()
    fields = {"number": octets.unsigned(2), "time": octets.date(), "has context": bool(flags & 0x10)}
    fields |= optional(flags, octets, offset=(0, lambda octets: octets.signed(2)))
    if flags & 2:
        fields["unit"] = "mol/l" if flags & 4 else "kg/l"
        fields["concentration"] = octets.sfloat()
        both = octets.unsigned()
        fields |= {"type": both & 0x0F, "location": both >> 4}
    return fields | optional(flags, octets, status=(3, u16))


@whole
def glucose_context(octets: Octets) -> dict:
    """Glucose Measurement Context, without exercise, medication and HbA1c · Glucose Service 1.0, 3.2."""
    flags = octets.unsigned()
    assert flags & 0x78 == 0
    return {"number": octets.unsigned(2)} | optional(
        flags, octets, extended=(7, u8), carbohydrate=(0, lambda octets: (octets.unsigned(), octets.sfloat())),
        meal=(1, u8), tester_and_health=(2, u8))  # fmt: skip


@whole
def weight(octets: Octets) -> dict:
    """Weight Measurement · Weight Scale Service 1.0, 3.2: the weight in g or 0.01 lb, the height in mm or 0.1 in."""
    flags = octets.unsigned()
    number = octets.unsigned(2)
    fields = {"unit": "0.01 lb" if flags & 1 else "g"}
    fields["weight"] = None if number == 0xFFFF else number if flags & 1 else number * 5
    fields |= optional(flags, octets, time=(1, Octets.date), user=(2, u8))
    if flags & 8:
        fields |= {"index": octets.unsigned(2), "height": octets.unsigned(2)}
    return fields


@whole
def cycling(octets: Octets) -> dict:
    """CSC Measurement · Cycling Speed and Cadence Service 1.0, 3.1. Event times are in units of 1/1024 s."""
    flags = octets.unsigned()
    return optional(
        flags, octets, wheel=(0, lambda octets: (octets.unsigned(4), octets.unsigned(2))),
        crank=(1, lambda octets: (octets.unsigned(2), octets.unsigned(2))))  # fmt: skip


@whole
def running(octets: Octets) -> dict:
    """RSC Measurement · Running Speed and Cadence Service 1.0, 3.1: m/s, 1/min, m, m."""
    flags = octets.unsigned()
    fields = {"running": bool(flags & 4), "speed": octets.unsigned(2) / 256, "cadence": octets.unsigned()}
    return fields | optional(
        flags, octets, stride=(0, lambda octets: octets.unsigned(2) / 100),
        distance=(1, lambda octets: octets.unsigned(4) / 10))  # fmt: skip


@whole
def cycling_power(octets: Octets) -> dict:
    """Cycling Power Measurement, without extreme magnitudes, angles and dead spots · Cycling Power Service 1.1, 3.2.
    The wheel's event time is in units of 1/2048 s, the crank's in 1/1024 s."""
    flags = octets.unsigned(2)
    assert flags & 0x07C0 == 0
    fields = {"power": octets.signed(2)} | optional(
        flags, octets, balance=(0, lambda octets: octets.unsigned() / 2),
        torque=(2, lambda octets: octets.unsigned(2) / 32),
        wheel=(4, lambda octets: (octets.unsigned(4), octets.unsigned(2))),
        crank=(5, lambda octets: (octets.unsigned(2), octets.unsigned(2))), energy=(11, u16))  # fmt: skip
    if "balance" in fields:
        fields["balance of"] = "left" if flags & 2 else "unknown"
    if "torque" in fields:
        fields["torque at"] = "crank" if flags & 8 else "wheel"
    return fields


@whole
def cycling_power_vector(octets: Octets) -> dict:
    """Cycling Power Vector · Cycling Power Service 1.1, 3.5: N, or 1/32 N·m."""
    flags = octets.unsigned()

    def magnitudes(octets: Octets) -> list[int]:
        return [octets.signed(2) for _ in range(len(octets.rest) // 2)]

    return {"direction": ("unknown", "tangential", "radial", "lateral")[flags >> 4 & 3]} | optional(
        flags, octets, crank=(0, lambda octets: (octets.unsigned(2), octets.unsigned(2))), angle=(1, u16),
        forces=(2, magnitudes), torques=(3, magnitudes))  # fmt: skip


STATUS_OF_POSITION = ("none", "ok", "estimated", "last known")


@whole
def location(octets: Octets) -> dict:
    """Location and Speed · Location and Navigation Service 1.0, 3.2: m/s, m, degrees."""
    flags = octets.unsigned(2)
    return {"status": STATUS_OF_POSITION[flags >> 7 & 3]} | optional(
        flags, octets, speed=(0, lambda octets: octets.unsigned(2) / 100),
        distance=(1, lambda octets: octets.unsigned(3) / 10),
        position=(2, lambda octets: (octets.signed(4) / 1e7, octets.signed(4) / 1e7)),
        elevation=(3, lambda octets: octets.signed(3) / 100), heading=(4, lambda octets: octets.unsigned(2) / 100),
        rolling=(5, u8), time=(6, Octets.date))  # fmt: skip


@whole
def position_quality(octets: Octets) -> dict:
    """Position Quality · Location and Navigation Service 1.0, 3.3: s, m."""
    flags = octets.unsigned(2)
    return {"status": STATUS_OF_POSITION[flags >> 7 & 3]} | optional(
        flags, octets, in_solution=(0, u8), in_view=(1, u8), first_fix=(2, lambda octets: octets.unsigned(2) / 10),
        horizontal=(3, lambda octets: octets.unsigned(4) / 100),
        vertical=(4, lambda octets: octets.unsigned(4) / 100),
        horizontal_dilution=(5, lambda octets: octets.unsigned() / 5),
        vertical_dilution=(6, lambda octets: octets.unsigned() / 5))  # fmt: skip


@whole
def navigation(octets: Octets) -> dict:
    """Navigation · Location and Navigation Service 1.0, 3.5: degrees, m."""
    flags = octets.unsigned(2)
    return {
        "status": STATUS_OF_POSITION[flags >> 3 & 3], "to destination": bool(flags & 0x40),
        "waypoint reached": bool(flags & 0x80), "destination reached": bool(flags & 0x100),
        "bearing": octets.unsigned(2) / 100, "heading": octets.unsigned(2) / 100,
    } | optional(
        flags, octets, remaining=(0, lambda octets: octets.unsigned(3) / 10),
        vertical=(1, lambda octets: octets.signed(3) / 100), arrival=(2, Octets.date))  # fmt: skip


@whole
def current_time(octets: Octets) -> dict:
    """Current Time · Current Time Service 1.1, 3.1."""
    return {
        "time": octets.date(), "day of the week": octets.unsigned(), "fraction": octets.unsigned() / 256,
        "reason": octets.unsigned()}  # fmt: skip


def report_sizes(report_map: bytes) -> dict[tuple[str, int], int]:
    """The number of bits of each report: {("input", report ID): 64, …} · Device Class Definition for HID 1.11, 6.2.2.

    It reads the short items of a Report Map, and requires that the collections are closed."""
    octets, sizes = Octets(report_map), {}
    size = count = report = depth = 0
    while octets.rest:
        prefix = octets.unsigned()
        data = octets.unsigned((0, 1, 2, 4)[prefix & 3])
        match prefix & 0xFC:
            case 0x74:
                size = data
            case 0x94:
                count = data
            case 0x84:
                report = data
            case 0xA0:
                depth += 1
            case 0xC0:
                depth -= 1
                assert depth >= 0
            case 0x80 | 0x90 | 0xB0 as main:
                assert depth > 0
                key = ({0x80: "input", 0x90: "output", 0xB0: "feature"}[main], report)
                sizes[key] = sizes.get(key, 0) + size * count
    assert depth == 0
    return sizes
