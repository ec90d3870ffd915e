"""The agent that BlueZ asks when devices pair."""

import asyncio

import bus
from dbus_fast import DBusError
from dbus_fast.service import ServiceInterface, dbus_method

AGENT = "/lab/agent"
_answers: asyncio.Queue = asyncio.Queue()


class Agent(ServiceInterface):
    """Reports each question. Questions that have an answer get it at once with `accepts`, otherwise from `answer`."""

    def __init__(self, accepts: bool) -> None:
        super().__init__("org.bluez.Agent1")
        self.accepts = accepts

    async def ask(self, question: str, device: str, number: int | None = None):
        bus.report(event="asked", question=question, address=bus.address_in(device), number=number)
        answer = True if self.accepts else await _answers.get()
        if answer is False:
            raise DBusError("org.bluez.Error.Rejected", "refused")
        return answer

    @dbus_method()
    def Release(self) -> None:
        pass

    @dbus_method()
    def Cancel(self) -> None:
        bus.report(event="cancelled")

    @dbus_method()
    async def RequestConfirmation(self, device: "o", passkey: "u"):  # noqa: F821
        await self.ask("confirmation", device, passkey)

    @dbus_method()
    async def RequestAuthorization(self, device: "o"):  # noqa: F821
        await self.ask("authorization", device)

    @dbus_method()
    async def AuthorizeService(self, device: "o", uuid: "s"):  # noqa: F821
        pass

    @dbus_method()
    async def RequestPasskey(self, device: "o") -> "u":  # noqa: F821
        return await self.ask("passkey", device)

    @dbus_method()
    def DisplayPasskey(self, device: "o", passkey: "u", entered: "q"):  # noqa: F821
        bus.report(event="shown", address=bus.address_in(device), number=passkey)


async def agent(capability: str = "NoInputNoOutput", accepts: bool = True):
    """Registers the agent, with an IO capability in BlueZ's words."""
    connection = await bus.connection()
    connection.export(AGENT, Agent(accepts))
    await bus.call("/org/bluez", "org.bluez.AgentManager1", "RegisterAgent", "os", [AGENT, capability])
    await bus.call("/org/bluez", "org.bluez.AgentManager1", "RequestDefaultAgent", "o", [AGENT])


async def answer(value):
    """Answers a question: true, false, or a passkey."""
    _answers.put_nowait(value)


COMMANDS = {function.__name__: function for function in (agent, answer)}
