"""A browser without a window: Debian's Chromium, led by the DevTools protocol."""

import asyncio
import base64
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import websockets

from support.waiting import PATIENCE

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
# Keys that are no characters: their texts and their codes.
KEYS = {
    "Enter": ("\r", 13), "Tab": ("\t", 9), "Escape": ("", 27), "End": ("", 35), "Home": ("", 36), "ArrowLeft": ("", 37),
    "ArrowUp": ("", 38), "ArrowRight": ("", 39), "ArrowDown": ("", 40),
}  # fmt: skip


def obstacle() -> str | None:
    """The reason why there is no browser here, or None."""
    return None if program() else f"none of {', '.join(PROGRAMS)} is installed"


def has_font(name: str) -> bool:
    """True if a font is installed. Without it, a browser takes another one."""
    command = ("fc-list", name, "family")
    return bool(shutil.which(command[0])) and bool(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def program() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """A running browser. `await browser.page(address)` opens a page."""

    def __init__(
        self, process: asyncio.subprocess.Process, folder: tempfile.TemporaryDirectory, errors: list[str]
    ) -> None:
        self.process, self.folder, self.errors = process, folder, errors
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future] = {}
        self._pages: dict[str, "Page"] = {}

    @classmethod
    async def start(cls, *arguments: str, environment: Mapping[str, str] | None = None) -> "Browser":
        folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        process = await asyncio.create_subprocess_exec(
            program(), "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={folder.name}",
            "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--force-color-profile=srgb", "--font-render-hinting=none",
            "--hide-scrollbars", *sandbox, *arguments, "about:blank", stderr=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL, env={**os.environ, **(environment or {})})  # fmt: skip
        errors: list[str] = []
        address = await asyncio.wait_for(cls._address(process, errors), PATIENCE)
        browser = cls(process, folder, errors)
        browser._drain = asyncio.create_task(browser._read_errors())
        browser._socket = await websockets.connect(address, max_size=None)
        browser._reader = asyncio.create_task(browser._read())
        return browser

    @staticmethod
    async def _address(process: asyncio.subprocess.Process, errors: list[str]) -> str:
        while line := (await process.stderr.readline()).decode(errors="replace"):
            errors.append(line)
            if found := re.search(r"DevTools listening on (\S+)", line):
                return found[1]
        raise AssertionError(f"the browser has ended: {''.join(errors[-20:])}")

    async def _read_errors(self) -> None:
        while line := await self.process.stderr.readline():
            self.errors.append(line.decode(errors="replace"))

    async def _read(self) -> None:
        async for text in self._socket:
            message = json.loads(text)
            if "id" in message:
                answered = self._waiting.pop(message["id"], None)
                if answered and not answered.done():
                    answered.set_result(message)
            elif page := self._pages.get(message.get("sessionId", "")):
                page.note(message["method"], message.get("params", {}))

    async def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict:
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters}
        await self._socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        result = await asyncio.wait_for(answer, 2 * PATIENCE)
        assert "error" not in result, f"{method}: {result['error']}"
        return result["result"]

    async def page(self, address: str, size: tuple[int, int] = (1440, 900), **features: str) -> "Page":
        target = (await self.ask("Target.createTarget", url="about:blank"))["targetId"]
        session = (await self.ask("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        page = self._pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log"):
            await page.ask(f"{domain}.enable")
        await page.resize(size)
        await page.feature(**features)
        await page.ask("Page.navigate", url=address)
        return page

    async def stop(self) -> None:
        await self._socket.close()
        if self.process.returncode is None:
            self.process.terminate()
            try:
                await asyncio.wait_for(self.process.wait(), 5)
            except TimeoutError:
                self.process.kill()
                await self.process.wait()
        await asyncio.gather(self._reader, self._drain, return_exceptions=True)
        self.folder.cleanup()


class Page:
    """A page of the browser. `problems` has every error of its scripts and every violation of its policy."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self.browser, self.session, self.target = browser, session, target
        self.problems: list[str] = []
        self._answer_dialogs = False
        self._wanted_device: str | None = None

    def note(self, event: str, parameters: dict) -> None:
        if event == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif event == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        elif event == "Page.javascriptDialogOpening":
            self.problems += [] if self._answer_dialogs else [f"a dialog: {parameters['message']}"]
            task = self.ask("Page.handleJavaScriptDialog", accept=self._answer_dialogs)
            self._dialog = asyncio.create_task(task)
        elif event == "DeviceAccess.deviceRequestPrompted" and self._wanted_device:
            # The event comes again with each device that the browser finds.
            for device in parameters["devices"]:
                if device["name"] == self._wanted_device:
                    self._wanted_device = None
                    task = self.ask("DeviceAccess.selectPrompt", id=parameters["id"], deviceId=device["id"])
                    self._choice = asyncio.create_task(task)
                    return

    async def choose_device(self, name: str) -> None:
        """Chooses the device with a name as soon as a request of the page shows it."""
        self._wanted_device = name
        await self.ask("DeviceAccess.enable")

    def accept_dialogs(self) -> None:
        self._answer_dialogs = True

    async def ask(self, method: str, **parameters: Any) -> dict:
        return await self.browser.ask(method, self.session, **parameters)

    async def resize(self, size: tuple[int, int]) -> None:
        await self.ask(
            "Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)

    async def feature(self, **features: str) -> None:
        """Media features, such as `prefers_color_scheme="dark"`."""
        media = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        await self.ask("Emulation.setEmulatedMedia", features=media)

    async def value(self, script: str, **more: Any) -> Any:
        """The value of an expression, which may be a promise."""
        result = await self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, **more)
        details = result.get("exceptionDetails")
        assert not details, details.get("exception", {}).get("description", details["text"])
        return result["result"].get("value")

    async def until(self, script: str, seconds: float = PATIENCE) -> Any:
        """Waits until an expression is true, and returns its value."""
        end = asyncio.get_running_loop().time() + seconds
        while not (value := await self.value(script)):
            assert asyncio.get_running_loop().time() < end, f"waited in vain for {script}; problems: {self.problems}"
            await asyncio.sleep(0.05)
        return value

    async def place(self, selector: str) -> tuple[float, float]:
        """The middle of an element, which is scrolled into the view. Waits until it stands still where a hand reaches it."""
        x, y = await self.until(f"""(async () => {{
          const element = document.querySelector({json.dumps(selector)});
          if (!element || element.disabled) return null;
          element.scrollIntoView({{block: "nearest"}});
          const middle = () => {{
            const box = element.getBoundingClientRect();
            return box.width > 0 ? [box.left + box.width / 2, box.top + box.height / 2] : null;
          }};
          const before = middle();
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          const now = middle();
          if (!before || !now || before[0] !== now[0] || before[1] !== now[1]) return null;
          const top = document.elementFromPoint(...now);
          return top === element || element.contains(top) || top?.contains(element) ? now : null;
        }})()""")
        return x, y

    async def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        await self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    async def click(self, selector: str) -> None:
        x, y = await self.place(selector)
        await self.click_at(x, y)

    async def click_at(self, x: float, y: float) -> None:
        await self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            await self.mouse(kind, x, y, button="left", clickCount=1, buttons=1 if kind == "mousePressed" else 0)

    async def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        await self.mouse("mouseMoved", *start)
        await self.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        for step in range(1, steps + 1):
            part = step / steps
            x, y = start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part
            await self.mouse("mouseMoved", x, y, button="left", buttons=1)
        await self.mouse("mouseReleased", *end, button="left", clickCount=1)

    async def key(self, name: str, *modifiers: str) -> None:
        bits = sum(MODIFIERS[one] for one in modifiers)
        text, code = KEYS.get(name) or (name, ord(name.upper()))
        event = {"key": name, "modifiers": bits, "windowsVirtualKeyCode": code}
        await self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **event)
        await self.ask("Input.dispatchKeyEvent", type="keyUp", **event)

    async def type(self, selector: str, text: str) -> None:
        """Replaces the text of an input, and leaves it, so that it takes effect."""
        await self.click(selector)
        await self.value(f"document.querySelector({json.dumps(selector)}).select?.()")
        await self.ask("Input.insertText", text=text)
        await self.value(
            f"document.querySelector({json.dumps(selector)}).dispatchEvent(new Event('change', {{bubbles: true}}))")

    async def choose(self, selector: str, value: str) -> None:
        """Chooses an option of a list, or a value of a slider."""
        script = f"""(() => {{
          const element = document.querySelector({json.dumps(selector)});
          element.value = {json.dumps(value)};
          for (const name of ["input", "change"]) element.dispatchEvent(new Event(name, {{bubbles: true}}));
          return element.value;
        }})()"""
        assert await self.value(script) == value, f"{selector} has no {value!r}"

    async def text(self, selector: str) -> str:
        return await self.value(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    async def picture(self) -> bytes:
        """The page as a PNG."""
        return base64.b64decode((await self.ask("Page.captureScreenshot", format="png"))["data"])

    async def screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(await self.picture())

    async def thumbnail(self, picture: bytes, columns: int = 24) -> bytes:
        """A picture in so few grey cells that fonts and single letters do not matter, but panels and colours do."""
        text = json.dumps(base64.b64encode(picture).decode())
        return bytes(await self.value(f"""(async () => {{
          const octets = Uint8Array.from(atob({text}), (one) => one.charCodeAt(0));
          const image = await createImageBitmap(new Blob([octets], {{type: "image/png"}}));
          const [width, height] = [{columns}, Math.round({columns} * image.height / image.width)];
          const context = new OffscreenCanvas(width, height).getContext("2d");
          context.imageSmoothingQuality = "high";
          context.drawImage(image, 0, 0, width, height);
          const pixels = context.getImageData(0, 0, width, height).data;
          return Array.from({{length: width * height}}, (_, cell) =>
            Math.round(0.3 * pixels[4 * cell] + 0.6 * pixels[4 * cell + 1] + 0.1 * pixels[4 * cell + 2]));
        }})()"""))

    async def close(self) -> None:
        await self.browser.ask("Target.closeTarget", targetId=self.target)
