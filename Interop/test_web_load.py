"""Many viewers of the page of a crowded air: what they get, and what they cost. `--load SECONDS` makes the trial longer, such
as an hour."""

import asyncio
import hashlib
import json
import os
import time
from pathlib import Path

import pytest
import websockets
from support.airs import BleAir
from support.waiting import PATIENCE
from support.window import page_of

DEVICES, VIEWERS = 200, 20
# What the memory of an air may grow after its first seconds with viewers, in a short trial: its lists get their capacity.
GROWTH = 16 << 20
# Seconds by which the radio time of an air may be late on a machine that does much else.
LATENESS = 0.5


class Viewer:
    """A viewer that reads as fast as it can. It counts the packets that it is told of; `digests` has one number a tick."""

    def __init__(self, socket: websockets.ClientConnection) -> None:
        self.socket = socket
        self.packets = self.octets = 0
        self.digests: list[bytes] = []
        self.is_paused = False
        self.reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for text in self.socket:
            self.octets += len(text)
            message = json.loads(text)
            self.is_paused = message.get("paused", self.is_paused)
            if message["type"] == "tick":
                self.digests.append(hashlib.sha256(text.encode()).digest())
                self.packets += len(message.get("packets", [])) + message.get("omitted", 0)


async def control(air: BleAir, **request: object) -> dict:
    reader, writer = await asyncio.open_unix_connection(f"{air.folder.name}/control", limit=1 << 22)
    writer.write(json.dumps(request).encode() + b"\n")
    answer = json.loads(await asyncio.wait_for(reader.readline(), PATIENCE))
    writer.close()
    assert "error" not in answer, answer
    return answer


async def pause(air: BleAir, *viewers: Viewer) -> int:
    """Pauses the air, waits until viewers have all that was before, and returns the number of packets that it has seen."""
    await control(air, verb="speed", speed=0)
    async with asyncio.timeout(PATIENCE):
        while not all(viewer.is_paused for viewer in viewers):
            await asyncio.sleep(0.02)
    return sum(one["sentPackets"] for one in (await control(air, verb="stats"))["statistics"])


async def clock(air: BleAir) -> tuple[float, float, float]:
    """The radio time, and the times of this machine before and after it was read."""
    before = time.monotonic()
    radio = (await control(air, verb="devices"))["time"]
    return radio, before, time.monotonic()


def usage(process: int) -> tuple[float, int]:
    """The processor time of a process in seconds, and its memory in octets."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds, int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.nightly  # It compares the radio time with the clock of a machine that should do nothing else.
async def test_twenty_viewers_of_two_hundred_devices(serve, tmp_path, request):
    seconds = request.config.getoption("--load")
    world = tmp_path / "crowd.yaml"
    world.write_text("devices:\n" + "".join(
        f"  - {{name: sensor-{index}, accessory: heart-rate, position: [{index % 20 * 3}, {index // 20 * 4}]}}\n"
        for index in range(DEVICES)))
    air = await serve("--web", "--world", world)
    address = await page_of(air.program)
    pid = air.program.process.pid

    async def cost(length: float) -> float:
        """The share of a core that the air takes."""
        before, start = usage(pid)[0], time.monotonic()
        await asyncio.sleep(length)
        return (usage(pid)[0] - before) / (time.monotonic() - start)

    alone = await cost(3)
    await pause(air)
    viewers = []
    for _ in range(VIEWERS):
        socket = await websockets.connect(
            address.replace("http", "ws", 1) + "events", origin="/".join(address.split("/")[:3]), max_size=None,
            compression=None)
        viewers.append(Viewer(socket))
    before = await pause(air, *viewers)
    for viewer in viewers:
        viewer.packets, viewer.digests = 0, []
    await control(air, verb="speed", speed=1)
    await asyncio.sleep(3)
    start, first = time.monotonic(), await clock(air)
    memory = usage(pid)[1]
    shares = []
    while (rest := seconds - (time.monotonic() - start)) > 0:
        shares.append(await cost(min(rest, 10)))
        print(f"{time.monotonic() - start:.0f} s: {shares[-1]:.1%} of a core, {usage(pid)[1] / 1e6:.1f} MB")
    last, growth = await clock(air), usage(pid)[1] - memory
    wall = time.monotonic() - start
    for viewer in viewers:
        viewer.is_paused = False
    sent = await pause(air, *viewers) - before
    print(f"{sent} packets in {wall:.0f} s; without viewers {alone:.1%} of a core, with {VIEWERS} viewers "
          f"{sum(shares) / len(shares):.1%}; memory {memory / 1e6:.1f} MB, and {growth / 1e6:+.1f} MB; "
          f"{viewers[0].octets / wall / 1e3:.0f} kB/s for a viewer")  # fmt: skip
    # The radio time has gone on with the clock, within the time for an event that is late.
    passed = last[0] - first[0]
    assert last[1] - first[2] - LATENESS < passed < last[2] - first[1] + LATENESS, (first, last)
    # Each viewer has got the same ticks, and heard of each packet: in the list, or in the number of those that were omitted.
    # A packet that is on the air at a pause counts as sent, and is told when it has ended.
    for viewer in viewers:
        assert viewer.reader.done() is False
        assert viewer.digests == viewers[0].digests
        assert abs(viewer.packets - sent) <= 5
    assert growth < GROWTH
    for viewer in viewers:
        await viewer.socket.close()
    await asyncio.gather(*(viewer.reader for viewer in viewers), return_exceptions=True)
