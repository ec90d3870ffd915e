"""The page of an air with a server that says what the test tells it to: what an air without apps or links can't show, and
pictures that are always the same."""

import asyncio
import itertools
import json
import statistics
from pathlib import Path

import pytest
import pytest_asyncio
from support import accessibility
from support.browser import Page, has_font
from support.scripted_air import GATT, ScriptedAir, device, link
from support.waiting import PATIENCE
from support.window import SIZES, Window

PICTURES = Path(__file__).parent / "support" / "pictures.json"

# A view, and what a hand does there before the picture.
SCENES = {
    "map": "document.querySelector('button.device').click()",
    "device/strap": "document.querySelector('#gatt-open')?.click()",
    "air": "", "air/channels": "", "air/log": "", "faults": "", "time": "", "apps": "",
}  # fmt: skip


class Stage(Window):
    def __init__(self, air: ScriptedAir, page: Page, address: str) -> None:
        super().__init__(page, address)
        self.air = air


@pytest_asyncio.fixture
async def stage(chromium):
    """Opens the page of a scripted air: `await stage(size="phone")`."""
    stages: list[Stage] = []

    async def open_one(air: ScriptedAir | None = None, size: str = "desktop", **features: str) -> Stage:
        air = air or ScriptedAir()
        address = await air.start()
        page = await chromium.page(address, SIZES[size], **features)
        stages.append(Stage(air, page, address))
        await stages[-1].devices()
        return stages[-1]

    yield open_one
    for one in stages:
        await one.air.stop()
        assert one.page.problems == [], "the page has broken a rule"


