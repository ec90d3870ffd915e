"""`ble bluez`: unchanged programs for BlueZ, on a bus of their own with a simulated world behind it. They need `dbus-daemon`
and libdbus-1 (Debian's package dbus), and for its test `bluetoothctl` (Debian's package bluez)."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from support import programs
from support.programs import Program

PROGRAMS = Path(__file__).parent / "BlueZ"
pytestmark = pytest.mark.skipif(not shutil.which("dbus-daemon"), reason="dbus-daemon is missing: install dbus")


async def serve(*arguments: object) -> Program:
    return await Program.start(programs.built("ble"), "bluez", *arguments)


async def run(*arguments: object, seconds: float = 60) -> list[str]:
    """The output of a command on the bus of `ble bluez`, which has to succeed."""
    program = await serve(*arguments)
    try:
        status = await program.exit(seconds)
        assert status == 0, program.problems.all
        return [line for line in program.output.all if line is not None]
    finally:
        await program.stop()


async def test_bleak_scans_connects_reads_writes_and_follows():
    lines = await run("--world", "gym", "--", sys.executable, PROGRAMS / "heart_rate.py", "Cyclist")
    assert lines[0] == "found Cyclist"
    assert lines[1].startswith("connected, MTU ") and int(lines[1].split()[-1]) > 23
    assert lines[2:4] == ["location 01", "battery 100 %"]
    assert lines[4:7] == ["rate 151"] * 3
    assert lines[7:] == ["reset", "disconnected"]


async def test_bleak_scans_passively_by_a_monitor():
    lines = await run("--world", "gym", "--", sys.executable, PROGRAMS / "passive_scan.py", "Cyclist")
    assert lines == ["found Cyclist"]


async def test_an_application_of_a_client_is_a_device_for_the_other_adapter():
    lines = await run("--adapters", 2, "--", sys.executable, PROGRAMS / "peripheral.py")
    assert lines == ["registered", "read 01", "written 0203", "notified 04"]


async def test_a_peripheral_of_bluez_peripheral_is_followed():
    lines = await run("--adapters", 2, "--", sys.executable, PROGRAMS / "heart_monitor.py")
    assert lines == ["registered", "location 03", "place finger", "reset", "rate 60", "disconnected"]


@pytest.mark.parametrize("mode", ["active", "passive"])
async def test_the_scanner_of_home_assistant_finds_devices(mode):
    lines = await run("--world", "gym", "--", sys.executable, PROGRAMS / "home_scanner.py", mode, "Cyclist")
    assert lines == ["hci0 02:00:00:00:00:01 passive True", f"found Cyclist by {mode}"]


MEASUREMENT = "00002a37-0000-1000-8000-00805f9b34fb"
EXAMPLES = {
    "discover.py": ([], ["Cyclist", "bicycle"]),
    "service_explorer.py": (["--name", "Cyclist"], ["00002a38", "00002902", "disconnected"]),
    "enable_notifications.py": (["--name", "Cyclist", MEASUREMENT], ["Heart Rate Measurement: bytearray"]),
    "async_callback_with_queue.py": (["--name", "Cyclist", MEASUREMENT], ["disconnected", "Main method done"]),
}


@pytest.mark.skipif("INTEROP_BLEAK" not in os.environ, reason="INTEROP_BLEAK names no folder with bleak's sources")
@pytest.mark.parametrize("example", EXAMPLES)
async def test_an_example_of_bleak_runs_unchanged(example):
    arguments, parts = EXAMPLES[example]
    path = Path(os.environ["INTEROP_BLEAK"]) / "examples" / example
    program = await serve("--world", "gym", "--", sys.executable, path, *arguments)
    try:
        assert await program.exit(60) == 0, program.problems.all
        lines = [line for events in (program.output, program.problems) for line in events.all if line is not None]
        for part in parts:
            assert any(part in line for line in lines), f"no line has {part!r}"
    finally:
        await program.stop()


@pytest.mark.skipif(not shutil.which("bluetoothctl"), reason="bluetoothctl is missing: install bluez")
async def test_bluetoothctl_lists_shows_and_scans():
    program = await serve("--world", "gym", "--", "bluetoothctl")
    try:
        # It has the objects of the service then.
        await program.line("Agent registered")
        await program.say("show")
        await program.line("Powered: yes")
        await program.say("scan le")
        await program.line(r"Discovery started")
        await program.line(r"\[.*NEW.*\] Device .* Cyclist")
        await program.say("scan off")
        await program.line(r"Discovery stopped|Discovering: no")
        await program.say("quit")
        assert await program.exit() == 0
    finally:
        await program.stop()


async def test_a_hostile_client_harms_no_other_one():
    service = await serve("--world", "gym")
    try:
        bus = {"DBUS_SYSTEM_BUS_ADDRESS": (await service.line("DBUS_SYSTEM_BUS_ADDRESS=(.*)"))[1]}
        hostile = await Program.start(sys.executable, PROGRAMS / "hostile.py", environment=bus, name="hostile")
        try:
            await hostile.line("under way", 60)
            good = await Program.start(sys.executable, PROGRAMS / "heart_rate.py", "Cyclist", environment=bus)
            assert await good.exit(60) == 0, good.problems.all
            # It dies within its calls, and nothing of it is left.
            hostile.process.kill()
        finally:
            await hostile.stop()
        good = await Program.start(sys.executable, PROGRAMS / "state.py", environment=bus)
        assert await good.exit() == 0, good.problems.all
        await good.line("not discovering, no advertisement, power off and on")
    finally:
        await service.stop()


async def test_the_status_is_that_of_the_command():
    program = await serve("--", "sh", "-c", "exit 7")
    assert await program.exit() == 7
    program = await serve("--", "sh", "-c", "kill -SEGV $$")
    assert await program.exit() == 128 + signal.SIGSEGV
    await program.problem("sh was ended by signal 11")
    program = await serve("--", "no-such-command-here")
    assert await program.exit() == 127
    await program.problem("can't run no-such-command-here")
