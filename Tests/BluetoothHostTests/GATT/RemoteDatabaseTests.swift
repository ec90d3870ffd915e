import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

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

  @Test("A characteristic whose value is the last attribute of its service has no descriptors")
  func noRoomForDescriptors() {
    var database = database()
    database.setCharacteristics(
      [GATTCharacteristic(declaration: 19, value: 20, properties: .read, uuid: 0x2A19)], of: 10)
    #expect(database.descriptorRange(ofValue: 20) == nil)
    #expect(database.descriptors(ofValue: 20) == nil)
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

  @Test("An included service that is not primary becomes known, but not as a primary service", .requirement("L036"))
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

  // MARK: Confirmation

  @Test("Forgotten results can still be confirmed ones, and are used again after a discovery")
  func confirmedAndForgotten() {
    var database = database()
    database.awaitConfirmation(of: .primaryServices)
    #expect(database.confirmedResult(of: .primaryServices) == nil)
    database.confirm()
    #expect(database.forget(12...12) == [10...20])
    #expect(database.primaryServices == nil)
    #expect(database.confirmedResult(of: .primaryServices) == .services([first, second]))
    database.used(.primaryServices)
    #expect(database.primaryServices == [first, second])
  }

  @Test("Without trust, only the results that the apps have are left, and none is kept for the next link")
  func distrusted() {
    var cache = GATTCache(hash: pattern(16), attributes: GATTServiceAttributes())
    cache.add(.services([first, second]), to: .primaryServices)
    cache.add(.characteristics([]), to: .characteristics(in: 10...20))
    var database = RemoteDatabase()
    database.adopt(cache)
    #expect(database.cache(cache.hash, cache.attributes) == cache)
    #expect(database.primaryServices == nil && database.service(at: 1) == nil)
    database.used(.primaryServices)
    database.distrust()
    #expect(database.primaryServices == [first, second])
    #expect(database.cache(cache.hash, cache.attributes).responses.isEmpty)
    database.used(.characteristics(in: 10...20))
    #expect(database.characteristics(of: 10) == nil)
  }

  @Test("Only a found result that differs contradicts a cache")
  func contradiction() {
    var cache = GATTCache(hash: pattern(16), attributes: GATTServiceAttributes())
    cache.add(.services([first, second]), to: .primaryServices)
    cache.add(.characteristics([]), to: .characteristics(in: 10...20))
    var database = database()
    #expect(!database.contradicts(cache))
    database.setCharacteristics(
      [GATTCharacteristic(declaration: 11, value: 12, properties: .read, uuid: 0x2A19)], of: 10)
    #expect(database.contradicts(cache))
    _ = database.forget(11...11)
    #expect(!database.contradicts(cache))
  }

  @Test("Results for which a cache has no room are used on this link only")
  func noRoom() {
    var database = RemoteDatabase()
    let services = (1...AttributeHandle(1100)).map { GATTService(range: $0...$0, uuid: 0x180D) }
    database.setPrimaryServices(services)
    database.awaitConfirmation(of: .primaryServices)
    database.setCharacteristics([], of: 1)
    database.awaitConfirmation(of: .characteristics(in: 1...1))
    database.confirm()
    #expect(database.unverifiedCount == 0)
    #expect(database.primaryServices == services)
    let cache = database.cache(pattern(16), GATTServiceAttributes())
    #expect(cache.responses == [.characteristics(in: 1...1): .characteristics([])])
  }

  @Test("A service in the place of another one does not get its content")
  func replacedService() {
    var database = database()
    database.setPrimaryServices([GATTService(range: 1...9, uuid: 0x1816), second])
    #expect(database.characteristics(of: 1) == nil)
    #expect(database.characteristic(withValue: 3) == nil)
  }

  // MARK: Many services

  @Test(
    "An element of a sorted list of 65,536 is found in 17 comparisons", arguments: [0, 1, 32_768, 65_535, 65_536])
  func search(_ wanted: Int) {
    let list = Array(0..<65_536)
    var looks = 0
    let index = list.sortedIndex { element in
      looks += 1
      return element >= wanted
    }
    #expect(index == wanted)
    #expect(looks <= 17)
  }

  @Test("Services, includes and characteristics are found by handle among many")
  func findsAmongMany() {
    var database = RemoteDatabase()
    let starts = stride(from: AttributeHandle(1), to: 60_000, by: 6)
    let ranges: [ClosedRange<AttributeHandle>] = starts.map { start in start...start + 4 }
    database.setPrimaryServices(ranges.map { GATTService(range: $0, uuid: 0x180D) })
    for range in ranges.reversed() {
      let start = range.lowerBound
      database.setCharacteristics(
        [GATTCharacteristic(declaration: start + 1, value: start + 2, properties: .read, uuid: 0x2A37)], of: start)
      database.setDescriptors([GATTDescriptor(handle: start + 3, uuid: 0x2901)], ofValue: start + 2)
    }
    // A service that is not primary, and one that is.
    let secondary = GATTService(range: 60_001...60_002, uuid: 0x1816)
    let first = GATTService(range: ranges[0], uuid: 0x180D)
    database.setIncludes(
      [GATTInclude(declaration: 4, service: secondary), GATTInclude(declaration: 5, service: first)], of: 1)
    for range in ranges {
      #expect(database.service(at: range.lowerBound)?.range == range)
      #expect(database.descriptors(ofValue: range.lowerBound + 2)?.first?.handle == range.lowerBound + 3)
    }
    #expect(database.service(at: 2) == nil && database.characteristic(withValue: 2) == nil)
    #expect(database.isPrimary(60_001) == false && database.isPrimary(1) == true)
    #expect(database.includes(of: 1)?.count == 2)
    #expect(database.primaryServices?.count == 10_000)
  }

  @Test("Values are found even in overlapping services, which only a broken peer has")
  func overlapping() {
    var database = RemoteDatabase()
    database.setPrimaryServices([GATTService(range: 1...20, uuid: 0x180D), GATTService(range: 5...8, uuid: 0x180F)])
    database.setCharacteristics(
      [GATTCharacteristic(declaration: 6, value: 7, properties: .read, uuid: 0x2A37)], of: 1)
    #expect(database.characteristic(withValue: 7)?.uuid == 0x2A37)
  }
}

extension RemoteDatabase {
  fileprivate mutating func setPrimaryServices(_ services: [GATTService]) {
    found(.services(services), by: .primaryServices)
  }

  fileprivate mutating func setIncludes(_ includes: [GATTInclude], of declaration: AttributeHandle) {
    guard let range = service(at: declaration)?.range else { return }
    found(.includedServices(includes), by: .includedServices(in: range))
  }

  fileprivate mutating func setCharacteristics(_ list: [GATTCharacteristic], of declaration: AttributeHandle) {
    guard let range = service(at: declaration)?.range else { return }
    found(.characteristics(list), by: .characteristics(in: range))
  }

  fileprivate mutating func setDescriptors(_ descriptors: [GATTDescriptor], ofValue value: AttributeHandle) {
    guard let range = descriptorRange(ofValue: value) else { return }
    found(.descriptors(descriptors), by: .descriptors(in: range))
  }
}
