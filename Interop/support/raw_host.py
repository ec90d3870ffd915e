"""A host that is nobody's stack: it sends the octets that a test wants, in the pieces that it wants."""

import asyncio
import struct
from collections import Counter

from bumble import hci

from support.hosts import PromptSource
from support.waiting import Events, soon

COMMAND, ACL, EVENT = 1, 2, 4
COMMAND_COMPLETE, COMMAND_STATUS, DISCONNECTION_COMPLETE, LE_META = 0x0E, 0x0F, 0x05, 0x3E


class RawHost:
    """A connection to a controller. Packets are octets without their type."""

    def __init__(self, source: PromptSource, transport: asyncio.Transport, piecewise: bool) -> None:
        self.transport, self.piecewise = transport, piecewise
        self.events, self.data = Events("events"), Events("data")
        self.sent: Counter[int] = Counter()
        self.supported = bytes(64)
        source.set_packet_sink(self)

    @classmethod
    async def open(cls, endpoint: str, piecewise: bool = False) -> "RawHost":
        """`piecewise`: type, header and payload are written one after the other, each as a segment of its own."""
        address, port = endpoint.rsplit(":", 1)
        transport, source = await asyncio.get_running_loop().create_connection(PromptSource, address, int(port))
        return cls(source, transport, piecewise)

    def close(self) -> None:
        self.transport.close()

    def on_packet(self, packet: bytes) -> None:
        (self.events if packet[0] == EVENT else self.data).add(bytes(packet[1:]))

    async def _write(self, kind: int, header: bytes, payload: bytes) -> None:
        pieces = [bytes([kind]), header, payload] if self.piecewise else [bytes([kind]) + header + payload]
        for piece in pieces:
            self.transport.write(piece)
            # The loop turns: what was written is on its way before the next piece is.
            await asyncio.sleep(0)

    async def command(self, opcode: int, parameters: bytes = b"") -> bytes:
        """The return parameters that follow the status, which has to be a success."""
        self.sent[opcode] += 1
        await self._write(COMMAND, struct.pack("<HB", opcode, len(parameters)), parameters)

        def ends(event: bytes) -> bool:
            at = {COMMAND_COMPLETE: 3, COMMAND_STATUS: 4}.get(event[0])
            return at is not None and event[at : at + 2] == struct.pack("<H", opcode)

        event = await self.events.next(ends)
        status = event[5] if event[0] == COMMAND_COMPLETE else event[2]
        assert status == 0, f"command 0x{opcode:04X} ended with 0x{status:02X}"
        return event[6:] if event[0] == COMMAND_COMPLETE else b""

    async def if_supported(self, opcode: int, parameters: bytes = b"") -> bytes | None:
        """Like `command`, if the controller has it."""
        return await self.command(opcode, parameters) if self.supports(opcode) else None

    def supports(self, opcode: int) -> bool:
        return bool(int.from_bytes(self.supported, "little") & hci.HCI_SUPPORTED_COMMANDS_MASKS.get(opcode, 0))

    async def send(self, handle: int, fragment: bytes, continues: bool = False) -> None:
        await self._write(ACL, struct.pack("<HH", handle | (0x1000 if continues else 0), len(fragment)), fragment)

    async def le_event(self, *subevents: int) -> bytes:
        """The parameters of the next of these, from the subevent's code on."""
        return (await self.events.next(lambda event: event[0] == LE_META and event[2] in subevents))[2:]


__all__ = ["DISCONNECTION_COMPLETE", "RawHost", "soon"]
