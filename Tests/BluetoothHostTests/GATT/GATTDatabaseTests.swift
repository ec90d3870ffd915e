import BluetoothWire
import Testing

@testable import BluetoothHost

private func service(
  uuid: BluetoothUUID = 0x180D, includes: [AttributeHandle] = [], _ characteristics: GATTCharacteristicDefinition...
) -> GATTServiceDefinition {
  GATTServiceDefinition(uuid: uuid, isPrimary: true, includes: includes, characteristics: characteristics)
}

@Suite("GATT database")
struct GATTDatabaseTests {
  @Test("GAP and GATT services are always there, from handle 1 on")
  func system() {
    let database = GATTDatabase.named()
    #expect(database.attributes.map(\.handle) == Array(1...9))
    #expect(
      database.attributes.map(\.type)
        == [0x2800, 0x2803, 0x2A00, 0x2803, 0x2A01, 0x2800, 0x2803, 0x2A05, 0x2902])
    #expect(database.attributes[0].groupEnd == 5)
    #expect(database.attributes[5].groupEnd == 9)
    #expect(database.attributes[Int(database.serviceChangedHandle) - 1].type == 0x2A05)
  }

  @Test("A placement names the range and the value handles, and a configuration stands where it is due")
  func placement() throws {
    var database = GATTDatabase.named()
    let placement = try database.add(
      service(
        .dynamic(0x2A37, .notify),
        GATTCharacteristicDefinition(
          uuid: 0x2A38, properties: .read, permissions: .readable, value: [1],
          descriptors: [GATTDescriptorDefinition(uuid: 0x2901, value: [0x41])]),
        .dynamic(0x2A39, .indicate)))
    #expect(placement == GATTServicePlacement(range: 10...19, values: [12, 15, 18]))
    #expect(
      database.attributes[9...].map(\.type)
        == [0x2800, 0x2803, 0x2A37, 0x2902, 0x2803, 0x2A38, 0x2901, 0x2803, 0x2A39, 0x2902])
  }

  @Test("A handle is not given to another attribute as long as there are others")
  func growth() throws {
    var database = GATTDatabase.named()
    let first = try database.add(service(.dynamic(.read)))
    #expect(database.remove(declaration: first.range.lowerBound) == first.range)
    let second = try database.add(service(.dynamic(.read)))
    #expect(second.range == first.range.upperBound + 1...first.range.upperBound + 3)
  }

  @Test("When the handles are used up, gaps are filled; when there is no gap, the database is full")
  func full() throws {
    var database = GATTDatabase.named()
    var first: GATTServicePlacement?
    // 10 + 3 × 21,842 = 65,536: the last service ends at 65,535.
    for _ in 0..<21_842 {
      let placement = try database.add(service(.dynamic(.read)))
      first = first ?? placement
    }
    #expect(throws: GATTDatabaseError.full) { try database.add(service()) }
    let gap = try #require(first)
    _ = database.remove(declaration: gap.range.lowerBound)
    #expect(throws: GATTDatabaseError.full) { try database.add(service(.dynamic(.notify))) }
    let placement = try database.add(service(.dynamic(.read)))
    #expect(placement == gap)
    #expect(database.attributes.map(\.handle) == database.attributes.map(\.handle).sorted())
  }

  @Test("A service of another can be removed first: then the inclusion goes too, and is part of the change")
  func removalOfIncluded() throws {
    var database = GATTDatabase.named()
    let inner = try database.add(service(uuid: 0x180F, .dynamic(.read)))
    let outer = try database.add(service(includes: [inner.range.lowerBound], .dynamic(.read)))
    #expect(outer.range == 13...16)
    let changed = database.remove(declaration: inner.range.lowerBound)
    #expect(changed == 10...14)
    #expect(database.attributes[9...].map(\.handle) == [13, 15, 16])
  }

  @Test(
    "What is no service, or one of the host's own, is not removed", arguments: [1, 6, 10, 11, 999] as [AttributeHandle])
  func notRemoved(handle: AttributeHandle) {
    var database = GATTDatabase.with(.dynamic(.read))
    let before = database.attributes.count
    let removed = database.remove(declaration: handle)
    #expect((removed == nil) == (handle != 10))
    #expect((database.attributes.count == before) == (handle != 10))
  }

  @Test("A definition that can't be is refused and changes nothing")
  func refused() {
    var database = GATTDatabase.named()
    #expect(throws: GATTDatabaseError.unknownService(99)) { try database.add(service(includes: [99])) }
    #expect(throws: GATTDatabaseError.unknownService(2)) { try database.add(service(includes: [2])) }
    #expect(throws: GATTDatabaseError.valueTooLong) { try database.add(service(.stored(pattern(513)))) }
    #expect(database.attributes.count == 9)
  }

  @Test("A Device Name is cut at 248 octets, at a whole character, and can be changed")
  func deviceName() {
    var database = GATTDatabase.named(String(repeating: "é", count: 200))
    guard case .stored(let value) = database.attributes[2].content else { return }
    #expect(value.count == 248)
    database.setDeviceName("a" + String(repeating: "é", count: 200))
    guard case .stored(let other) = database.attributes[2].content else { return }
    #expect(other.count == 247)
  }

  @Test("The handle of an attribute finds it, and no other handle does")
  func search() throws {
    var database = GATTDatabase.named()
    let first = try database.add(service(.dynamic(.read)))
    _ = try database.add(service(.dynamic(.read)))
    _ = database.remove(declaration: first.range.lowerBound)
    for handle in AttributeHandle(0)...20 {
      let index = database.index(of: handle)
      #expect((index != nil) == ((1...9).contains(handle) || (13...15).contains(handle)))
      if let index { #expect(database.attributes[index].handle == handle) }
    }
  }
}
