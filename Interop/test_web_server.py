"""The page of `btserver --web`, and that of a program's own world, in a browser."""

import tempfile
from pathlib import Path

import pytest_asyncio
from support import accessibility, programs
from support.browser import Page
from support.programs import Program
from support.window import SIZES, Window, page_of

# The end of the name that the server gives to the app of the trials: its program.
APP = "/debug/pulse-log"
# A strap that notifies of no values: an event would run the suspended app.
WORLD = """devices:
  - name: strap
    position: [2, 0]
    accessory:
      kind: peripheral
      advertising: {payload: {flags: 6, services: ["180D"]}}
      services: [{uuid: "180D", characteristics: [{uuid: "2A37", properties: [notify], value: "0048"}]}]
"""


class ServerWindow(Window):
    """A page of a server."""

    def __init__(self, server: Program, socket: Path, page: Page, address: str) -> None:
        super().__init__(page, address)
        self.server, self.socket = server, socket

    async def command(self, name: str) -> None:
        """Presses a button of the app."""
        await self.page.click(f"[data-do='{name}']")


@pytest_asyncio.fixture
async def window(chromium):
    """Opens the page of a server with these options: `await window("--permissions", "ask")`."""
    windows: list[ServerWindow] = []
    # A socket's path has to be short.
    folders: list[tempfile.TemporaryDirectory] = []

    async def open_one(*options: object, view: str = "") -> ServerWindow:
        folders.append(tempfile.TemporaryDirectory(prefix="btserver-"))
        folder = Path(folders[-1].name)
        socket = folder / "socket"
        server = await Program.start(
            programs.built("btserver"), "--socket", socket, "--bonds", folder / "bonds", "--no-desktop", "--web", *options)
        address = await page_of(server)
        page = await chromium.page(address + view, SIZES["desktop"])
        windows.append(ServerWindow(server, socket, page, address))
        await page.until("document.querySelector('#live')?.classList.contains('good') ?? false")
        await page.until("document.querySelectorAll('#views a').length > 0")
        return windows[-1]

    yield open_one
    for one in windows:
        await one.server.stop()
        assert one.page.problems == [], "the page has broken a rule"
    for folder in folders:
        folder.cleanup()


async def test_apps_links_alerts_and_permissions(window, start, tmp_path, screenshots):
    world = tmp_path / "world.yaml"
    world.write_text(WORLD)
    one = await window("--world", world, "--permissions", "ask", view="#apps")
    await one.text(".apps-view", "No app has used the server.")
    app = await start("pulse-log", COREBLUETOOTH_ADAPTER=f"server:{one.socket}")
    # Its user is asked, and answers on the page.
    await one.text(".app h3", APP)
    await one.page.until("document.querySelector('.question') !== null")
    await one.command("allow")
    await app.line("connected")
    await one.text(".app .tag.good", "foreground")
    await one.text(".app", "1 session")
    await one.page.until("document.querySelector('.question') === null")
    await one.text(".app", "allowed")
    # Who holds which link.
    await one.text(".holds li", APP)
    await one.text(".holds .tag.good", "linked")
    assert await accessibility.problems(one.page) == []
    if screenshots:
        await one.page.screenshot(screenshots / "server-apps.png")
    # The same link on the air.
    await one.show("device/strap")
    await one.page.until("document.querySelector('.link:not(.is-ended)') !== null")
    # The app has subscribed, so nothing more comes.
    await one.show("air")
    await one.page.type("#packet-filter", "ATT_WRITE_RSP")
    await one.page.until("document.querySelector('#packet-count').textContent.match(/^[1-9]/) !== null")
    # Suspended, and the link is lost: the system alerts its user.
    await one.show("apps")
    await one.command("background")
    await one.text(".app .tag.accent", "background")
    await one.command("suspend")
    await one.text(".app .tag.warn", "suspended")
    await one.show("device/strap")
    await one.page.click("#device-radio")
    await one.page.until("document.querySelector('.why:not([hidden])')?.textContent.includes('Connection Timeout') ?? false")
    await one.show("apps")
    await one.text(".apps-view .log li", APP)
    # Back in the foreground it gets what it has missed, and connects again.
    await one.command("foreground")
    await app.line("disconnected")
    await one.text(".holds .tag", "waiting")
    await one.show("device/strap")
    await one.page.click("#device-radio")
    await app.line("connected")
    await one.show("apps")
    await one.text(".holds .tag.good", "linked")
    await one.command("deny")
    await app.line("Bluetooth is not on")
    await one.text(".app .tag.bad", "denied")
    await one.text(".apps-view", "No app holds a link.")
    await one.command("quit")
    assert await app.exit() == 0
    await one.text(".app", "no process")


async def test_server_without_a_world_shows_its_apps(window, serve, start):
    air = await serve("--world", "gym")
    one = await window("--adapter", f"tcp:{air.endpoint}")
    views = "[...document.querySelectorAll('#views a')].map((one) => one.textContent)"
    assert await one.page.value(views) == ["Apps"]
    await one.page.until("document.querySelector('main').dataset.view === 'apps'")
    app = await start("pulse-log", COREBLUETOOTH_ADAPTER=f"server:{one.socket}")
    await app.line("connected")
    await one.text(".holds li", APP)
    assert await one.page.value("document.querySelector('#clock').hidden")


async def test_device_of_a_server_is_moved_and_its_adapter_stays(window, tmp_path):
    world = tmp_path / "world.yaml"
    world.write_text(WORLD)
    one = await window("--world", world)
    await one.devices()
    await one.page.until("document.querySelectorAll('button.device').length === 2")
    await one.show("device/strap")
    one.page.accept_dialogs()
    await one.page.click("#remove")
    await one.page.until("document.querySelector('main').dataset.view === 'map'")
    await one.page.until("document.querySelectorAll('button.device').length === 1")
    await one.page.click("button.device")
    await one.page.type("#place-x", "7")
    await one.text("#announcements", "is at 7")
    await one.page.click("#open")
    await one.page.until("document.querySelector('#remove')?.disabled ?? false")


async def test_program_shows_its_world_in_virtual_time(chromium, start):
    program = await start("interop-app", "world")
    page = await chromium.page(await page_of(program), SIZES["desktop"])
    one = Window(page, "")
    await one.devices()
    await one.show("time")
    time = "Number(document.querySelector('#big-clock').textContent.split(':').at(-1).replace(/[^0-9.]/g, ''))"
    assert await page.until(f"{time} < 3")
    # The strap is on from 3 s to 20 s, and a link begins and ends with it.
    await one.page.type("#run-seconds", "60")
    await one.page.choose("#run-device", "strap")
    await one.page.choose("#run-until", "link")
    await page.click("#run")
    await page.until(f"{time} > 3 && {time} < 20")
    await one.page.choose("#run-until", "noLink")
    await page.click("#run")
    await page.until(f"{time} > 19 && {time} < 30")
    await one.page.choose("#run-until", "")
    await one.page.type("#run-seconds", "2.5")
    await page.click("#run")
    await one.text("#run-result", "Ran for 2.5 s.")
    await page.click("#run-leave")
    went_on = await program.line(r"^went on at (\S+) s$")
    assert 21 < float(went_on[1]) < 33
    assert await program.exit() == 0
    # The page tells that the program has ended.
    await page.until("document.querySelector('#live').classList.contains('warn')")
