"""Input devices of the guest's kernel, as programs under Linux see them: /dev/input/event*."""

import asyncio
import os
import struct
from pathlib import Path

import bus

# struct input_event on a machine with 64 bits: two longs of time, the type, the code and the value.
EVENT = struct.Struct("qqHHi")
EV_KEY, EV_REL, EV_LED = 1, 2, 0x11
# The names under which events are reported, by their types.
REPORTED = {EV_KEY: "key", EV_REL: "relative"}
opened = {}


async def input_device(name: str, seconds: float = 60):
    """Waits for an input device with this name, and reports the events of its keys, buttons and relative axes from now on.
    Returns the names of all."""
    async with asyncio.timeout(seconds):
        while not (found := [path for path, text in names().items() if text == name]):
            await asyncio.sleep(0.05)
    opened[name] = os.open(f"/dev/input/{found[0]}", os.O_RDWR | os.O_NONBLOCK)

    def read() -> None:
        octets = os.read(opened[name], EVENT.size * 64)
        for _, _, kind, code, value in EVENT.iter_unpack(octets):
            if kind in REPORTED:
                bus.report(event=REPORTED[kind], code=code, value=value)

    asyncio.get_running_loop().add_reader(opened[name], read)
    return list(names().values())


async def led(name: str, number: int, on: bool):
    """Switches a LED of an input device."""
    os.write(opened[name], EVENT.pack(0, 0, EV_LED, number, on) + EVENT.pack(0, 0, 0, 0, 0))


def names() -> dict:
    return {
        path.parent.parent.name: path.read_text().strip() for path in Path("/sys/class/input").glob("event*/device/name")}


COMMANDS = {function.__name__: function for function in (input_device, led)}
