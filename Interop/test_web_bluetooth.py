"""Web Bluetooth: a page in Chromium meets a strap of a simulated world by `ble bluez`."""

import asyncio
import shutil
from pathlib import Path

import pytest
from support import browser, programs
from support.browser import Browser
from support.programs import Program

pytestmark = [
    pytest.mark.skipif(not shutil.which("dbus-daemon"), reason="dbus-daemon is missing: install dbus"),
    pytest.mark.skipif(browser.obstacle() is not None, reason=browser.obstacle() or ""),
]

PAGE = b"<!doctype html><meta charset=utf-8><link rel=icon href=data:,><title>strap</title>"
FOLLOW = """(async () => {
  const device = await navigator.bluetooth.requestDevice({filters: [{services: ["heart_rate"]}]});
  const gone = new Promise((done) => device.addEventListener("gattserverdisconnected", done));
  const server = await device.gatt.connect();
  const service = await server.getPrimaryService("heart_rate");
  const location = await (await service.getCharacteristic("body_sensor_location")).readValue();
  const measurement = await service.getCharacteristic("heart_rate_measurement");
  const rates = [];
  const all = new Promise((done) => measurement.addEventListener("characteristicvaluechanged", (event) => {
    rates.push(event.target.value.getUint8(1));
    if (rates.length === 3) done();
  }));
  await measurement.startNotifications();
  await all;
  await measurement.stopNotifications();
  const control = await service.getCharacteristic("heart_rate_control_point");
  await control.writeValueWithResponse(new Uint8Array([1]));
  server.disconnect();
  await gone;
  return [device.name, location.getUint8(0), rates];
})()"""


async def serve_page() -> tuple[asyncio.Server, str]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n" + PAGE)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "localhost", 0)
    return server, f"http://localhost:{server.sockets[0].getsockname()[1]}/"


async def test_a_page_reads_writes_and_follows_a_strap(tmp_path: Path):
    service = await Program.start(programs.built("ble"), "bluez", "--world", "gym")
    try:
        bus = (await service.line("DBUS_SYSTEM_BUS_ADDRESS=(.*)"))[1]
        # Chromium takes the objects of the system bus only if it has a bus of the session, too.
        chromium = await Browser.start(
            "--enable-features=WebBluetooth", "--enable-experimental-web-platform-features",
            environment={"DBUS_SYSTEM_BUS_ADDRESS": bus, "DBUS_SESSION_BUS_ADDRESS": bus},
        )  # fmt: skip
        server, address = await serve_page()
        try:
            page = await chromium.page(address)
            await page.until("document.title === 'strap' && document.readyState === 'complete'")
            await page.choose_device("Cyclist")
            name, location, rates = await page.value(FOLLOW, userGesture=True)
            assert (name, location) == ("Cyclist", 1)
            assert len(rates) == 3 and all(40 < rate < 220 for rate in rates)
            assert page.problems == []
        finally:
            server.close()
            await chromium.stop()
    finally:
        await service.stop()
