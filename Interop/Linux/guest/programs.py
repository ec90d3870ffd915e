"""Programs of this package, which an ordinary user runs beside bluetoothd."""

import asyncio
import os
import subprocess

import bus

FOLDER = "/run/programs"
LIBRARIES = "/run/swift"
USER = 1000
"""The user and the group of the programs: not root, and not in the group bluetooth."""

processes = {}


def mount() -> None:
    """Mounts the folders of the machine outside, once."""
    for tag, folder in (("programs", FOLDER), ("swift", LIBRARIES)):
        if os.path.ismount(folder):
            continue
        os.makedirs(folder, exist_ok=True)
        options = "trans=virtio,version=9p2000.L,ro,msize=262144,cache=loose"
        subprocess.run(["mount", "-t", "9p", "-o", options, tag, folder], check=True)


async def start_program(key: str, words: list, environment: dict):
    """Starts a program, and reports its lines and its end under `key`."""
    mount()
    process = await asyncio.create_subprocess_exec(
        f"{FOLDER}/{words[0]}", *words[1:], user=USER, group=USER, extra_groups=[], cwd="/tmp",
        env={"PATH": "/usr/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "LD_LIBRARY_PATH": LIBRARIES, **environment},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    processes[key] = process
    bus.keep(asyncio.create_task(watch(key, process)))


async def watch(key: str, process) -> None:
    streams = (("line", process.stdout), ("problem", process.stderr))
    await asyncio.gather(*(read(key, kind, stream) for kind, stream in streams))
    bus.report(event="exit", program=key, status=await process.wait())


async def read(key: str, kind: str, stream) -> None:
    while line := await stream.readline():
        bus.report(event=kind, program=key, line=line.decode(errors="replace").rstrip("\n"))


async def put_file(path: str, text: str):
    """Writes a file that programs can read."""
    with open(path, "w") as file:
        file.write(text)


async def say(key: str, line: str):
    """Writes a line to a program's standard input."""
    processes[key].stdin.write(line.encode() + b"\n")
    await processes[key].stdin.drain()


async def end(key: str):
    """Sends SIGTERM to a program, if it runs."""
    if processes[key].returncode is None:
        processes[key].terminate()


COMMANDS = {function.__name__: function for function in (start_program, put_file, say, end)}
