"""A terminal at which a program asks its user, who is the test."""

import asyncio
import os
import pty
import re

from support.waiting import Events


class Terminal:
    def __init__(self) -> None:
        self.user_side, self.program_side = pty.openpty()
        self.text = ""
        self._changes = Events("terminal")
        asyncio.get_running_loop().add_reader(self.user_side, self._read)

    def _read(self) -> None:
        self.text += os.read(self.user_side, 4096).decode(errors="replace")
        self._changes.add(self.text)

    async def shows(self, pattern: str, seconds: float) -> re.Match[str]:
        """Waits for a match of `pattern`, and returns it. The next search begins after it."""
        await self._changes.next(lambda _: re.search(pattern, self.text), seconds)
        match = re.search(pattern, self.text)
        self.text = self.text[match.end() :]
        # More may be there already.
        self._changes.add(self.text)
        return match

    def type(self, line: str) -> None:
        os.write(self.user_side, line.encode() + b"\n")

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self.user_side)
        os.close(self.user_side)
        os.close(self.program_side)
