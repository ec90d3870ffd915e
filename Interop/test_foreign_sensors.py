"""Foreign servers of the standard profiles: `ble subscribe` and `ble read` decode what servers of Bumble's send, which are its
own services where it has them, and otherwise made from the specifications.
"""

import struct

from bumble.profiles.battery_service import BatteryService
from bumble.profiles.device_information_service import DeviceInformationService
from bumble.profiles.heart_rate_service import HeartRateService
from support.profile_server import P, ProfileServer


def sfloat(mantissa: int, exponent: int = 0) -> bytes:
    return struct.pack("<H", (exponent & 0xF) << 12 | mantissa & 0xFFF)


HEART_RATE = HeartRateService.HeartRateMeasurement(
    heart_rate=131, sensor_contact_detected=True, energy_expended=9, rr_intervals=[0.5])
LEAP_DAY = bytes([0xE8, 7, 2, 29, 23, 59, 58])

# Service, characteristic, how it is sent, octets, and what has to be in the line.
SENT = [
    (0x1809, 0x2A1C, P.INDICATE, b"\1" + struct.pack("<i", 986 | -1 << 24), ["98.6"]),
    (0x1809, 0x2A1E, P.NOTIFY, b"\6" + struct.pack("<i", 3712 | -2 << 24) + LEAP_DAY + b"\3", ["37.12", "2024-02-29 23:59:58"]),
    (0x1810, 0x2A35, P.INDICATE, b"\5" + sfloat(175, -1) + sfloat(116, -1) + sfloat(136, -1) + sfloat(64),
     ["17.5 kPa", "11.6 kPa", "13.6 kPa", "64"]),
    (0x1810, 0x2A36, P.NOTIFY, b"\0" + sfloat(150) + b"\xff\x07\xff\x07", ["150"]),
    (0x1808, 0x2A18, P.NOTIFY, b"\x02\x07\x00" + LEAP_DAY + sfloat(90, -5) + b"\x11",
     ["7", "2024-02-29 23:59:58", "0.0009 kg/l", "finger"]),
    (0x1808, 0x2A34, P.NOTIFY, struct.pack("<BHB", 2, 7, 3), ["7", "fasting"]),
    (0x1816, 0x2A5B, P.NOTIFY, b"\3" + struct.pack("<IHHH", 100_000, 1_024, 50, 512), ["100000", "1 s", "50", "0.5 s"]),
    (0x1814, 0x2A53, P.NOTIFY, b"\7" + struct.pack("<HBHI", 768, 160, 113, 10_000), ["3 m/s", "160", "1.13 m", "1000 m"]),
    (0x1818, 0x2A63, P.NOTIFY, struct.pack("<HhBIH", 0x0013, 210, 96, 1_000, 2_048), ["210 W", "48", "1000", "1 s"]),
    (0x1818, 0x2A64, P.NOTIFY, struct.pack("<BHH3h", 0x15, 60, 1_024, 100, -110, 90), ["60", "100", "-110", "90", "tangential"]),
    (0x1819, 0x2A67, P.NOTIFY, struct.pack("<HHii", 0x0085, 500, 480_000_000, -110_000_000), ["5 m/s", "48", "-11"]),
    (0x1819, 0x2A68, P.NOTIFY, struct.pack("<HHH", 9, 27_000, 9_000) + (1_234).to_bytes(3, "little"), ["270", "90", "123.4 m"]),
    (0x1805, 0x2A2B, P.NOTIFY, LEAP_DAY + b"\4\x80\2", ["2024-02-29 23:59:58"]),
    (0x1811, 0x2A46, P.NOTIFY, b"\1\2Anna", ["2", "Anna"]),
    (0x180E, 0x2A3F, P.NOTIFY, b"\3", ["ringing", "vibrating"]),
]  # fmt: skip


async def line(start, air, *arguments: object) -> str:
    """What `ble` prints."""
    program = await start("ble", *arguments, "--first", endpoint=air.endpoint)
    assert await program.exit() == 0, program.problems.all
    return program.output.all[0].replace("−", "-").casefold()


async def test_measurements_of_foreign_servers(serve, host, start):
    server = ProfileServer()
    service = HeartRateService(lambda _: HEART_RATE, HeartRateService.BodySensorLocation.WRIST)
    server.sent(0x2A37, P.NOTIFY, bytes(HEART_RATE), base=service.heart_rate_measurement_characteristic)
    server.services += [
        service, BatteryService(lambda _: 55), DeviceInformationService(manufacturer_name="Anyone")]  # fmt: skip
    for number in dict.fromkeys(row[0] for row in SENT):
        server.add(number, *(server.sent(*row[1:4]) for row in SENT if row[0] == number))
    air = await serve("--speed", "max")
    await server.start(host, air.endpoint, 0x180D)

    for path, expected in {"180D/2A38": "wrist", "180F/2A19": "55 %", "180A/2A29": "Anyone"}.items():
        assert expected.casefold() in await line(start, air, "read", "server", path)
    heart_rate = (0x180D, 0x2A37, P.NOTIFY, bytes(HEART_RATE), ["131", "9 kJ", "0.5 s"])
    for service, characteristic, _, octets, expected in [heart_rate, *SENT]:
        path = f"{service:04X}/{characteristic:04X}"
        text = await line(start, air, "subscribe", "server", path, "--count", 1)
        assert octets.hex() in text and all(part.casefold() in text for part in expected), (path, text, expected)
