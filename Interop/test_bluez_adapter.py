"""The adapter `bluez` on the bus of `ble bluez`: our client of BlueZ's interface on our service of it. With `bluetoothd` in a
guest, the same is in `test_linux_beside.py`. The tests need `dbus-daemon` and libdbus-1 (Debian's package dbus)."""

import shutil

import pytest
import pytest_asyncio
from support import programs
from support.programs import Program
from test_corebluetooth import POWERED_ON, uses_open_values

pytestmark = pytest.mark.skipif(not shutil.which("dbus-daemon"), reason="dbus-daemon is missing: install dbus")


@pytest_asyncio.fixture
async def bus(start):
    """Starts `ble bluez`, and returns what starts a program on its bus: `await run("bluez:hci0", "ble", …)`."""
    running: list[Program] = []

    async def open_bus(*options: object):
        served = await Program.start(programs.built("ble"), "bluez", *options)
        running.append(served)
        address = (await served.line("^DBUS_SYSTEM_BUS_ADDRESS=(.+)$"))[1]

        async def run(adapter: str, name: str, *arguments: object, **environment: str) -> Program:
            return await start(
                name, *arguments, COREBLUETOOTH_ADAPTER=adapter, DBUS_SYSTEM_BUS_ADDRESS=address, endpoint="-",
                **environment)

        return run

    yield open_bus
    for program in running:
        await program.stop()


async def test_central_uses_peripheral_of_the_other_adapter(bus):
    run = await bus("--adapters", 2)
    peripheral = await run("bluez:hci0", "interop-app", "peripheral", "interop")
    await peripheral.line("^advertising$")
    central = await run("bluez:hci1", "interop-app", "central")
    await central.line(f"^state {POWERED_ON}$")
    # BlueZ asks one agent of the machine, and here each side would need its own: the pairing that follows fails.
    await uses_open_values(central)
    for number in range(10):
        await peripheral.line(f"^written command 0 {number:02x}$")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("scan", "--passive", "--for", 1), "BlueZ has no passive scan"),
        (("l2cap", "listen"), "not supported"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)  # fmt: skip
async def test_verbs_that_cannot_work_say_why(bus, arguments, reason):
    run = await bus("--world", "gym")
    ble = await run("bluez", "ble", *arguments)
    assert await ble.exit() != 0
    assert any(reason in line for line in ble.problems.all if line), ble.problems.all
