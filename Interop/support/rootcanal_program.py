"""RootCanal: where its program is, and how it is started on a system whose C library is too old for it.

As a program: says whether it runs here without help (status 0).
"""

import platform
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def program() -> str:
    from rootcanal.binaries import get_package_binary_resource_path

    return get_package_binary_resource_path("rootcanal")


def runs_here() -> bool:
    # --help ends with status 1, a missing library with 127 (or 1 and a message of the loader's).
    result = subprocess.run([program(), "--help"], capture_output=True, text=True)
    return "hci_port" in result.stdout


def command() -> list[str]:
    """What starts RootCanal: its program, or the loader of newer libraries with it (see newer-libraries)."""
    libraries = REPOSITORY / ".build" / "interop" / "newer-libraries" / "root" / "usr" / "lib"
    folder = libraries / f"{platform.machine()}-linux-gnu"
    loader = folder / "ld-linux-x86-64.so.2"
    return [str(loader), "--library-path", str(folder), program()] if loader.exists() else [program()]


if __name__ == "__main__":
    sys.exit(0 if runs_here() else 1)
