import BluetoothHost
import BluetoothWire
import Testing

extension HostHarness {
  /// Returns a bench that is on, and a link that the test leaves alone.
  static func withSecondLink() -> (bench: HostHarness, secondLink: HCI.ConnectionHandle) {
    var bench = HostHarness()
    bench.powerOn()
    let handle = bench.link(.peripheral, handle: 0x70, to: DeviceAddress(0xC000_0000_0B57, .random))
    bench.completeAll()
    bench.forget()
    return (bench, handle)
  }

  /// Returns true if the host answers this link's read of the Device Name.
  mutating func answersRead(on handle: HCI.ConnectionHandle) throws -> Bool {
    completeAll()
    receive(.attribute, [0x0A, 0x03, 0x00], on: handle)
    let answers = try payloads(on: handle, .attribute)
    completeAll()
    return answers == [[0x0B] + Array("Bench".utf8)]
  }

  /// Checks what must hold after any input of a controller or a peer: other links go on, and the device still
  /// advertises, accepts a connection and answers a read.
  mutating func expectWorking(secondLink: HCI.ConnectionHandle?, sourceLocation: SourceLocation = #_sourceLocation)
    throws
  {
    if let secondLink {
      #expect(try answersRead(on: secondLink), "the other link", sourceLocation: sourceLocation)
    }
    forget()
    perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    #expect(advertisingAnswers == [nil], "advertising", sourceLocation: sourceLocation)
    let handle = link(.peripheral, handle: 0x7F, to: DeviceAddress(0xC000_0000_0E1D, .random))
    #expect(links.map(\.handle) == [handle], "a new link", sourceLocation: sourceLocation)
    #expect(try answersRead(on: handle), "the new link", sourceLocation: sourceLocation)
    receive(.disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection))
    #expect(disconnections == [.remoteUserTerminatedConnection], sourceLocation: sourceLocation)
    perform { host, now in host.stopAdvertising(at: now) }
    forget()
  }

  var troubles: [HostDiagnostic] {
    events.compactMap { if case .trouble(let trouble) = $0 { trouble } else { nil } }
  }
}
