"""A server of the page that says what a test tells it to, always the same: for pictures, and for what few airs have, such as
an app with a question. The page's folder comes from the disk, with the policy that the programs have."""

import asyncio
import json
from typing import Any

import websockets
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from support.programs import REPOSITORY
from support.waiting import Events

PAGE = REPOSITORY / "Sources" / "CBluetoothAirPage" / "Page"
TYPES = {"html": "text/html; charset=utf-8", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
# The fonts of pictures, so that lines break at the same places everywhere. Debian: fonts-liberation.
FONTS = ':root { --sans: "Liberation Sans"; --mono: "Liberation Mono"; }\n'
FEATURES = ("move radio power speed pause step run add remove save fault stats packets packet capture channels links energy "
            "gatt apps").split()  # fmt: skip


def device(name: str, kind: str, position: list[float], **more: Any) -> dict:
    return {
        "name": name, "kind": kind, "role": "accessory", "address": "C4:FF:EE:00:00:01", "addressKind": "random",
        "position": position, "radio": True, "power": True, "transmitPower": 0, "sensitivity": -90,
        "counts": {"sent": 1204, "received": 330, "crcErrors": 12, "missed": 3, "transmitting": 0.451, "receiving": 0.2},
        "energy": {"averageMilliamperes": 0.0123, "batteryDays": 430.5},
        "advertising": {
            "type": "ADV_IND", "address": "C4:FF:EE:00:00:01", "connectable": True, "time": 12, "name": name, "flags": 6,
            "appearance": 833, "appearanceName": "Heart Rate Belt", "services": [{"uuid": "180D", "name": "Heart Rate"}],
            "octets": "02010603030d18"}, **more}  # fmt: skip


def link(number: str, central: str, peripheral: str, level: float, **more: Any) -> dict:
    return {
        "id": number, "central": central, "peripheral": peripheral, "interval": 30, "latency": 0, "timeout": 2000,
        "phyToPeripheral": "2M", "phyToCentral": "2M", "mtu": 185, "encrypted": True, "rssiAtCentral": level,
        "rssiAtPeripheral": level + 1, "bitsToPeripheral": 1200, "bitsToCentral": 48000, "retransmissions": 3,
        "crcErrors": 1, "missedEvents": 0, "timeouts": 4, **more}  # fmt: skip


def packet(number: int, sender: str, receiver: str | None, **more: Any) -> dict:
    outcome = more.pop("outcome", "received" if receiver else "unheard")
    advertising = {"kind": "advertising", "name": "ADV_IND", "summary": f'"{sender}", Heart Rate', "channel": 37}
    data = {"kind": "att", "name": "ATT_HANDLE_VALUE_NTF", "summary": "Heart Rate Measurement: 72 bpm", "channel": 12}
    return {
        "number": number, "time": 12 + number / 100, "airTime": 376, "frequency": 2402, "phy": "1M", "sender": sender,
        "power": 0, "outcome": outcome, "length": 27,
        "receivers": [{"device": receiver, "outcome": outcome, "level": -61}] if receiver else [],
        **(data if receiver else advertising), **more}  # fmt: skip


FIELDS = [
    {"name": "Access address", "value": "0x8E89BED6", "from": 0, "to": 4},
    {"name": "PDU", "value": "ADV_IND", "from": 4, "to": 9, "fields": [
        {"name": "Header", "value": "0x0360", "from": 4, "to": 6}, {"name": "AdvA", "value": "C4", "from": 6, "to": 9}]},
]  # fmt: skip
GATT = [{
    "uuid": "180D", "name": "Heart Rate", "handle": 6, "end": 12, "characteristics": [
        {"uuid": "2A37", "name": "Heart Rate Measurement", "handle": 8, "properties": ["notify"], "subscribed": False,
         "descriptors": [{"uuid": "2902", "name": "Client Characteristic Configuration", "handle": 9}]},
        {"uuid": "2A38", "name": "Body Sensor Location", "handle": 10, "properties": ["read"], "value": "01", "text": "chest"},
        {"uuid": "2A39", "name": "Heart Rate Control Point", "handle": 12, "properties": ["write"]},
    ]}]  # fmt: skip
APPS = {
    "apps": [
        {"name": "org.example.scale", "state": "foreground", "adapter": "main", "sessions": 1, "processes": [412],
         "permission": "allowed", "launched": False},
        {"name": "/usr/local/bin/gateway@1000", "state": "suspended", "adapter": "main", "sessions": 2, "processes": [],
         "permission": "undetermined", "question": "“gateway” would like to use Bluetooth", "launched": True}],
    "alerts": [{"number": 1, "time": 1_700_000_000, "app": "org.example.scale", "text": "Scale has come back"}],
    "holds": [{"adapter": "main", "peer": "Scale", "address": "C4:FF:EE:00:00:07", "linked": True,
               "apps": ["org.example.scale"]}]}  # fmt: skip


def gym() -> dict:
    """A world that stands still."""
    return {
        "type": "world", "time": 12.5, "speed": 0, "paused": True,
        "devices": [
            device("strap", "HeartRateSensor", [2, 0, 1.2]), device("bicycle", "CyclingSensor", [2, 0, 0]),
            device("shoe", "RunningSensor", [6, 0, 0]), device("phone", "Telephone", [8, 4, 1], power=False),
            {"name": "console", "kind": "Host", "role": "host", "position": [2, 3, 1], "radio": True, "joined": True}],
        "links": [link("8E89BED7", "console", "strap", -61.5), link("71764129", "console", "shoe", -84)],
        "faults": [{"layer": "air", "fault": "lose", "from": "strap", "percent": 10}],
        "interference": [{"kind": "microwave-oven", "position": [8, 1, 1], "power": 20}],
        "environment": {"reference": 40, "exponent": 2.5, "margin": 0}, "apps": APPS}  # fmt: skip


class ScriptedAir:
    """`requests` has what the page has asked for, in order; `tick` sends it news."""

    def __init__(self) -> None:
        self.world = gym()
        self.time = "real"
        self.features = list(FEATURES)
        self.requests = Events("requests of the page")
        self.viewers: set[ServerConnection] = set()
        self.answers: dict[str, dict] = {
            "open": {"gatt": {"device": "strap", "services": GATT}}, "read": {"value": "01", "text": "chest"},
            "faults": {"text": "faults:\n  - {layer: air, fault: lose, from: strap, percent: 10}\n"},
            "save": {"text": "seed: 11\ndevices: []\n"}, "step": {"time": 12.6}, "run": {"time": 15}}  # fmt: skip

    async def start(self) -> str:
        """Returns the address of the page."""
        self.server = await serve(self._view, "127.0.0.1", 0, process_request=self._file)
        self.port = self.server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{self.port}/0123456789abcdefghijkl/"

    async def stop(self) -> None:
        self.server.close()
        await self.server.wait_closed()

    def _file(self, connection: ServerConnection, request: Request) -> Response | None:
        name = request.path.split("?")[0].split("/")[-1] or "index.html"
        if name == "events":
            return None
        path = PAGE / name
        if not path.is_file():
            return connection.respond(404, "no such file")
        policy = (f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self' "
                  f"ws://127.0.0.1:{self.port}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")  # fmt: skip
        body = path.read_bytes() + (FONTS.encode() if name == "views.css" else b"")
        return Response(200, "OK", Headers({
            "Content-Type": TYPES[path.suffix[1:]], "Content-Length": str(len(body)), "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff", "Connection": "close"}), body)  # fmt: skip

    async def _view(self, viewer: ServerConnection) -> None:
        hello = {"type": "hello", "protocol": 1, "program": "scripted", "time": self.time, "features": self.features,
                 "kinds": ["heart-rate", "thermometer"], "limits": {}}  # fmt: skip
        await viewer.send(json.dumps(hello))
        await viewer.send(json.dumps(self.world))
        self.viewers.add(viewer)
        try:
            async for text in viewer:
                await viewer.send(json.dumps(self._answer(json.loads(text))))
        except websockets.ConnectionClosed:
            pass
        finally:
            self.viewers.discard(viewer)

    def _answer(self, message: dict) -> dict:
        answer = {"type": "answer", "id": message["id"]}
        content = {key: value for key, value in message.items() if key != "id"}
        self.requests.add(content)
        if content.get("ask") == "packet":
            details = {"octets": "d6be898e6003c4ffee", "fields": FIELDS}
            return answer | {"packet": packet(content["number"], "strap", "console", **details)}
        request = content.get("request", {})
        if request.get("verb") == "faults" and "plan" in request and "error" not in self.answers["faults"]:
            return answer
        return answer | self.answers.get(request.get("verb", ""), {})

    async def asked(self, **expected: Any) -> None:
        """Waits for a request of the page with this content."""
        await self.requests.next(lambda one: one == expected)

    async def tick(self, **fields: Any) -> None:
        message = json.dumps({"type": "tick", "time": 12.5, "speed": 0, "paused": True, **fields})
        await asyncio.gather(*(viewer.send(message) for viewer in self.viewers))

    async def traffic(self) -> None:
        """A second of packets, always the same ones."""
        for step in range(20):
            packets = [
                packet(3 * step + 1, "bicycle", None), packet(3 * step + 2, "strap", "console"),
                packet(3 * step + 3, "shoe", "console", outcome="corrupt" if step % 5 == 0 else "received",
                       collided=step % 5 == 0)]  # fmt: skip
            await self.tick(
                time=12.5 + step / 20, packets=packets,
                channels=[[37, 376, 1, 0, 0], [(7 * step) % 37, 752, 2, step % 5 == 0, step % 5 == 0]],
                airTime={"bicycle": 376, "strap": 376, "shoe": 376})  # fmt: skip
