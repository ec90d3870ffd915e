"""Bumble's own tests, from the source archive of the version that is installed."""

import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

from support.programs import REPOSITORY

# The files whose tests have controllers.
FILES = ("self_test.py", "smp_test.py", "gatt_test.py", "l2cap_test.py", "device_test.py", "profiles")

CLASSIC = "BR/EDR"
FEATURE = "isochronous channels, subrating and Channel Sounding are no part of this controller"
INSIDE = "it changes or reads fields of Bumble's controller"

# The tests that can't pass over these controllers, and the reason. A name stands for all that begin with it.
IMPOSSIBLE = {
    "self_test.py::test_self_classic_connection": CLASSIC,
    "self_test.py::test_self_smp_over_classic": CLASSIC,
    "device_test.py::test_accept_classic_connection": CLASSIC,
    "device_test.py::test_remote_name_request": CLASSIC,
    "device_test.py::test_get_remote_classic_features": CLASSIC,
    "device_test.py::test_classic_ssp": CLASSIC,
    "device_test.py::test_enter_and_exit_sniff_mode": CLASSIC,
    "device_test.py::test_cis": FEATURE,
    "device_test.py::test_le_request_subrate": FEATURE,
    "device_test.py::test_connection_parameters_and_subrate": FEATURE,
    "device_test.py::test_big_and_big_sync": FEATURE,
    "device_test.py::test_channel_sounding": FEATURE,
    "device_test.py::test_multiple_periodic_advertising_and_big_syncs": FEATURE,
    "device_test.py::test_periodic_advertising_and_big_failure_exceptions": FEATURE,
    "profiles/bap_test.py::test_ascs": FEATURE,
    "device_test.py::test_legacy_advertising_disconnection": INSIDE,
    "device_test.py::test_le_multiple_connects": INSIDE,
    "device_test.py::test_extended_advertising_connection_out_of_order": INSIDE,
    "device_test.py::test_get_remote_le_features": INSIDE,
    "device_test.py::test_extended_advertising_connection": "a set with an interval of 1 ms is refused",
    "device_test.py::test_periodic_advertising_sync": "it waits for less than the interval of the periodic advertising",
    "device_test.py::test_le_encryption_with_mismatched_keys":
        "after a failure of the MIC, the peer's link ends by its supervision timeout",
    "device_test.py::test_le_set_privacy_mode": "the peer is not in the resolving list",
}  # fmt: skip


def folder() -> Path:
    """The folder of the tests, which is downloaded if it is missing."""
    name = f"bumble-{version('bumble')}"
    work = REPOSITORY / ".build" / "interop"
    tests = work / name / "tests"
    if not tests.is_dir():
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "bumble", "--dest", work,
             name.replace("-", "==")], check=True)  # fmt: skip
        with tarfile.open(work / f"{name}.tar.gz") as archive:
            archive.extractall(work, filter="data")
    return tests
