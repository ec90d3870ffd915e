"""Programs that a test starts, and reads line by line."""

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path

from support.terminal import Terminal
from support.waiting import PATIENCE, Events, soon

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def built(name: str) -> Path:
    """A program of the package, as `swift build` left it."""
    folder = Path(os.environ.get("INTEROP_PROGRAMS", REPOSITORY / ".build" / "debug"))
    program = folder / name
    assert program.exists(), f"{program} is not there: run `swift build` first"
    return program


async def search(lines: Events, pattern: str, seconds: float) -> re.Match[str]:
    """The next of a program's lines in which `pattern` is found; an end of the lines before it is a failure."""
    found = await lines.next(lambda line: line is None or re.search(pattern, line), seconds)
    assert found is not None, f"{lines.name} ended without a line like {pattern!r}; it printed {lines.all}"
    match = re.search(pattern, found)
    assert match
    return match


class Program:
    """A running program; everything that it prints is kept and, unless it is chatter, shown when a test fails."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, shown: bool = True) -> None:
        self.name, self.shown = name, shown
        self.process = process
        self.output = Events(name)
        self.problems = Events(f"{name}, standard error")
        streams = ((process.stdout, self.output), (process.stderr, self.problems))
        self._readers = [asyncio.create_task(self._read(stream, events)) for stream, events in streams if stream]

    @classmethod
    async def start(
        cls, program: Path | str, *arguments: object, environment: Mapping[str, str] | None = None, name: str = "",
        shown: bool = True, terminal: Terminal | None = None,
    ) -> "Program":
        """With `terminal` its standard input and error are that terminal, and it asks its user there."""
        command = [str(program), *map(str, arguments)]
        stream = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *(["setsid", "--ctty", *command] if terminal else command),
            stdin=terminal.program_side if terminal else stream, stdout=stream,
            stderr=terminal.program_side if terminal else stream, env={**os.environ, **(environment or {})},
        )  # fmt: skip
        return cls(name or Path(program).name, process, shown)

    async def _read(self, stream: asyncio.StreamReader, events: Events) -> None:
        while line := await stream.readline():
            text = line.decode(errors="replace").rstrip("\n")
            if self.shown:
                print(f"[{self.name}] {text}")
            events.add(text)
        events.add(None)

    async def line(self, pattern: str, seconds: float = PATIENCE) -> re.Match[str]:
        """The next line in which `pattern` is found; an end of the output before it is a failure."""
        return await search(self.output, pattern, seconds)

    async def problem(self, pattern: str, seconds: float = PATIENCE) -> re.Match[str]:
        return await search(self.problems, pattern, seconds)

    async def say(self, line: str) -> None:
        self.process.stdin.write(line.encode() + b"\n")
        await self.process.stdin.drain()

    def hang_up(self) -> None:
        """Ends the program's standard input."""
        self.process.stdin.close()

    async def exit(self, seconds: float = PATIENCE) -> int:
        """The status with which it ends by itself."""
        status = await soon(self.process.wait(), seconds)
        await asyncio.gather(*self._readers)
        return status

    async def stop(self) -> None:
        """Ends it, if it runs: with SIGTERM, then with SIGKILL."""
        if self.process.returncode is None:
            self.process.terminate()
            try:
                await asyncio.wait_for(self.process.wait(), 3)
            except TimeoutError:
                self.process.kill()
                await self.process.wait()
        await asyncio.gather(*self._readers)
