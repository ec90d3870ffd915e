"""Builds the Linux guest: a kernel and an initial RAM disk that QEMU boots without a disk.

The base (Debian packages, kernel modules, Python packages) is built once for each version of this file and of the lists
beside it. The files under `guest` are added to it afterwards, so that a change there costs less than a second.

Usage: build.py SUITE FOLDER, with a suite of Debian: bookworm or trixie
"""

import fcntl
import hashlib
import io
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"

# Modules that the guest loads. Their dependencies come from the modules themselves. The kernel's pairing needs cmac and,
# for its keys, the default random number generator: drbg with sha512.
MODULES = (
    "virtio_pci", "virtio_console", "virtio_rng", "cmac", "sha512_generic", "jitterentropy_rng", "drbg", "bluetooth",
    "hci_uart", "uhid", "hid_generic", "evdev", "algif_hash", "algif_skcipher", "ecb", "9pnet_virtio", "9p",
)  # fmt: skip



@dataclass(frozen=True)
class Suite:
    """A version of Debian, with the version of its Python."""

    name: str
    python: str


SUITES = {suite.name: suite for suite in (Suite("bookworm", "3.11"), Suite("trixie", "3.13"))}

# Files of the packages that the guest has no use for.
UNUSED = re.compile(
    r"usr/(share/(doc|man|locale|i18n|lintian|bash-completion|zsh|gdb|bug|menu|alsa|glib-2.0|info)|include"
    r"|lib/(udev|systemd|tmpfiles\.d|sysusers\.d|cups|x86_64-linux-gnu/gconv)"
    r"|lib/python3\.\d+/(test|idlelib|lib2to3|tkinter|turtledemo|ensurepip|distutils|pydoc_data|unittest|config-.*))(/|$)")

# Programs whose libraries have to be complete.
PROGRAMS = (
    "usr/bin/bluetoothctl", "usr/bin/btattach", "usr/bin/btmgmt", "usr/bin/dbus-daemon", "usr/bin/dbus-send",
    "usr/bin/hci-tester", "usr/bin/hciconfig", "usr/bin/kmod", "usr/bin/python3", "usr/libexec/bluetooth/bluetoothd",
)  # fmt: skip


def build(suite: Suite, folder: Path) -> None:
    """Brings `vmlinux`, `initrd` and `manifest.txt` in `folder` up to date."""
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "lock"):
        base = digest(HERE / "build.py", HERE / "packages.txt", HERE / "requirements.txt")
        if not is_current(folder, "base", base):
            build_base(suite, folder)
            (folder / "base.key").write_text(base)
        whole = digest(*sorted((HERE / "guest").iterdir())) + base
        if not is_current(folder, "initrd", whole):
            add_guest_files(folder)
            (folder / "initrd.key").write_text(whole)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def digest(*paths: Path) -> str:
    parts = (f"{path.name} {path.stat().st_mode}\0".encode() + path.read_bytes() for path in paths)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def is_current(folder: Path, name: str, key: str) -> bool:
    record = folder / f"{name}.key"
    return (folder / name).exists() and record.exists() and record.read_text() == key


def build_base(suite: Suite, folder: Path) -> None:
    for name in ("base", "initrd"):
        (folder / name).unlink(missing_ok=True)
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    root = work / "root"
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")

    packages = PackageSource(suite, work / "apt")
    kernel_package = packages.dependency("linux-image-amd64", r"linux-image-\S+")
    kernel, *others = packages.download([kernel_package, *listed(HERE / "packages.txt")])
    for package in others:
        unpack(package, root)
    unpack(kernel, work / "kernel")
    (folder / "vmlinux").write_bytes(uncompressed(next((work / "kernel").glob("**/boot/vmlinuz-*"))))
    copy_modules(work / "kernel", root / "lab")
    wheels = install_wheels(suite, work / "wheels", root / f"usr/lib/python{suite.python}")
    finish(suite, root)
    check_libraries(root)
    (folder / "base").write_bytes(archive(root))
    manifest = [path.name for path in (kernel, *others)] + wheels
    (folder / "manifest.txt").write_text("".join(f"{line}\n" for line in manifest))
    shutil.rmtree(work)


def add_guest_files(folder: Path) -> None:
    with (folder / "initrd.new").open("wb") as file:
        with (folder / "base").open("rb") as base:
            shutil.copyfileobj(base, file)
        file.write(archive(HERE / "guest", "lab/"))
    (folder / "initrd.new").rename(folder / "initrd")


