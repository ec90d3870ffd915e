import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

@Suite("A peer's attributes")
struct RemoteDatabaseTests {
  let first = GATTService(range: 1...9, uuid: 0x180D)
  let second = GATTService(range: 10...20, uuid: 0x180F)

  func database() -> RemoteDatabase {
    var database = RemoteDatabase()
    database.setPrimaryServices([first, second])
    database.setCharacteristics(
      [
        GATTCharacteristic(declaration: 2, value: 3, properties: .notify, uuid: 0x2A37),
        GATTCharacteristic(declaration: 6, value: 7, properties: .read, uuid: 0x2A38),
      ], of: 1)
    return database
  }

  @Test("4.4 Undiscovered attributes are unknown; an empty result is empty")
  func unknownAndEmpty() {
    var database = RemoteDatabase()
    #expect(database.primaryServices == nil)
    database.setPrimaryServices([])
    #expect(database.primaryServices == [])
    #expect(database.characteristics(of: 1) == nil)
  }

  @Test("Descriptors are after the value and before the next declaration or the service's end")
  func descriptorRanges() {
    let database = database()
    #expect(database.descriptorRange(ofValue: 3) == 4...5)
    #expect(database.descriptorRange(ofValue: 7) == 8...9)
    #expect(database.descriptorRange(ofValue: 5) == nil)
  }

  @Test("A characteristic whose value is the last attribute of its service has no descriptors, and none are discovered")
  func noRoomForDescriptors() {
    var database = database()
    database.setCharacteristics(
      [GATTCharacteristic(declaration: 19, value: 20, properties: .read, uuid: 0x2A19)], of: 10)
    #expect(database.descriptorRange(ofValue: 20) == nil)
    #expect(database.knows(.descriptors(of: 20)))
    #expect(!database.knows(.descriptors(of: 7)))
  }

  @Test("A value at handle 0xFFFF does not overflow")
  func lastHandle() {
    var database = RemoteDatabase()
    database.setPrimaryServices([GATTService(range: 0xFFF0...0xFFFF, uuid: 0x180D)])
    database.setCharacteristics(
      [GATTCharacteristic(declaration: 0xFFFE, value: 0xFFFF, properties: .read, uuid: 0x2A37)], of: 0xFFF0)
    #expect(database.descriptorRange(ofValue: 0xFFFF) == nil)
  }

  @Test("A value with contradictory declarations has no descriptors")
  func contradictions() {
    var database = RemoteDatabase()
    database.setPrimaryServices([first])
    database.setCharacteristics(
      [
        GATTCharacteristic(declaration: 4, value: 2, properties: .read, uuid: 0x2A37),
        GATTCharacteristic(declaration: 3, value: 3, properties: .read, uuid: 0x2A38),
      ], of: 1)
    #expect(database.descriptorRange(ofValue: 2) == nil)
    #expect(database.descriptorRange(ofValue: 3) == nil)
  }

  @Test("An included service that is not primary becomes known, but not as a primary service")
  func secondary() {
    var database = database()
    let secondary = GATTService(range: 30...35, uuid: 0x1234)
    database.setIncludes(
      [GATTInclude(declaration: 2, service: secondary), GATTInclude(declaration: 3, service: second)], of: 1)
    #expect(database.service(at: 30) == secondary)
    #expect(database.isPrimary(30) == false)
    #expect(database.isPrimary(10) == true)
    #expect(database.primaryServices == [first, second])
  }

  @Test("A service that an include has named is primary when it is discovered as a primary service")
  func includedBeforeDiscovered() {
    var database = database()
    _ = database.forget(10...20)
    database.setIncludes([GATTInclude(declaration: 2, service: second)], of: 1)
    #expect(database.isPrimary(10) == false)
    database.setPrimaryServices([first, second])
    #expect(database.isPrimary(10) == true)
    #expect(database.primaryServices == [first, second])
    // The range of a discovery counts, not that of an earlier include.
    _ = database.forget(10...20)
    database.setIncludes([GATTInclude(declaration: 2, service: GATTService(range: 10...12, uuid: 0x180F))], of: 1)
    database.setPrimaryServices([first, second])
    #expect(database.primaryServices == [first, second])
  }

  @Test("A peer with as many services as handles is accepted")
  func manyServices() {
    var database = RemoteDatabase()
    let services = (1...UInt16.max).map { GATTService(range: $0...$0, uuid: BluetoothUUID($0)) }
    database.setPrimaryServices(services)
    #expect(database.primaryServices == services)
  }

  @Test("4.16 After Service Changed, attributes outside its range are still known")
  func forgets() {
    var database = database()
    #expect(database.forget(12...12) == [10...20])
    #expect(database.primaryServices == nil)
    #expect(database.service(at: 10) == nil)
    #expect(database.characteristics(of: 1)?.count == 2)
    database.setPrimaryServices([first, GATTService(range: 10...15, uuid: 0x180F)])
    #expect(database.characteristics(of: 1)?.count == 2)
    #expect(database.characteristics(of: 10) == nil)
  }
}
