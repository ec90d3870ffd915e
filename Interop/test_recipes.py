"""The commands of Documentation/Recipes that can run here, as the pages have them, and what they show."""

import re
import sys
from pathlib import Path

from support.programs import REPOSITORY, Program

RECIPES = REPOSITORY / "Documentation" / "Recipes"
GYM = REPOSITORY / "Examples" / "Worlds" / "gym.yaml"
PAGE_AIR = "127.0.0.1:6402"


def shown(page: str, program: str) -> tuple[list[str], list[str]]:
    """The words of the command with this program in a console block of a page, and the lines that follow it."""
    text = (RECIPES / page).read_text()
    block = next(block for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S) if program in block)
    command, *lines = block.rstrip("\n").split("\n")
    return re.findall(r'"[^"]*"|\S+', command.removeprefix("$ ")), lines


def plain(text: str) -> str:
    """The text without the control sequences of a terminal, and of readline."""
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]|[\r\x01\x02]", "", text)


async def test_bumble_dumps_a_device_of_the_gym(serve):
    air = await serve("--world", GYM)
    [program, *words], lines = shown("Bumble.md", "bumble-gatt-dump")
    dump = await Program.start(
        Path(sys.executable).parent / program, *(word.replace(PAGE_AIR, air.endpoint) for word in words), shown=False)
    assert await dump.exit(60) == 0
    printed = [plain(line) for line in dump.output.all if line is not None]
    place = 0
    for line in lines:
        if line != "...":
            place = printed.index(line, place)


async def test_bluez_finds_the_devices_of_the_gym(serve, guest_files):
    air = await serve("--world", GYM)
    [program, *words], lines = shown("BlueZ.md", "linux-shell")
    guest = await Program.start(
        REPOSITORY / program, *(word.replace(PAGE_AIR, air.endpoint) for word in words),
        guest_files.name, shown=False)
    try:
        await guest.line("hci0 is on the air", 120)
        command = next(line for line in lines if line.startswith("/ # ")).removeprefix("/ # ")
        await guest.say(f"{command}; exit")
        await guest.exit(120)
    finally:
        await guest.stop()
    printed = plain("\n".join(line for line in guest.output.all if line is not None))
    names = [line.split()[-1] for line in lines if line.startswith("[NEW]")]
    assert len(names) == 7
    for name in names:
        assert re.search(rf"\[NEW\] Device ([0-9A-F]{{2}}:){{5}}[0-9A-F]{{2}} {name}$", printed, re.M), printed
