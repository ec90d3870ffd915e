import BluetoothDaemon
import BluetoothTransport

/// The adapter that is alone in a simulated world of its process.
package struct VirtualScheme: AdapterScheme {
  package let name = "virtual"
  package let kind = AdapterKind.simulated
  package let form = AdapterForm(
    "virtual", example: "virtual", meaning: "a device in a simulated world inside this process; the default",
    requirements: "none")

  package func knownAdapters(of machine: Machine) -> [any AdapterSpecifier] { [VirtualSpecifier()] }

  package func read(_ text: String) throws(SpecifierProblem) -> any AdapterSpecifier {
    guard text == name else { throw SpecifierProblem(description: "expected \(form.syntax)") }
    return VirtualSpecifier()
  }
}

package struct VirtualSpecifier: AdapterSpecifier {
  package var scheme: VirtualScheme { VirtualScheme() }
  package var description: String { scheme.name }

  /// The device of this process, created when a manager first uses it.
  private static let ownDevice = RealTimeDevice(name: VirtualScheme().name)

  package func checks(on machine: Machine) -> [AdapterCheck] {
    [
      AdapterCheck(
        "surroundings", .warning, "the adapter \"virtual\" is alone in its world",
        remedy: "join a world with --world FILE, an air with --adapter unix:PATH, or use a controller: --adapter hci:0")
    ]
  }

  package func makeAdapter(_ context: AdapterContext) -> any Adapter { Self.ownDevice.adapter }
}
