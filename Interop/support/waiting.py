"""Waiting for what has to happen: on events, with an end, never for a time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")

# What does not happen within this time does not happen. Everything here takes milliseconds on a machine that has nothing
# else to do.
PATIENCE = 15.0


async def soon(what: Awaitable[T], seconds: float = PATIENCE) -> T:
    """The result of `what`, which has to come."""
    return await asyncio.wait_for(what, seconds)


class Events:
    """What has happened, in order; a test takes from it what it waits for."""

    def __init__(self, name: str = "events") -> None:
        self.name = name
        self.all: list[Any] = []
        self._taken = 0
        self._more = asyncio.Event()

    def add(self, event: Any) -> None:
        self.all.append(event)
        self._more.set()

    async def next(self, matching: Callable[[Any], Any] = lambda _: True, seconds: float | None = PATIENCE) -> Any:
        """The first event that `matching` is true of, after those that were taken before; those that it passes over are taken,
        too. Without `seconds` it waits for ever."""

        async def search() -> Any:
            while True:
                while self._taken < len(self.all):
                    event = self.all[self._taken]
                    self._taken += 1
                    if matching(event):
                        return event
                self._more.clear()
                await self._more.wait()

        try:
            return await asyncio.wait_for(search(), seconds)
        except TimeoutError:
            raise AssertionError(f"{self.name}: waited {seconds:g} s in vain; there were {self.all[-20:]}") from None


def events_of(emitter: Any, *names: str) -> Events:
    """What an emitter of Bumble says under these names: (name, arguments)."""
    events = Events(f"{type(emitter).__name__} {', '.join(names)}")
    for name in names:
        emitter.on(name, lambda *arguments, name=name: events.add((name, arguments)))
    return events
