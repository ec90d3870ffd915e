"""Client libraries that build on bleak, unchanged, with BlueZ as the central and our accessories as the devices."""

import json

import pytest

pytestmark = pytest.mark.nightly

MODEL = "00002a24-0000-1000-8000-00805f9b34fb"


@pytest.fixture
def guest(serve, boot, tmp_path):
    """Starts a guest whose adapter is on the air of a world with these accessories, a name for each."""

    async def start(**accessories):
        devices = [{"name": name, "accessory": accessory} for name, accessory in accessories.items()]
        (tmp_path / "world.json").write_text(json.dumps({"devices": devices}))
        air = await serve("--world", tmp_path / "world.json")
        linux = await boot("linux", air.endpoint)
        addresses = await linux.adapters()
        return linux, addresses

    return start


async def test_bleakheart_follows_strap(guest):
    linux, _ = await guest(strap={"kind": "heart-rate", "localName": "Strap", "beatsPerMinute": 151, "batteryLevel": 87})
    result = await linux("bleakheart_beats", name="Strap", count=3)
    assert result == {"battery": 87, "beats": [151, 151, 151]}


async def test_pycycling_counts_turns(guest):
    linux, _ = await guest(bicycle={"kind": "cycling", "localName": "Bicycle", "speed": 9.2, "cadence": 90})
    result = await linux("pycycling_turns", name="Bicycle", count=3)
    assert result["has_wheel"] and result["has_crank"]
    turns = result["turns"]
    # 1.5 turns of the crank in each second; the times count 1/1024 s and wrap around at 64 s.
    for before, after in zip(turns, turns[1:]):
        cranks = after["cumulative_crank_revs"] - before["cumulative_crank_revs"]
        time = (after["last_crank_event_time"] - before["last_crank_event_time"]) % 65_536 / 1_024
        assert cranks in (1, 2) and cranks / time == pytest.approx(1.5, rel=0.01)
    assert turns[-1]["cumulative_wheel_revs"] > turns[0]["cumulative_wheel_revs"]


async def test_ruuvitag_sensor_decodes_beacon(guest):
    # Data format 5 with the values of the valid data in Ruuvi's description of the format.
    data = {"company": 0x0499, "data": "05 12 FC 53 94 C3 7C 00 04 FF FC 04 0C AC 36 42 00 CD CB B8 33 4C 88 4F"}
    advertising = {"interval": 0.1, "payload": {"flags": 6, "manufacturerData": data}}
    linux, _ = await guest(tag={"kind": "broadcaster", "advertising": advertising})
    values = await linux("ruuvitag_values")
    assert values["temperature"] == 24.3
    assert values["humidity"] == 53.49
    assert values["pressure"] == 1000.44
    assert values["battery"] == 2977
    assert values["mac"] == "cbb8334c884f"


async def test_bleak_retry_connector_reads(guest):
    linux, _ = await guest(strap={"kind": "heart-rate", "localName": "Strap"})
    value = await linux("retried_read", name="Strap", characteristic=MODEL)
    assert bytes.fromhex(value) == b"Heart Rate Belt"


async def test_bluetooth_adapters_lists_adapter(guest):
    linux, [address] = await guest()
    assert await linux("listed_adapters") == {"hci0": {"address": address}}
