import BluetoothDBus
import BluetoothDaemon
import BluetoothTransport

/// The adapters of BlueZ, the Bluetooth service of Linux.
package struct BlueZScheme: AdapterScheme {
  package let name = "bluez"
  package let kind = AdapterKind.server
  package let form = AdapterForm(
    "bluez[:hciN]", example: "bluez",
    meaning: "an adapter of `bluetoothd`, [beside all other programs](Beside-BlueZ.md); without a name, the first one",
    requirements: "a running `bluetoothd`, and libdbus-1")

  package init() {}

  package func read(_ text: String) throws(SpecifierProblem) -> any AdapterSpecifier {
    let rest = text.dropFirst(name.count)
    if rest.isEmpty { return BlueZSpecifier(adapter: nil) }
    let adapter = String(rest.dropFirst())
    guard rest.first == ":", adapter.hasPrefix("hci"), let number = Int(adapter.dropFirst(3)), number >= 0,
      adapter == "hci\(number)"
    else { throw SpecifierProblem(description: "expected \(form.syntax)") }
    return BlueZSpecifier(adapter: adapter)
  }
}

/// An adapter of BlueZ.
package struct BlueZSpecifier: AdapterSpecifier {
  /// The adapter's name, such as `hci1`; nil: the first one.
  package let adapter: String?

  package var scheme: BlueZScheme { BlueZScheme() }
  package var description: String { adapter.map { "bluez:\($0)" } ?? "bluez" }
  package var remedy: String { "sudo systemctl start bluetooth, or see what was logged on the standard error" }

  package func checks(on machine: Machine) -> [AdapterCheck] {
    [
      machine.isRunning("bluetoothd")
        ? AdapterCheck("BlueZ", .good, "bluetoothd is running")
        : AdapterCheck(
          "BlueZ", .warning, "no bluetoothd is visible",
          remedy: "sudo systemctl start bluetooth, or name another bus in DBUS_SYSTEM_BUS_ADDRESS")
    ]
  }

  package func makeAdapter(_ context: AdapterContext) -> any DaemonAdapter {
    BlueZAdapter(
      adapter, name: description, bus: .system, hiddenServices: context.policy.hiddenServices,
      prompts: PromptsSetting.ofProcess.makePrompts(), on: context.makeLoop())
  }
}
