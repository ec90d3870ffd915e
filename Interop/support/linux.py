"""Linux with BlueZ as a host: a machine in QEMU whose serial lines are connections to controllers.

The programs in `Linux/guest` run in the machine. A test sends requests to them, and gets results and events.
"""

import asyncio
import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from support import programs
from support.programs import Program
from support.waiting import Events, soon

# The guests, a folder for each suite of Debian.
FOLDER = programs.REPOSITORY / ".build" / "interop" / "linux"
QEMU = "qemu-system-x86_64"
# Seconds. Emulated, everything takes longer; on a machine that compiles beside it, a guest may need 30 s to start.
PATIENCE = 120.0
KERNEL_PARAMETERS = (
    "rdinit=/lab/init console=ttyS0 quiet panic=-1 oops=panic mitigations=off nokaslr cryptomgr.notests "
    "random.trust_cpu=on no_timer_check tsc=reliable audit=0"
)


class GuestError(Exception):
    """A request that failed in the guest, with the error there."""


def obstacle() -> str | None:
    """The reason why no guest can run here."""
    if shutil.which(QEMU) is None:
        return f"{QEMU} is not installed (on Debian: apt-get install qemu-system-x86)"
    return None


def build(suite: str) -> Path:
    """Builds the guest of a suite of Debian if it is not up to date, and returns its folder."""
    specification = importlib.util.spec_from_file_location(
        "build", programs.REPOSITORY / "Interop" / "Linux" / "build.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    folder = FOLDER / suite
    module.build(module.SUITES[suite], folder)
    return folder


class Linux:
    """A running guest."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.events = Events(f"events of {program.name}")
        self._numbers = itertools.count(1)
        self._requests: dict[int, asyncio.Future] = {}
        self._programs: dict[str, GuestProgram] = {}
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(
        cls, name: str, folder: Path, console: Path, *endpoints: str, runs_programs: bool = False
    ) -> "Linux":
        """Starts the guest in `folder`, whose serial lines are connections to `endpoints`; it has no adapters yet. With
        `runs_programs`, it sees the programs of this package."""
        shares = shared_folders() if runs_programs else {}
        program = await Program.start(QEMU, *options(folder, console, endpoints, shares), name=name)
        guest = cls(program)
        try:
            await guest.event("ready")
        except AssertionError:
            await guest.stop()
            print(console.read_text(errors="replace")[-2_000:])
            raise
        return guest

    async def adapters(self, count: int = 1, agent: str | None = "NoInputNoOutput", **options) -> list[str]:
        """Attaches adapters, starts bluetoothd and switches the adapters on; returns their addresses. `options` are those
        of the group General in bluetoothd's main.conf."""
        for number in range(count):
            await self("attach", number=number)
        await self("start_bluetoothd", options=options)
        addresses = [await self("power", adapter=f"hci{number}") for number in range(count)]
        if agent:
            await self("agent", capability=agent)
        return addresses

    async def __call__(self, command: str, **arguments: Any) -> Any:
        """Returns the result of a command; raises GuestError if it fails."""
        number = next(self._numbers)
        self._requests[number] = asyncio.get_running_loop().create_future()
        await self.program.say(json.dumps({"id": number, "command": command, **arguments}))
        return await soon(self._requests[number], PATIENCE)

    def begin(self, command: str, **arguments: Any) -> asyncio.Task:
        """Starts a command that goes on while the test does other things."""
        return asyncio.create_task(self(command, **arguments))

    async def start_program(self, name: str, *arguments: object, **environment: str) -> "GuestProgram":
        """Starts a program of this package beside bluetoothd, as an ordinary user."""
        program = GuestProgram(self, f"{name} {next(self._numbers)}")
        self._programs[program.key] = program
        environment = {"COREBLUETOOTH_ADAPTER": "bluez", "COREBLUETOOTH_PROMPTS": "accept", **environment}
        await self("start_program", key=program.key, words=[name, *map(str, arguments)], environment=environment)
        return program

    async def event(self, name: str, **fields: Any) -> dict[str, Any]:
        """The next event with this name and these fields."""

        def matches(event: dict | None) -> bool:
            return event is None or event["event"] == name and fields.items() <= event.items()

        event = await self.events.next(matches, PATIENCE)
        assert event is not None, f"{self.program.name} ended before the event {name!r}"
        return event

    def asked(self) -> list[str]:
        """The questions that BlueZ has asked its agent."""
        return [event["question"] for event in self.events.all if event and event["event"] == "asked"]

    async def _read(self) -> None:
        while (line := await self.program.output.next(seconds=None)) is not None:
            if not line.startswith("{"):
                continue
            message = json.loads(line)
            if program := self._programs.get(message.get("program")):
                program.add(message)
            elif "event" in message:
                self.events.add(message)
            elif "error" in message:
                self._requests.pop(message["id"]).set_exception(GuestError(message["error"]))
            else:
                self._requests.pop(message["id"]).set_result(message["result"])
        self.events.add(None)
        for program in self._programs.values():
            program.add({"event": "exit", "status": None})
        for request in self._requests.values():
            if not request.done():
                request.set_exception(GuestError("the guest has ended"))

    async def kill(self) -> None:
        """Ends the machine as a power failure would."""
        self.program.process.kill()
        await self.program.exit()

    async def stop(self) -> None:
        await self.program.stop()
        await self._reader


class GuestProgram:
    """A program of this package that runs in a guest, as `support.programs.Program` is one outside."""

    def __init__(self, guest: Linux, key: str) -> None:
        self.guest, self.key = guest, key
        self.output, self.problems = Events(key), Events(f"{key}, standard error")
        self.status: asyncio.Future = asyncio.get_running_loop().create_future()

    def add(self, message: dict[str, Any]) -> None:
        """Takes an event of the program."""
        if message["event"] != "exit":
            print(f"[{self.key}] {message['line']}")
            (self.output if message["event"] == "line" else self.problems).add(message["line"])
        elif not self.status.done():
            self.status.set_result(message["status"])
            self.output.add(None)
            self.problems.add(None)

    async def line(self, pattern: str, seconds: float = PATIENCE) -> re.Match[str]:
        """The next line in which `pattern` is found; an end of the output before it is a failure."""
        return await programs.search(self.output, pattern, seconds)

    async def problem(self, pattern: str, seconds: float = PATIENCE) -> re.Match[str]:
        return await programs.search(self.problems, pattern, seconds)

    async def say(self, line: str) -> None:
        await self.guest("say", key=self.key, line=line)

    async def exit(self, seconds: float = PATIENCE) -> int:
        """The status with which it ends by itself."""
        return await soon(asyncio.shield(self.status), seconds)

    async def stop(self) -> int:
        await self.guest("end", key=self.key)
        return await self.exit()


def shared_folders() -> dict[str, Path]:
    """The folders of the programs and of the libraries of Swift that they load."""
    program = programs.built("ble").resolve()
    listed = subprocess.run(["ldd", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    libraries = re.search(r"=> (\S+)/libswiftCore\.so", listed)
    return {"programs": program.parent, "swift": Path(libraries[1]) if libraries else program.parent}


def accelerator() -> str:
    """KVM where the processor has it. A machine without may have /dev/kvm all the same, and guests stop there."""
    flags = set(Path("/proc/cpuinfo").read_text().split())
    return "kvm" if flags & {"vmx", "svm"} and os.access("/dev/kvm", os.R_OK | os.W_OK) else "tcg"


def options(folder: Path, console: Path, endpoints: tuple[str, ...], shares: dict[str, Path]) -> list[object]:
    result = [
        "-accel", accelerator(), "-machine", "pc,usb=off,vmport=off", "-cpu", "max", "-smp", 1, "-m", 512,
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-device", "isa-debug-exit,iobase=0xf4",
        "-kernel", folder / "vmlinux", "-initrd", folder / "initrd", "-append", KERNEL_PARAMETERS,
        "-chardev", f"file,id=console,path={console}", "-device", "isa-serial,chardev=console,index=0",
        "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
        "-chardev", "stdio,id=remote,signal=off", "-device", "virtserialport,chardev=remote,name=remote",
    ]  # fmt: skip
    for number, endpoint in enumerate(endpoints, 1):
        host, port = endpoint.rsplit(":", 1)
        result += ["-chardev", f"socket,id=hci{number},host={host},port={port},nodelay=on"]
        result += ["-device", f"isa-serial,chardev=hci{number},index={number}"]
    for tag, path in shares.items():
        result += ["-fsdev", f"local,id={tag},path={path},security_model=none,readonly=on"]
        result += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    return result
