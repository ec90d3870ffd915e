"""Fixtures: an air for each test, and what joins it."""

import itertools
import os
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

sys.path.insert(0, str(Path(__file__).parent))

from support import airs, browser, linux, programs  # noqa: E402
from support.airs import Air  # noqa: E402
from support.browser import Browser  # noqa: E402
from support.hosts import Host  # noqa: E402
from support.linux import Linux  # noqa: E402
from support.programs import Program  # noqa: E402
from support.terminal import Terminal  # noqa: E402

CAPTURES = programs.REPOSITORY / ".build" / "interop" / "captures"
AIRS = ("ble", "rootcanal", "bumble")
# True for a run of `Interop/run --lockstep`.
IN_LOCKSTEP = "BLE_LOCKSTEP" in os.environ


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--air", action="append", choices=(*AIRS, "lockstep"),
        help="the air, or one of the airs, that tests run over: all but that of `ble lockstep` without this option")  # fmt: skip
    parser.addoption(
        "--doubt", action="store_true", help="run tests over airs where they are marked not to hold, too")
    parser.addoption("--all", action="store_true", help="run the tests that are marked nightly, too")
    parser.addoption(
        "--require-linux", action="store_true", help="fail the tests with Linux if it can't run here, instead of skipping")
    parser.addoption(
        "--linux", choices=("bookworm", "trixie"), default="bookworm",
        help="the guest: Debian 12 with Linux 6.1 and BlueZ 5.66, or Debian 13 with Linux 6.12 and BlueZ 5.82")  # fmt: skip
    parser.addoption("--screenshots", metavar="FOLDER", help="save pictures of the page of `ble air --web` here")
    parser.addoption(
        "--load", metavar="SECONDS", type=float, default=10,
        help="how long the trial of an air with many viewers runs, 10 s without this option")  # fmt: skip
    parser.addoption("--keep-captures", action="store_true", help="keep what was captured of tests that pass, too")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that wants `air` runs over each air."""
    if "air" not in metafunc.fixturenames:
        return
    exempt = {mark.kwargs["air"] for mark in metafunc.definition.iter_markers("not_over")}
    if metafunc.config.getoption("--doubt"):
        exempt = set()
    if "ble" in exempt:
        exempt.add("lockstep")
    chosen = metafunc.config.getoption("--air") or AIRS
    metafunc.parametrize("air", [name for name in chosen if name not in exempt], indirect=True)


# Fixtures of programs that a lockstep can't contain, and the reason.
REAL_TIME = {"guest_files": "QEMU's guest has clocks of its own", "chromium": "only some trials in a browser pass"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects nightly tests without `--all`, and tests that are about `ble air` alone where `--air` leaves that out. Skips those
    that need real time in a lockstep."""
    for item in items if IN_LOCKSTEP else []:
        reasons = [mark.kwargs["because"] for mark in item.iter_markers("real_time")
                   if mark.kwargs.get("air") in (None, getattr(item, "callspec", None) and item.callspec.params.get("air"))]
        reasons += [reason for fixture, reason in REAL_TIME.items() if fixture in item.fixturenames]
        for reason in reasons[:1]:
            item.add_marker(pytest.mark.skip(reason=f"not in a lockstep: {reason}"))

    def runs(item: pytest.Item) -> bool:
        if item.get_closest_marker("nightly") and not config.getoption("--all"):
            return False
        return not {"serve", "play"} & set(item.fixturenames) or "ble" in (config.getoption("--air") or AIRS)

    config.hook.pytest_deselected(items=[item for item in items if not runs(item)])
    items[:] = [item for item in items if runs(item)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    item.stash.setdefault(FAILED, False)
    item.stash[FAILED] |= report.failed
    return report


FAILED = pytest.StashKey[bool]()


@pytest.fixture
def captures(request: pytest.FixtureRequest):
    """Where this test's captures go: NAME.pcapng, NAME.HOST.btsnoop. They stay when it fails."""
    name = re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
    CAPTURES.mkdir(parents=True, exist_ok=True)

    def mine() -> list[Path]:
        return [path for path in CAPTURES.iterdir() if path.name.startswith(f"{name}.")]

    for path in mine():
        path.unlink()
    yield lambda kind: CAPTURES / f"{name}.{kind}"
    if request.node.stash.get(FAILED, False):
        for path in mine():
            print(f"captured: {path}")
    elif not request.config.getoption("--keep-captures"):
        for path in mine():
            path.unlink()


@pytest_asyncio.fixture
async def air(request: pytest.FixtureRequest, captures):
    """A running air."""
    running = await start_air(request.param, captures)
    yield running
    await running.stop()


@pytest_asyncio.fixture
async def serve(captures):
    """Starts `ble air` with options of the test's own: `await serve("--speed", "max")`."""
    running: list[airs.BleAir] = []

    async def start_one(*options: object) -> airs.BleAir:
        running.append(await airs.BleAir.start(captures("pcapng"), *options))
        return running[-1]

    yield start_one
    for one in running:
        await one.stop()


@pytest_asyncio.fixture
async def play():
    """Starts an air with an accessory whose user the test plays: `await play("keyboard")`."""
    running: list[airs.AccessoryAir] = []

    async def play_one(kind: str) -> airs.AccessoryAir:
        running.append(await airs.AccessoryAir.start(kind))
        return running[-1]

    yield play_one
    for one in running:
        await one.stop()


async def start_air(name: str, captures: Callable[[str], Path]) -> Air:
    if name == "ble":
        return await airs.BleAir.start(captures("pcapng"))
    if name == "lockstep":
        return airs.LockstepAir()
    return await (airs.RootCanal if name == "rootcanal" else airs.BumbleAir).start()


@pytest.fixture(scope="session")
def guest_files(request: pytest.FixtureRequest) -> Path:
    """The folder of the Linux guest, built if it is not up to date."""
    if obstacle := linux.obstacle():
        if request.config.getoption("--require-linux"):
            pytest.fail(obstacle)
        pytest.skip(obstacle)
    return linux.build(request.config.getoption("--linux"))


@pytest_asyncio.fixture
async def boot(guest_files, captures):
    """Starts Linux with controllers on airs: `await boot("name", air.endpoint, …)`."""
    guests: list[Linux] = []

    async def boot_guest(name: str, *endpoints: str, runs_programs: bool = False) -> Linux:
        console = captures(f"{name}.console")
        guests.append(await Linux.start(name, guest_files, console, *endpoints, runs_programs=runs_programs))
        return guests[-1]

    yield boot_guest
    for guest in guests:
        await guest.stop()


@pytest_asyncio.fixture
async def host(request: pytest.FixtureRequest, captures):
    """Makes a device of Bumble's: `await host("name", …)`, with what `Host.open` takes. It is on the test's air, or at `endpoint`."""
    air = request.getfixturevalue("air") if "air" in request.fixturenames else None
    hosts: list[Host] = []
    numbers = itertools.count(1)

    async def open_host(name: str, **options) -> Host:
        options = {"address": f"F0:F1:F2:F3:F4:{next(numbers):02X}", **options}
        endpoint = options.pop("endpoint", None) or air.endpoint
        hosts.append(await Host.open(endpoint, name, snoop=captures(f"{name}.btsnoop"), **options))
        return hosts[-1]

    yield open_host
    for open_one in hosts:
        await open_one.close()


@pytest_asyncio.fixture
async def chromium():
    """A browser without a window."""
    if reason := browser.obstacle():
        pytest.skip(reason)
    running = await Browser.start()
    yield running
    await running.stop()


@pytest.fixture
def screenshots(request: pytest.FixtureRequest) -> Path | None:
    """The folder for pictures of pages, if there is one."""
    folder = request.config.getoption("--screenshots")
    return Path(folder) if folder else None


@pytest_asyncio.fixture
async def terminal():
    """A terminal for a program: `await start("name", …, terminal=terminal)`."""
    opened = Terminal()
    yield opened
    opened.close()


@pytest_asyncio.fixture
async def start(request: pytest.FixtureRequest, tmp_path_factory) -> Callable[..., Awaitable[Program]]:
    """Starts a program of the package: `await start("name", …)`. Its controller is on the test's air, or at `endpoint`. Each
    program has a folder for its bonds, so that it is a device that no other program is."""
    air = request.getfixturevalue("air") if "air" in request.fixturenames else None
    running: list[Program] = []

    async def start_program(
        name: str, *arguments: object, endpoint: str = "", terminal: Terminal | None = None, **environment: str
    ) -> Program:
        environment = {
            "COREBLUETOOTH_PROMPTS": "accept", "COREBLUETOOTH_BONDS": str(tmp_path_factory.mktemp("bonds")), **environment,
        }  # fmt: skip
        if endpoint or air:
            environment.setdefault("COREBLUETOOTH_ADAPTER", f"tcp:{endpoint or air.endpoint}")
        running.append(
            await Program.start(programs.built(name), *arguments, environment=environment, terminal=terminal))
        return running[-1]

    yield start_program
    for program in running:
        await program.stop()
