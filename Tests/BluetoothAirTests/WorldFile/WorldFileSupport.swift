import BluetoothLab
import CoreBluetooth
import Foundation
import TestSupport
import Testing

@testable import BluetoothAir

extension ExampleWorlds {
  /// The path of a world in this clone.
  static func path(_ name: String) -> String { WorkingCopy.url("Examples/Worlds/\(name).yaml").path }
}

/// Returns the errors of a file with this text as the lines that the user reads; empty if there are none.
func complaints(_ text: String) -> [String] {
  do throws(WorldFileFailure) {
    _ = try WorldFile(text: text, named: "w")
    return []
  } catch {
    return error.description.split(separator: "\n").map(String.init)
  }
}

/// Returns a file with one device whose accessory is described by `lines`.
func peripheralFile(_ lines: String) -> String {
  "devices:\n- name: d\n  accessory:\n    kind: peripheral\n"
    + lines.split(separator: "\n").map { "    \($0)\n" }.joined()
}

extension PhoneApp {
  /// Returns an app that reports each advertisement, and connects to the peripheral with that name; nil: to none.
  convenience init(_ device: Device, connectsTo name: String? = nil) {
    var plan = Plan.listen
    (plan.name, plan.connects) = (name, name != nil)
    self.init(on: device, plan)
  }

  /// The results of reads and writes, except for values that were read.
  var accesses: [Event] {
    events.filter {
      switch $0 {
      case .notRead, .written, .notWritten: true
      case .state, .discovered, .connected, .notConnected, .disconnected, .ready, .notifying: false
      }
    }
  }
}