@pytest.mark.parametrize("size", SIZES)
async def test_pictures_names_and_contrast(stage, screenshots, size, request):
    """Compares pictures with the committed ones. With `--screenshots` the pictures and new thumbnails are saved."""
    assert has_font("Liberation Sans"), "the pictures need the package fonts-liberation"
    one = await stage(size=size, prefers_reduced_motion="reduce")
    await one.air.traffic()
    known = json.loads(PICTURES.read_text()) if PICTURES.exists() else {}
    new: dict[str, str] = {}
    wrong: dict[str, object] = {}
    for scheme in ("light", "dark"):
        await one.page.feature(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
        for view, act in SCENES.items():
            await one.show(view)
            await one.page.value(act or "1")
            await asyncio.sleep(0.5)
            name = f"{view.replace('/', '-')}-{size}-{scheme}"
            if problems := await accessibility.problems(one.page):
                wrong[f"rules of {name}"] = problems
            picture = await one.page.picture()
            if screenshots:
                screenshots.mkdir(parents=True, exist_ok=True)
                (screenshots / f"{name}.png").write_bytes(picture)
            new[name] = (await one.page.thumbnail(picture)).hex()
            if difference := differs(new[name], known.get(name, "")):
                wrong[f"picture {name}"] = difference
    if screenshots:
        (screenshots / f"pictures-{size}.json").write_text(json.dumps(new, indent=0))
    assert wrong == {}


def differs(picture: str, known: str) -> str | None:
    """The difference of two thumbnails, if it is more than another version of the browser makes. The cells of two views
    correlate with 0.6 and less."""
    if len(picture) != len(known):
        return "no picture of this size is committed"
    a, b = bytes.fromhex(picture), bytes.fromhex(known)
    if abs(statistics.mean(a) - statistics.mean(b)) > 10:
        return f"the mean brightness is {statistics.mean(a):.0f} instead of {statistics.mean(b):.0f}"
    likeness = statistics.correlation(a, b)
    return None if likeness > 0.85 else f"the correlation is {likeness:.2f}"


def test_pictures_differ():
    """The comparison finds a view that lacks a panel, or has the other colours."""
    known = json.loads(PICTURES.read_text())
    assert differs(known["map-desktop-light"], known["map-desktop-dark"])
    for one, other in itertools.combinations([name for name in known if name.endswith("-desktop-light")], 2):
        assert differs(known[one], known[other]), (one, other)


# MARK: A device


async def test_gatt_tree_is_read_written_and_subscribed(stage):
    one = await stage()
    await one.show("device/strap")
    await one.page.click("#gatt-open")
    await one.air.asked(request={"verb": "open", "device": "strap"})
    await one.text(".service-name", GATT[0]["name"])
    await one.page.click("[aria-label='Read Body Sensor Location']")
    await one.air.asked(request={"verb": "read", "device": "strap", "handle": 10})
    await one.text("[aria-label='Value of Body Sensor Location']", "chest")
    await one.page.click("[aria-label='Subscribe Heart Rate Measurement']")
    await one.air.asked(request={"verb": "subscribe", "device": "strap", "handle": 8, "on": True})
    await one.air.tick(values=[{"device": "strap", "handle": 8, "value": "0649", "text": "73 bpm", "time": 12.6}])
    await one.text("[aria-label='Value of Heart Rate Measurement']", "73 bpm")
    writer = "[aria-label='New value of Heart Rate Control Point, hexadecimal or text in quotes']"
    await one.page.type(writer, '"hé"')
    await one.page.click("[aria-label='Write Heart Rate Control Point']")
    await one.air.asked(
        request={"verb": "write", "device": "strap", "handle": 12, "value": "68c3a9", "response": True})
    await one.page.type(writer, "0x01 0a")
    await one.page.click("[aria-label='Write Heart Rate Control Point']")
    await one.air.asked(request={"verb": "write", "device": "strap", "handle": 12, "value": "010a", "response": True})
    await one.page.click("#gatt-close")
    await one.air.asked(request={"verb": "close", "device": "strap"})
    await one.page.until("document.querySelectorAll('.characteristic').length === 0")


async def test_advertising_is_decoded(stage):
    one = await stage()
    await one.show("device/bicycle")
    facts = await one.page.text(".device-view .columns > .stack")
    for part in ("ADV_IND connectable", "Heart Rate 180D", "Heart Rate Belt 0x0341", "LE general discoverable, no BR/EDR",
                 "02 01 06 03 03 0D 18", "12.3 µA", "431 days"):  # fmt: skip
        assert part in facts, facts


async def test_device_is_removed_and_the_world_is_saved(stage):
    one = await stage()
    await one.show("device/shoe")
    await one.page.click("#save")
    await one.page.until("document.querySelector('#dialog-text')?.value === 'seed: 11\\ndevices: []\\n'")
    await one.page.click("dialog [aria-label='Close']")
    one.page.accept_dialogs()
    await one.page.click("#remove")
    await one.air.asked(request={"verb": "remove", "device": "shoe"})
    await one.air.tick(removed=["shoe"])
    await one.page.until("[...document.querySelectorAll('button.device bdi')].every((one) => one.textContent !== 'shoe')")


async def test_device_is_added(stage):
    one = await stage()
    await one.page.click("#add")
    await one.page.type("#add-name", "hall: {x}")
    await one.page.choose("#add-kind", "thermometer")
    await one.page.type("#add-fields", '{"celsius": 38.5}')
    assert await accessibility.problems(one.page) == []
    await one.page.click("#add-submit")
    entry = {"name": "hall: {x}", "position": [0, 0, 0], "accessory": {"celsius": 38.5, "kind": "thermometer"}}
    asked = await one.air.requests.next(lambda request: request.get("request", {}).get("verb") == "add")
    assert json.loads(asked["request"]["text"]) == entry


async def test_power_switch(stage):
    one = await stage()
    await one.show("device/phone")
    await one.page.click("#device-power")
    await one.air.asked(request={"verb": "power", "device": "phone", "on": True})
    await one.air.tick(devices=[device("phone", "Telephone", [8, 4, 1], power=True)])
    await one.page.until("document.querySelector('#device-power').getAttribute('aria-checked') === 'true'")


# MARK: The air


async def test_collisions_are_told_from_other_losses(stage):
    one = await stage()
    await one.show("air")
    await one.air.traffic()
    await one.text("#packet-count", "60 of 60")
    await one.page.choose("#packet-outcome", "collided")
    await one.text("#packet-count", "4 of 60")
    await one.text(".packet-row:not(.head-row):not([hidden]) .tag", "collision")
    await one.page.click(".packet-row:not(.head-row):not([hidden])")
    await one.text("#detail", "another packet was on the channel at the same time")
    await one.show("air/channels")
    await one.page.click(".as-table summary")
    await one.page.until("""[...document.querySelectorAll('.as-table tbody tr')].reduce((sum, row) =>
      sum + parseInt(row.children[5].textContent), 0) === 4""")


# MARK: Why a link ends


async def test_link_that_fades_says_so(stage):
    one = await stage()
    for step in range(12):
        await one.air.tick(time=13 + step / 2, links=[link("8E89BED7", "console", "strap", -70 - 2 * step, missedEvents=step)])
    # The central has given the link up: the server knows only its address.
    await one.air.tick(time=18.9, links=[link("8E89BED7", "C0:FF:EE:00:00:09", "strap", -92, missedEvents=11)])
    timeout = {"code": 8, "text": "Connection Timeout (0x08)"}
    reasons = [{"device": "console", **timeout}, {"device": "strap", **timeout}]
    await one.air.tick(time=19, ended=[{"id": "8E89BED7", "reasons": reasons}])
    await one.show("device/strap")
    why = "Connection Timeout (0x08) at both ends. In its last 5 s: level −74 dBm to −92 dBm, limit −90 dBm; 9 losses"
    await one.text(".why", why)
    await one.text(".log li.ended", f"console: link ended: {why}")
    await one.show("air/log")
    await one.text("#log li.ended", f"console – strap link ended: {why}")


async def test_link_that_a_fault_ends_says_so(stage):
    one = await stage()
    for step in range(10):
        await one.air.tick(time=13 + step / 2, links=[link("8E89BED7", "console", "strap", -60)], strikes=[
            {"time": 13 + step / 2, "layer": "air", "device": "strap", "text": "lost: ATT_HANDLE_VALUE_NTF"}])  # fmt: skip
    reasons = [{"device": "strap", "code": 0x16, "text": "<b>Local</b>"}, {"device": "console", "code": 0x13, "text": "Remote"}]
    await one.air.tick(time=18, ended=[{"id": "8E89BED7", "reasons": reasons}, {"id": "71764129", "reasons": []}])
    await one.show("device/strap")
    await one.text(".why", "level −60 dBm to −60 dBm, limit −90 dBm; 0 losses; 10 faults struck")
    await one.text(".why", "strap: <b>Local</b>, console: Remote. In")
    await one.show("device/shoe")
    await one.text(".why", "Neither end has told why")


# MARK: Time


async def test_virtual_world_runs_until_a_link_ends(stage):
    air = ScriptedAir()
    air.time = "virtual"
    one = await stage(air)
    await one.show("time")
    await one.page.type("#run-seconds", "60")
    await one.page.choose("#run-until", "noLink")
    await one.page.choose("#run-device", "shoe")
    await one.page.click("#run")
    await one.air.asked(request={"verb": "run", "seconds": 60, "until": "noLink", "device": "shoe"})
    await one.text("#run-result", "Ran for 2.5 s.")
    await one.page.click("#run-leave")
    await one.air.asked(request={"verb": "stop"})
    await one.page.choose("#step-device", "bicycle")
    await one.page.click("#time-step")
    await one.air.asked(request={"verb": "step", "device": "bicycle"})
    await one.page.choose("#speed-slider", "-1")
    await one.air.asked(request={"verb": "speed", "speed": 0.1})


# MARK: Faults


async def test_faults_of_links_and_devices(stage):
    one = await stage()
    await one.show("faults")
    plan = one.air.world["faults"]
    await one.page.choose("[aria-label='Corruption from console to shoe, percent']", "40")
    fault = {"layer": "air", "fault": "corrupt", "from": "console", "to": "shoe", "percent": 40}
    await one.air.asked(request={"verb": "faults", "plan": {"faults": [*plan, fault]}})
    await one.page.choose("[aria-label='HCI delay of strap, milliseconds']", "20")
    delay = {"layer": "hci", "fault": "delay", "by": 0.02, "device": "strap"}
    # The air has not shown the first change, and the second one keeps it.
    await one.air.asked(request={"verb": "faults", "plan": {"faults": [*plan, fault, delay]}})
    await one.page.choose("[aria-label='Loss of strap, percent']", "0")
    await one.air.asked(request={"verb": "faults", "plan": {"faults": [fault, delay]}})
    one.air.answers["faults"] = {"error": "no such fault"}
    await one.page.choose("[aria-label='Loss of shoe, percent']", "7")
    await one.text("[role='alert']", "no such fault")
    await one.page.until("document.querySelector(\"[aria-label='Loss of shoe, percent']\").value === '0'")
    await one.page.click("[aria-label='Mute shoe for 5 seconds']")
    mute = {"layer": "device", "fault": "mute", "device": "shoe", "at": 12.5, "for": 5}
    await one.air.asked(request={"verb": "fault", "plan": {"faults": [mute]}})
    await one.air.tick(faults=[mute, fault])
    await one.text(".other-faults", '"mute"')
    await one.page.until("document.querySelector(\"[aria-label='Corruption from console to shoe, percent']\").value === '40'")
    await one.page.click("[aria-label='Remove the fault mute']")
    await one.air.asked(request={"verb": "faults", "plan": {"faults": [fault]}})


# MARK: Apps


async def test_apps_alerts_and_their_buttons(stage):
    one = await stage()
    await one.show("apps")
    await one.text(".question", "It would like to use Bluetooth: “gateway” would like to use Bluetooth")
    await one.text(".apps-view", "Scale has come back")
    await one.text(".holds", "org.example.scale")
    await one.page.click("[data-do='allow']")
    await one.air.asked(app={"do": "allow", "name": "/usr/local/bin/gateway@1000"})
    for command in ("background", "quit", "deny"):
        await one.page.click(f"[aria-label='Commands for org.example.scale'] [data-do='{command}']")
        await one.air.asked(app={"do": command, "name": "org.example.scale"})


# MARK: The connection


async def test_page_shows_only_what_is_served(stage):
    air = ScriptedAir()
    air.features = ["packets", "links"]
    one = await stage(air)
    assert await one.page.value("[...document.querySelectorAll('#views a')].map((one) => one.textContent)") == [
        "Map", "Device", "Air", "Time"]  # fmt: skip
    for selector in ("#pause", "#step", "#speed", "#add"):
        assert await one.page.value(f"document.querySelector('{selector}').hidden"), selector
    await one.show("device/strap")
    assert await one.page.value("document.querySelector('#gatt')") is None
    assert await one.page.value("document.querySelector('#save').hidden && document.querySelector('#remove').hidden")


async def test_failure_of_a_command_is_shown(stage):
    air = ScriptedAir()
    air.answers["radio"] = {"error": "no device \"<b>x</b>\u202e\""}
    one = await stage(air)
    await one.page.click("button.device")
    await one.page.click("#radio")
    await one.text("[role='alert']", 'no device "<b>x</b>⟨U+202E⟩"')
    await one.page.click("[aria-label='Close message']")
    await one.page.until("document.querySelector('[role=alert]') === null")


async def test_page_connects_again(stage):
    one = await stage()
    viewer = next(iter(one.air.viewers))
    await viewer.send(json.dumps({"type": "bye", "reason": "you do not read"}))
    await viewer.close()
    await one.text("#live", "Ended: you do not read")
    await asyncio.wait_for(one.page.until("document.querySelector('#live').classList.contains('good')"), PATIENCE)
