"""Fixtures: an air for each test, and what joins it."""

import itertools
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

sys.path.insert(0, str(Path(__file__).parent))

from support import airs, programs  # noqa: E402
from support.airs import Air  # noqa: E402
from support.hosts import Host  # noqa: E402
from support.programs import Program  # noqa: E402

CAPTURES = programs.REPOSITORY / ".build" / "interop" / "captures"
AIRS = ("ble", "rootcanal", "bumble")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--air", action="append", choices=AIRS,
        help="the air, or one of the airs, that tests run over; all of them without this option")  # fmt: skip
    parser.addoption(
        "--doubt", action="store_true", help="run tests over airs where they are marked not to hold, too")
    parser.addoption("--keep-captures", action="store_true", help="keep what was captured of tests that pass, too")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that wants `air` runs over each air; one that wants `foreign_air`, over those that are not ours."""
    chosen = metafunc.config.getoption("--air") or AIRS
    for fixture, names in (("air", AIRS), ("foreign_air", AIRS[1:])):
        if fixture in metafunc.fixturenames:
            exempt = {mark.kwargs["air"] for mark in metafunc.definition.iter_markers("not_over")}
            if metafunc.config.getoption("--doubt"):
                exempt = set()
            metafunc.parametrize(
                fixture, [name for name in names if name in chosen and name not in exempt], indirect=True)


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
async def foreign_air(request: pytest.FixtureRequest, captures):
    """A running air that is not this project's."""
    running = await start_air(request.param, captures)
    yield running
    await running.stop()


async def start_air(name: str, captures: Callable[[str], Path]) -> Air:
    if name == "ble":
        return await airs.BleAir.start(captures("pcapng"))
    return await (airs.RootCanal if name == "rootcanal" else airs.BumbleAir).start()


@pytest_asyncio.fixture
async def host(request: pytest.FixtureRequest, captures):
    """Makes a device of Bumble's on this test's air: `await host("name", …)`, with what `Host.open` takes."""
    air = request.getfixturevalue("air" if "air" in request.fixturenames else "foreign_air")
    hosts: list[Host] = []
    numbers = itertools.count(1)

    async def open_host(name: str, **options) -> Host:
        options = {"address": f"F0:F1:F2:F3:F4:{next(numbers):02X}", **options}
        hosts.append(await Host.open(air.endpoint, name, snoop=captures(f"{name}.btsnoop"), **options))
        return hosts[-1]

    yield open_host
    for open_one in hosts:
        await open_one.close()


@pytest_asyncio.fixture
async def start(request: pytest.FixtureRequest) -> Callable[..., Awaitable[Program]]:
    """Starts a program of the package on a controller of this test's air: `await start("name", …)`."""
    air = request.getfixturevalue("air" if "air" in request.fixturenames else "foreign_air")
    running: list[Program] = []

    async def start_program(name: str, *arguments: object, **environment: str) -> Program:
        adapter = {"COREBLUETOOTH_ADAPTER": f"tcp:{air.endpoint}", "COREBLUETOOTH_PROMPTS": "accept"}
        running.append(await Program.start(programs.built(name), *arguments, environment={**adapter, **environment}))
        return running[-1]

    yield start_program
    for program in running:
        await program.stop()
