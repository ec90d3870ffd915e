import BluetoothWire
import Testing

@testable import BluetoothHost

extension Host {
  /// The address that this device uses on the air unless the controller generates private addresses.
  var ownAddressOnAir: DeviceAddress {
    var context = context
    return gap.addressOnAir(&context)
  }
}

extension HostHarness {
  /// Checks what must hold after every case of hostile input: the links `before` still exist; the device advertises,
  /// accepts a connection and answers an ATT read.
  mutating func expectToServe(keeping before: [Link] = [], location: SourceLocation = #_sourceLocation) {
    answers = [:]
    #expect(before.allSatisfy(host.links.contains), sourceLocation: location)
    forget()
    perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    #expect(advertisingAnswers == [nil], sourceLocation: location)
    let handle = link(.peripheral, handle: 0x0E00, to: DeviceAddress(0xC0_00_00_00_0E_00, .random))
    #expect(links.map(\.handle) == [handle], sourceLocation: location)
    // Read By Type: Device Name.
    receive(.attribute, [0x08, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x2A], on: handle)
    let answer = try? payloads(on: handle, .attribute).last
    #expect(answer?.suffix(5) == Array("Bench".utf8)[...], sourceLocation: location)
    receive(.disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection))
  }

  var discoveredNames: [String?] {
    events.compactMap { if case .nameDiscovered(_, let name) = $0 { name } else { nil } }
  }

  var reports: [AdvertisingReport] {
    events.compactMap { if case .advertisingReport(let report) = $0 { report } else { nil } }
  }

  /// Advances the time by `span` without handling deadlines in between.
  mutating func pass(_ span: TimeSpan) {
    now = now + span
    host.timeReached(now)
    run()
  }

  /// Reports an advertisement of `address`.
  mutating func hear(_ data: [UInt8], from address: DeviceAddress = HostHarness.peer) {
    let report = HCI.AdvertisingReport(
      type: .connectableScannable, address: HCI.PeerAddress(address), data: ByteSlice(data), rssi: -50)
    receive(.leAdvertisingReport(HCI.AdvertisingReports(report, in: pool)))
  }
}
