"""Airs: what a host reaches over TCP, where each connection is a new controller, all of them in each other's range.

`BleAir` is this project's. `RootCanal` and `BumbleAir` are others': the tests that run over the first run over them, too, so
that a test that fails over `BleAir` alone is known to be a right one; and our host stands on their controllers.
"""

import asyncio
import itertools
import os
import re
import socket
import tempfile
from pathlib import Path
from typing import Protocol

from bumble import controller, link
from bumble.transport.common import ParserSource

from support import programs, rootcanal_program
from support.programs import Program
from support.waiting import PATIENCE


class Air(Protocol):
    name: str
    endpoint: str
    """HOST:PORT"""

    async def stop(self) -> None: ...


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class BleAir:
    """This project's air: the program `ble air`."""

    name = "ble"

    def __init__(self, program: Program, endpoint: str, folder: tempfile.TemporaryDirectory) -> None:
        self.program, self.endpoint, self.folder = program, endpoint, folder

    @classmethod
    async def start(cls, capture: Path | None = None, *options: object) -> "BleAir":
        # A socket's path has to be short.
        folder = tempfile.TemporaryDirectory(prefix="ble-air-")
        capturing = ["--capture", capture, "--capture-decrypted"] if capture else []
        program = await Program.start(
            programs.built("ble"), "air", "--hci", "tcp:127.0.0.1:0", "--control", f"{folder.name}/control", *capturing,
            *options, name="ble air")  # fmt: skip
        try:
            endpoint = (await program.line(r"^hosts join at tcp:(\S+)$"))[1]
        except AssertionError:
            await program.stop()
            folder.cleanup()
            raise
        return cls(program, endpoint, folder)

    async def ask(self, *verb: object) -> str:
        """What `ble air VERB` says."""
        asking = await Program.start(
            programs.built("ble"), "air", *verb, "--control", f"{self.folder.name}/control", name=f"ble air {verb[0]}")
        assert await asking.exit() == 0, asking.problems.all
        return "\n".join(filter(None, asking.output.all))

    async def stop(self) -> None:
        await self.program.stop()
        self.folder.cleanup()


class LockstepAir:
    """The air of the lockstep in which the tests run. All tests of a run are in its capture."""

    name = "lockstep"
    endpoint = os.environ.get("COREBLUETOOTH_ADAPTER", "").removeprefix("tcp:")

    async def stop(self) -> None:
        pass


class AccessoryAir:
    """An air with one accessory of this package, whose user is `program`'s standard input: `interop-app accessory KIND`."""

    name = "accessory"

    def __init__(self, program: Program, endpoint: str) -> None:
        self.program, self.endpoint = program, endpoint

    @classmethod
    async def start(cls, kind: str) -> "AccessoryAir":
        program = await Program.start(programs.built("interop-app"), "accessory", kind)
        return cls(program, (await program.line(r"^hosts join at tcp:(\S+)$"))[1])

    async def ask(self, question: str, answer: str) -> None:
        """Has the user look until the answer is this: what a client has written arrives later than its write ends."""
        async with asyncio.timeout(PATIENCE):
            while not re.search(answer, (await self._look(question))):
                await asyncio.sleep(0.05)

    async def _look(self, question: str) -> str:
        await self.program.say(question)
        return (await self.program.line("^.*$"))[0]

    async def stop(self) -> None:
        self.program.hang_up()
        await self.program.stop()


class RootCanal:
    name = "rootcanal"

    def __init__(self, program: Program, endpoint: str) -> None:
        self.program, self.endpoint = program, endpoint

    @classmethod
    async def start(cls) -> "RootCanal":
        ports = [free_port() for _ in range(4)]
        names = ("test_port", "hci_port", "link_port", "link_ble_port")
        options = [f"-{name}={port}" for name, port in zip(names, ports, strict=True)]
        program = await Program.start(*rootcanal_program.command(), *options, name="RootCanal", shown=False)
        # It says nothing that could be waited for before it listens: a connection says it (and is a controller that goes again).
        await reachable("127.0.0.1", ports[1])
        return cls(program, f"127.0.0.1:{ports[1]}")

    async def stop(self) -> None:
        await self.program.stop()


class BumbleAir:
    """Bumble's controllers on its `LocalLink`, in this process, each behind a TCP connection."""

    name = "bumble"

    def __init__(self) -> None:
        self.link = link.LocalLink()
        self.numbers = itertools.count(1)
        self.connections: set[asyncio.BaseTransport] = set()
        self.endpoint = ""

    @classmethod
    async def start(cls) -> "BumbleAir":
        air = cls()
        air.server = await asyncio.get_running_loop().create_server(
            lambda: ControllerConnection(air), "127.0.0.1", 0)
        host, port = air.server.sockets[0].getsockname()
        air.endpoint = f"{host}:{port}"
        return air

    def let_go(self) -> None:
        """Hangs up on all hosts; they may come back."""
        for connection in list(self.connections):
            connection.close()

    async def stop(self) -> None:
        self.server.close()
        self.let_go()
        await self.server.wait_closed()


class ControllerConnection(asyncio.Protocol):
    """A host's connection to one of Bumble's controllers."""

    def __init__(self, air: BumbleAir) -> None:
        self.air = air

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.air.connections.add(transport)
        self.transport = transport
        self.source = ParserSource()
        number = next(self.air.numbers)
        self.controller = controller.Controller(
            f"controller {number}", host_source=self.source, host_sink=self, link=self.air.link,
            public_address=f"C0:FF:EE:00:00:{number:02X}/P")  # fmt: skip

    def on_packet(self, packet: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(bytes(packet))

    def data_received(self, data: bytes) -> None:
        self.source.parser.feed_data(data)

    def connection_lost(self, error: Exception | None) -> None:
        self.air.connections.discard(self.transport)
        self.controller.le_legacy_advertiser.stop()
        for advertising_set in self.controller.advertising_sets.values():
            advertising_set.stop()
        if self.controller in self.air.link.controllers:
            self.air.link.remove_controller(self.controller)


async def reachable(host: str, port: int) -> None:
    """Comes back when something listens there."""

    async def attempt() -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection(host, port)
            except ConnectionRefusedError:
                # Nothing tells when a foreign program begins to listen; this is no more often than it needs to be.
                await asyncio.sleep(0.01)
            else:
                writer.close()
                await writer.wait_closed()
                return

    await asyncio.wait_for(attempt(), PATIENCE)
