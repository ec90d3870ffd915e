import BluetoothBonds
import BluetoothWire
import Foundation
import Testing

@testable import BluetoothDaemon
@testable import BluetoothHost

/// Peers that pair under the address of a bonded device while prompts are answered automatically.
@Suite("Bonds and automatic prompts")
struct AutomaticBondTests {
  let air = DaemonNetwork()

  /// Starts a pairing at the central of the last device, on its existing link.
  private func pairUp(_ phone: Phone) {
    let handle = air.devices[phone.device].daemon.links[0].link.handle
    air.devices[phone.device].daemon.host.secure(handle, .encrypted, at: air.now)
    air.devices[phone.device].daemon.takeHostEvents(at: air.now)
    air.run()
  }

  private func notes(_ device: Int) -> [String] {
    let notes = air.devices[device].daemon.takeNotes()
    return notes
  }

  @Test("A stranger with a bonded peer's address does not replace its bond, and the log names the attempt")
  func takeover() throws {
    let (sensor, phone) = air.addSensorAndPhone()
    sensor.advertise()
    _ = phone.takeEvents()
    let peer = try phone.findAndConnect()
    pairUp(phone)
    let record = try #require(air.devices[0].daemon.bondRecords.first)
    phone.send(.cancelConnection(peer))
    #expect(notes(0) == [])
    // The device that has this address now does not have the key.
    for bond in air.devices[1].daemon.bondRecords { air.devices[1].daemon.forget(bond.identity, at: air.now) }
    air.advance(2)
    sensor.advertise()
    _ = phone.takeEvents()
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance(2)
    pairUp(phone)
    #expect(air.devices[0].daemon.bondRecords.map(\.bond) == [record.bond])
    #expect(air.devices[1].daemon.bondRecords.isEmpty)
    let lines = notes(0)
    #expect(lines.count == 1 && lines.first?.contains(record.identifier.digits) == true)
    withExtendedLifetime(sensor) {}
  }

  @Test("A stranger with a bonded peer's address does not replace its bond by LE legacy pairing")
  func downgrade() throws {
    let (sensor, phone) = air.addSensorAndPhone()
    sensor.advertise()
    _ = phone.takeEvents()
    let peer = try phone.findAndConnect()
    pairUp(phone)
    let record = try #require(air.devices[0].daemon.bondRecords.first)
    #expect(record.bond.key?.isSecureConnections == true)
    phone.send(.cancelConnection(peer))
    // The device that has this address now has neither the key nor LE Secure Connections.
    for bond in air.devices[1].daemon.bondRecords { air.devices[1].daemon.forget(bond.identity, at: air.now) }
    air.devices[1].daemon.host.context.security.context.policy.secureConnections = .never
    air.advance(2)
    sensor.advertise()
    _ = phone.takeEvents()
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance(2)
    pairUp(phone)
    #expect(air.devices[0].daemon.bondRecords.map(\.bond) == [record.bond])
    #expect(air.devices[1].daemon.bondRecords.isEmpty)
    // The refusal precedes every question, so no prompt can allow the pairing.
    let lines = notes(0)
    #expect(lines.count == 1 && lines.first?.contains("refused with reason 0x03") == true)
    withExtendedLifetime(sensor) {}
  }

  @Test("Strangers that a rule allows to pair never fill the room for bonds")
  func strangers() throws {
    let sensor = Sensor(air, air.add("Sensor", bonds: MemoryBondStore(limit: 4)))
    for number in 1...6 {
      let phone = Phone(air, air.add("Phone \(number)"))
      sensor.advertise()
      _ = phone.takeEvents()
      let peer = try phone.findAndConnect()
      pairUp(phone)
      #expect(air.devices[number].daemon.bondRecords.count == 1)
      phone.send(.cancelConnection(peer))
      air.advance()
    }
    let records = air.devices[0].daemon.bondRecords
    #expect(records.map(\.identity) == [5, 6].map { air.devices[$0].daemon.host.address })
    #expect(records.allSatisfy { !$0.isConfirmed })
    #expect(notes(0).count == 4)
  }

  private func setModificationDate(_ date: Date, of store: FileBondStore) throws {
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: store.path)
  }

  @Test("A device that another program has forgotten is forgotten here, and its link ends")
  func forgottenElsewhere() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bonds-" + UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = FileBondStore(folder: folder, adapter: "hci")
    let sensor = Sensor(air, air.add("Sensor", bonds: store))
    let phone = Phone(air, air.add("Phone"))
    sensor.advertise()
    _ = phone.takeEvents()
    _ = try phone.findAndConnect()
    pairUp(phone)
    let record = try #require(air.devices[0].daemon.bondRecords.first)
    #expect(air.devices[0].daemon.hasSharedBonds && air.linkCount(0) == 1)
    _ = try store.remove(record.identity)
    try setModificationDate(Date(timeIntervalSinceNow: 10), of: store)
    air.devices[0].daemon.takeStoreChanges(at: air.now)
    air.run()
    #expect(air.devices[0].daemon.bondRecords.isEmpty && air.devices[0].daemon.host.bonds.isEmpty)
    #expect(air.linkCount(0) == 0)
    // The other program adds the bond again.
    try store.save(record)
    try setModificationDate(Date(timeIntervalSinceNow: 20), of: store)
    air.devices[0].daemon.takeStoreChanges(at: air.now)
    #expect(air.devices[0].daemon.host.bonds == [record.bond])
  }
}
