"""The Linux kernel on our controller: its driver, and BlueZ's conformance tests for controllers."""

# hci-tester's tests that apply to LE controllers. Read Country Code, Read Local Supported Codecs, Inquiry and Create
# Connection are about BR/EDR.
CONFORMANCE = (
    "Reset", "Read Local Version Information", "Read Local Supported Commands", "Read Local Supported Features",
    "Read Local Extended Features", "Read Buffer Size", "Read BD_ADDR", "LE Read Accept List Size",
    "LE Clear Accept List", "LE Encrypt", "LE Rand", "LE Read Local PK", "LE Generate DHKey",
    "TP/DSU/BV-02-C Reset in Advertising State",
)  # fmt: skip


async def test_linux_brings_an_adapter_up(serve, boot):
    air = await serve()
    linux = await boot("linux", air.endpoint)
    [address] = await linux.adapters()
    assert address in await air.ask("devices")


async def test_controller_passes_conformance_tests_of_bluez(serve, boot):
    air = await serve()
    linux = await boot("linux", air.endpoint, air.endpoint)
    for number in range(2):
        await linux("attach", number=number)
        # The tester wants adapters that have been set up and are down.
        for verb in ("up", "down"):
            assert await linux("run", words=["hciconfig", f"hci{number}", verb]) == [0, ""]
    results = {name: await linux("run", words=["timeout", "40", "hci-tester", "-p", name]) for name in CONFORMANCE}
    failed = {name: output for name, (status, output) in results.items() if status != 0}
    assert not failed