def listed(path: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


class PackageSource:
    """Debian's packages for amd64. All state of this apt is in one folder: the machine's own state stays as it is."""

    def __init__(self, suite: Suite, folder: Path) -> None:
        self.folder = folder
        for name in ("lists/partial", "cache/archives/partial", "packages"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        (folder / "sources.list").write_text("".join(
            f"deb [arch=amd64 signed-by={KEYS}] {mirror(archive)} {name} main\n"
            for archive, name in (("debian", suite.name), ("debian-security", f"{suite.name}-security"))))  # fmt: skip
        self.run("apt-get", "-qq", "update")
        self.names = set(self.run("apt-cache", "pkgnames").split())

    def run(self, program: str, *arguments: str) -> str:
        options = {
            "Dir::Etc::SourceList": self.folder / "sources.list", "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null", "Dir::Etc::PreferencesParts": "/dev/null", "Dir::State": self.folder,
            "Dir::State::Lists": self.folder / "lists", "Dir::State::status": self.folder / "status",
            "Dir::Cache": self.folder / "cache", "APT::Architecture": "amd64", "APT::Architectures": "amd64",
            "APT::Sandbox::User": "root", "Acquire::Languages": "none", "Acquire::Retries": "3",
        }  # fmt: skip
        command = [program, *(f"-o{name}={value}" for name, value in options.items()), *arguments]
        return subprocess.run(
            command, cwd=self.folder / "packages", check=True, stdout=subprocess.PIPE, text=True).stdout

    def dependency(self, package: str, pattern: str) -> str:
        """The first package matching `pattern` on which `package` depends."""
        match = re.search(rf"Depends: ({pattern})", self.run("apt-cache", "depends", package))
        if not match:
            raise SystemExit(f"build.py: {package} depends on nothing like {pattern}")
        return match[1]

    def download(self, names: list[str]) -> list[Path]:
        """Downloads packages. A name may have alternatives, "libelf1 | libelf1t64": the first one that the suite has."""
        names = [self.first(name) for name in names]
        self.run("apt-get", "-qq", "download", *names)
        return [next((self.folder / "packages").glob(f"{name}_*.deb")) for name in names]


    def first(self, alternatives: str) -> str:
        for name in alternatives.split(" | "):
            if name in self.names:
                return name
        raise SystemExit(f"build.py: Debian has no package {alternatives}")


def mirror(name: str) -> str:
    """The mirror of Debian's archive `name` that this machine's apt sources use, otherwise the public one."""
    sources = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    for path in filter(Path.is_file, sources):
        if match := re.search(rf"^[^#\n]*?(https?://\S+/{name})/?(?=\s|$)", path.read_text(), re.MULTILINE):
            return match[1]
    return f"http://deb.debian.org/{name}"


def unpack(package: Path, root: Path) -> None:
    root.mkdir(exist_ok=True)
    extracted = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    # /bin and its like are links to their namesakes in /usr.
    command = ["tar", "--extract", "--directory", root, "--keep-directory-symlink", "--no-same-owner"]
    subprocess.run(command, stdin=extracted.stdout, check=True)
    if extracted.wait() != 0:
        raise SystemExit(f"build.py: {package.name} cannot be unpacked")


def uncompressed(kernel: Path) -> bytes:
    """The ELF file in a kernel image. QEMU boots it as it is, and nothing has to be decompressed under emulation."""
    image = kernel.read_bytes()
    # The code in front of the compressed kernel may contain the same octets, so each place is tried.
    for match in re.finditer(rb"\xfd7zXZ\0|\x28\xb5\x2f\xfd", image):
        result = decompressed(image[match.start() :])
        if result.startswith(b"\x7fELF"):
            return result
    raise SystemExit(f"build.py: {kernel.name} holds no ELF file")


def decompressed(octets: bytes) -> bytes:
    """What a stream of xz or Zstandard at the beginning of `octets` contains; other octets may follow the stream."""
    if octets.startswith(b"\x28"):
        return subprocess.run(
            ["zstd", "-dcq"], input=octets, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    try:
        return lzma.LZMADecompressor().decompress(octets)
    except lzma.LZMAError:
        return b""


def copy_modules(kernel: Path, target: Path) -> None:
    """Copies the wanted modules, and lists them in the order in which they can be loaded."""
    folder = next(kernel.glob("**/lib/modules/*/kernel")).parent
    files = {module_name(path): path for path in folder.glob("kernel/**/*.ko*")}
    built_in = {module_name(Path(line)) for line in (folder / "modules.builtin").read_text().splitlines()}
    order: dict[str, bytes] = {}

    def add(name: str) -> None:
        if name in order or name in built_in:
            return
        octets = files[name].read_bytes()
        if files[name].suffix == ".xz":
            octets = lzma.decompress(octets)
        match = re.search(rb"\0depends=([\w,-]*)\0", octets)
        for dependency in filter(None, match[1].decode().split(",") if match else []):
            add(dependency.replace("-", "_"))
        order[name] = octets

    for name in MODULES:
        add(name)
    (target / "modules").mkdir(parents=True)
    for name, octets in order.items():
        (target / "modules" / f"{name}.ko").write_bytes(octets)
    (target / "modules" / "order").write_text("".join(f"{name}\n" for name in order))


def module_name(path: Path) -> str:
    return path.name.partition(".")[0].replace("-", "_")


def install_wheels(suite: Suite, folder: Path, target: Path) -> list[str]:
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
         "--only-binary=:all:", "--python-version", suite.python, "--implementation", "cp",
         "--platform", "manylinux2014_x86_64", "--platform", "manylinux_2_28_x86_64", "--platform", "any",
         "--dest", folder, "--requirement", HERE / "requirements.txt"], check=True)  # fmt: skip
    wheels = sorted(folder.iterdir())
    for wheel in wheels:
        zipfile.ZipFile(wheel).extractall(target)
    return [wheel.name for wheel in wheels]


def finish(suite: Suite, root: Path) -> None:
    """Does what maintainer scripts would do, as far as the guest needs it."""
    (root / "usr/bin/python3").symlink_to(f"python{suite.python}")
    for path in sorted(root.rglob("*"), reverse=True):
        if UNUSED.match(str(path.relative_to(root))):
            path.unlink() if path.is_symlink() or not path.is_dir() else shutil.rmtree(path)
    applets = subprocess.run([root / "usr/bin/busybox", "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout
    for applet in applets.split():
        if not any(os.path.lexists(root / "usr" / place / applet) for place in ("bin", "sbin")):
            (root / "usr/bin" / applet).symlink_to("busybox")
    for name in ("dev", "proc", "sys", "run", "tmp", "root", "var/lib/bluetooth", "var/lib/dbus", "etc/bluetooth"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, text in {
        "passwd": "root:x:0:0::/root:/bin/sh\nmessagebus:x:100:100::/:/bin/false\nuser:x:1000:1000::/tmp:/bin/sh\n",
        "group": "root:x:0:\nmessagebus:x:100:\nbluetooth:x:101:\nuser:x:1000:\n",
        "nsswitch.conf": "passwd: files\ngroup: files\n",
        "machine-id": f"{1:032x}\n",
    }.items():
        (root / "etc" / name).write_text(text)
    # Under emulation, compiling takes most of a program's start.
    run_in(root, "usr/bin/python3", "-S", "-m", "compileall", "-q", "-s", root, "-p", "/",
           root / f"usr/lib/python{suite.python}")  # fmt: skip


def run_in(root: Path, program: str, *arguments: object) -> str:
    """Runs a program of the guest on this machine, by the guest's own loader and libraries."""
    libraries = root / "usr/lib/x86_64-linux-gnu"
    command = [root / "usr/lib64/ld-linux-x86-64.so.2", "--library-path", libraries, root / program, *arguments]
    environment = {**os.environ, "PYTHONHOME": str(root / "usr")}
    return subprocess.run(
        list(map(str, command)), env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def check_libraries(root: Path) -> None:
    libraries = root / "usr/lib/x86_64-linux-gnu"
    loader = root / "usr/lib64/ld-linux-x86-64.so.2"
    for program in PROGRAMS:
        command = [loader, "--library-path", libraries, "--list", root / program]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0 or "not found" in result.stdout:
            raise SystemExit(f"build.py: {program}: {result.stdout}")


def archive(folder: Path, prefix: str = "") -> bytes:
    """A cpio archive of the kind that the kernel unpacks; everything in it belongs to root."""
    output = io.BytesIO()
    paths = sorted(folder.rglob("*"))
    for number, path in enumerate(paths, 1):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            content = os.readlink(path).encode()
        else:
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        add_entry(output, prefix + str(path.relative_to(folder)), status.st_mode, content, number)
    add_entry(output, "TRAILER!!!", 0, b"", 0)
    output.write(bytes(-output.tell() % 512))
    return output.getvalue()


def add_entry(output: io.BytesIO, name: str, mode: int, content: bytes, number: int) -> None:
    encoded = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    output.write(b"070701" + b"".join(b"%08X" % field for field in fields))
    for part in (encoded, content):
        output.write(part)
        output.write(bytes(-output.tell() % 4))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in SUITES:
        raise SystemExit(__doc__)
    build(SUITES[sys.argv[1]], Path(sys.argv[2]).resolve())
