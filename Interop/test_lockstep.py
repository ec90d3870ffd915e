"""`ble lockstep`: two programs on Bumble in virtual time, whose captures are the same in each run."""

import hashlib
import sys

import pytest
from support.programs import REPOSITORY, Program, built

SUPPORT = REPOSITORY / "Interop" / "support"
TRANSPORT = "tcp-client:127.0.0.1:6402"


@pytest.fixture
async def busy():
    """Three busy loops beside the test."""
    loops = [await Program.start(sys.executable, "-c", "while True: pass", name=f"loop {i}") for i in range(3)]
    yield
    for loop in loops:
        await loop.stop()


async def run(capture, seconds: int, seed: int = 1) -> Program:
    lockstep = await Program.start(
        built("ble"), "lockstep", "--seed", seed, "--capture", capture, "--until", "last", "--stats", "--",
        sys.executable, SUPPORT / "lockstep_peripheral.py", TRANSPORT, "--and",
        sys.executable, SUPPORT / "lockstep_central.py", TRANSPORT, seconds)  # fmt: skip
    assert await lockstep.exit(120) == 0
    return lockstep


async def test_the_capture_is_the_same_in_each_run_beside_busy_loops(tmp_path, busy):
    digests = set()
    for number in range(20):
        capture = tmp_path / f"{number}.pcapng"
        lockstep = await run(capture, 60)
        assert "encrypted True" in lockstep.output.all
        assert any(line and line.startswith("rates 60 after 60.00") for line in lockstep.output.all)
        digests.add(hashlib.sha256(capture.read_bytes()).hexdigest())
    assert len(digests) == 1


async def test_another_seed_has_another_capture(tmp_path):
    await run(tmp_path / "1.pcapng", 5, seed=1)
    await run(tmp_path / "2.pcapng", 5, seed=2)
    assert (tmp_path / "1.pcapng").read_bytes() != (tmp_path / "2.pcapng").read_bytes()


async def test_ten_minutes_of_a_connection_keep_the_notifications(tmp_path):
    lockstep = await run(tmp_path / "long.pcapng", 600)
    rates = next(line for line in lockstep.output.all if line and line.startswith("rates"))
    # The timers of asyncio are late by up to a millisecond, once a second.
    assert 599 <= int(rates.split()[1]) <= 600, rates
