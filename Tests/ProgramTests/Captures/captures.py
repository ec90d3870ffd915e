"""What the checks of captures have in common."""

import struct
import subprocess
import sys

AIR, HCI = 256, 201

# What a dissector without keys makes of encrypted packets says nothing. Captures mark them.
ENCRYPTED = 'frame.comment == "encrypted"'
NOT_ENCRYPTED = f"!({ENCRYPTED})"
FORBIDDEN = [("malformed packet", f"_ws.malformed && {NOT_ENCRYPTED}"), ("bad CRC", "btle.crc.incorrect")]
# Only where nothing is encrypted: to who can't read all of a procedure, the rest of it seems out of order.
FORBIDDEN_IN_CLEAR = [("expert error", "_ws.expert.severity == error")]


def tshark(path, display_filter):
    """The numbers of the frames that pass the filter."""
    command = ["tshark", "-r", path, "-Y", display_filter, "-T", "fields", "-e", "frame.number"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"tshark failed: {result.stderr}")
    return result.stdout.split()


def dissection_problems(path, expected):
    """What tshark does not find of `expected`, names and display filters, and what it finds of what may not be."""
    for name, display_filter in expected:
        frames = tshark(path, display_filter)
        print(f"{name}: {len(frames)}")
        if not frames:
            yield f"tshark finds no {name}"
    for name, display_filter in FORBIDDEN + ([] if tshark(path, ENCRYPTED) else FORBIDDEN_IN_CLEAR):
        frames = tshark(path, display_filter)
        if frames:
            yield f"{name} in frames {' '.join(frames[:10])}"


def options(data):
    position = 0
    while position + 4 <= len(data):
        code, length = struct.unpack_from("<HH", data, position)
        if code == 0:
            return
        yield code, data[position + 4 : position + 4 + length]
        position += 4 + (length + 3) // 4 * 4


def read(path):
    """The interfaces, as (link type, name), and the packets, as (interface, nanoseconds, data, comments)."""
    with open(path, "rb") as file:
        data = file.read()
    interfaces, packets, position = [], [], 0
    while position < len(data):
        kind, length = struct.unpack_from("<II", data, position)
        body = data[position + 8 : position + length - 4]
        if kind == 1:
            names = [value.decode() for code, value in options(body[8:]) if code == 2]
            interfaces.append((struct.unpack_from("<H", body)[0], names[0]))
        elif kind == 6:
            interface, high, low, count, _ = struct.unpack_from("<5I", body)
            comments = [value.decode() for code, value in options(body[20 + (count + 3) // 4 * 4 :]) if code == 1]
            packets.append((interface, high << 32 | low, body[20 : 20 + count], comments))
        position += length
    return interfaces, packets


def finish(problems):
    for problem in problems:
        print(f"FAILED: {problem}")
    sys.exit(1 if problems else 0)
