"""Runs in the guest: takes requests from the test outside, a JSON object on each line, and answers each with one.

A request is {"id": 1, "command": "read", …arguments}. Its answer is {"id": 1, "result": …} or {"id": 1, "error": "…"}.
Requests run side by side. Events are objects with the key "event".
"""

import asyncio
import glob
import json
import os
import subprocess

import bus
import central
import channels
import input
import libraries
import pairing
import peripheral
import programs

COMMANDS = {}


def command(function):
    COMMANDS[function.__name__] = function
    return function


@command
async def attach(number: int):
    """Makes a Bluetooth adapter of a serial line: hci0 of the first, hci1 of the second."""
    with open("/dev/console", "w") as console:
        subprocess.Popen(
            ["btattach", "-B", f"/dev/ttyS{number + 1}", "-P", "h4", "-S", "115200"], stdout=console, stderr=console)
    while not glob.glob(f"/sys/class/bluetooth/hci{number}"):
        await asyncio.sleep(0.02)


@command
async def run(words: list):
    """Runs a program to its end, and returns its status and its output."""
    process = await asyncio.create_subprocess_exec(
        *words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output, _ = await process.communicate()
    return [process.returncode, output.decode(errors="replace")]


for module in (bus, central, channels, input, libraries, pairing, peripheral, programs):
    COMMANDS |= module.COMMANDS


def send(**message) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


async def serve(request: dict) -> None:
    number = request.pop("id")
    try:
        result = await COMMANDS[request.pop("command")](**request)
        send(id=number, result=result)
    except Exception as error:
        send(id=number, error=f"{type(error).__name__}: {error}")


async def main() -> None:
    """Serves until the port is closed."""
    bus.report = send
    lines = bytearray()
    loop = asyncio.get_running_loop()
    end = loop.create_future()

    def read() -> None:
        nonlocal lines
        octets = os.read(0, 65536)
        if not octets and not end.done():
            loop.remove_reader(0)
            end.set_result(None)
        lines += octets
        *whole, lines = lines.split(b"\n")
        for line in whole:
            bus.keep(asyncio.create_task(serve(json.loads(line))))

    loop.add_reader(0, read)
    send(event="ready")
    await end


asyncio.run(main())
