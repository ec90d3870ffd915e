"""`ble lockstep`: two programs on Bumble in virtual time, whose captures are the same in each run."""

import hashlib
import sys

import pytest
from support import bumble_tests
from support.programs import REPOSITORY, Program, built

# A lockstep does not run in another one.
pytestmark = pytest.mark.real_time(because="the trial starts one")

SUPPORT = REPOSITORY / "Interop" / "support"
TRANSPORT = "tcp-client:127.0.0.1:6402"


@pytest.fixture
async def busy():
    """Three busy loops beside the test."""
    loops = [await Program.start(sys.executable, "-c", "while True: pass", name=f"loop {i}") for i in range(3)]
    yield
    for loop in loops:
        await loop.stop()


def digest(capture) -> str:
    return hashlib.sha256(capture.read_bytes()).hexdigest()


async def run(capture, seconds: int, seed: int = 1, **environment: str) -> Program:
    lockstep = await Program.start(
        built("ble"), "lockstep", "--seed", seed, "--capture", capture, "--until", "last", "--stats", "--",
        sys.executable, SUPPORT / "lockstep_peripheral.py", TRANSPORT, "--and",
        sys.executable, SUPPORT / "lockstep_central.py", TRANSPORT, seconds, environment=environment)  # fmt: skip
    assert await lockstep.exit(120) == 0
    return lockstep


async def test_the_capture_is_the_same_in_each_run_beside_busy_loops(tmp_path, busy):
    digests = set()
    for number in range(20):
        capture = tmp_path / f"{number}.pcapng"
        lockstep = await run(capture, 60)
        assert "encrypted True" in lockstep.output.all
        assert any(line and line.startswith("rates 60 after 60.00") for line in lockstep.output.all)
        digests.add(digest(capture))
    assert len(digests) == 1


async def test_another_seed_has_another_capture(tmp_path):
    await run(tmp_path / "1.pcapng", 5, seed=1)
    await run(tmp_path / "2.pcapng", 5, seed=2)
    assert (tmp_path / "1.pcapng").read_bytes() != (tmp_path / "2.pcapng").read_bytes()


async def test_an_environment_variable_changes_no_capture(tmp_path):
    """Although it moves what OpenSSL has in its heap."""
    await run(tmp_path / "1.pcapng", 5)
    await run(tmp_path / "2.pcapng", 5, UNUSED="x" * 100)
    assert (tmp_path / "1.pcapng").read_bytes() == (tmp_path / "2.pcapng").read_bytes()


async def test_ten_minutes_of_a_connection_keep_the_notifications(tmp_path):
    lockstep = await run(tmp_path / "long.pcapng", 600)
    rates = next(line for line in lockstep.output.all if line and line.startswith("rates"))
    # The timers of asyncio are late by up to a millisecond, once a second.
    assert 599 <= int(rates.split()[1]) <= 600, rates


async def run_trials(capture, *arguments: object, folder=REPOSITORY) -> Program:
    """Runs tests on the air of a lockstep, which end well."""
    lockstep = await Program.start(
        "env", "-C", folder, f"PYTHONPATH={REPOSITORY / 'Interop'}",
        built("ble"), "lockstep", "--seed", 1, "--capture", capture, "--", sys.executable, "-m", "pytest", "-q", *arguments,
        name="trials", shown=False)  # fmt: skip
    assert await lockstep.exit(600) == 0, [line for line in lockstep.output.all if line and "FAILED" in line]
    return lockstep


# All methods of pairing with and without Secure Connections, wrong passkeys, lost bonds; channels; values.
TRIALS = [f"test_{name}.py" for name in ("pairing", "channels", "gatt")]


@pytest.mark.parametrize("runs", [2, pytest.param(20, marks=pytest.mark.nightly)])
async def test_pairing_channels_and_values_have_the_same_capture_beside_busy_loops(tmp_path, busy, runs):
    arguments = ["-c", "Interop/pytest.ini", "--rootdir", "Interop", "--air", "lockstep"]
    digests = set()
    for number in range(runs):
        capture = tmp_path / f"{number}.pcapng"
        await run_trials(capture, *arguments, *(f"Interop/{name}" for name in TRIALS))
        digests.add(digest(capture))
    assert len(digests) == 1


@pytest.mark.nightly
async def test_profile_servers_have_the_same_capture_beside_busy_loops(tmp_path, busy):
    """Bumble's own tests of profile servers, over our controllers."""
    digests = set()
    for number in range(20):
        capture = tmp_path / f"{number}.pcapng"
        await run_trials(
            capture, "-p", "no:cacheprovider", "-p", "support.bumble_suite", "profiles/heart_rate_service_test.py",
            "profiles/battery_service_test.py", "profiles/vcp_test.py", folder=bumble_tests.folder())  # fmt: skip
        digests.add(digest(capture))
    assert len(digests) == 1


@pytest.mark.nightly
async def test_bumbles_own_tests_pass_over_our_controllers(tmp_path):
    await run_trials(
        tmp_path / "bumble.pcapng", "-p", "no:cacheprovider", "-p", "support.bumble_suite", *bumble_tests.FILES,
        *(f"--deselect={name}" for name in bumble_tests.IMPOSSIBLE), folder=bumble_tests.folder())  # fmt: skip
