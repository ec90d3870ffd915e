import Foundation
import Testing

@testable import BluetoothAdapters

@Suite struct AdapterListTests {
  private func specifiers(named: String? = nil, folder: String) -> [String] {
    AdapterRegistry.knownAdapters(named: named, folder: folder).map(\.specifier)
  }

  @Test("Adapters of Linux are listed in the order of their numbers, without connections and other files")
  func linux() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "adapters-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["hci10", "hci2", "hci2:64", "hci", "hci-1", "rfkill0"] {
      try FileManager.default.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
    }
    #expect(specifiers(folder: folder.path) == ["virtual", "hci:2", "hci:10"])
    let kinds = AdapterRegistry.knownAdapters(folder: folder.path).map(\.kind)
    #expect(kinds == [.simulated, .local, .local])
    // A named adapter is listed once.
    #expect(specifiers(named: "hci:2", folder: folder.path) == ["virtual", "hci:2", "hci:10"])
  }

  @Test("Without adapters of Linux, the simulated one and a named one are listed")
  func named() {
    let nowhere = "/no/such/folder"
    #expect(specifiers(folder: nowhere) == ["virtual"])
    #expect(specifiers(named: "virtual", folder: nowhere) == ["virtual"])
    #expect(specifiers(named: "nonsense", folder: nowhere) == ["virtual"])
    let remote = AdapterRegistry.knownAdapters(named: "tcp:127.0.0.1:6402", folder: nowhere).last
    #expect(remote == AdapterDescription(specifier: "tcp:127.0.0.1:6402", kind: .remote))
    let server = AdapterRegistry.knownAdapters(named: "server:/run/b.sock,lamp", folder: nowhere).last
    #expect(server == AdapterDescription(specifier: "server:/run/b.sock,lamp", kind: .remote))
    let serial = AdapterRegistry.knownAdapters(named: "serial:/dev/ttyS0", folder: nowhere).last
    #expect(serial == AdapterDescription(specifier: "serial:/dev/ttyS0,115200", kind: .local))
  }
}
