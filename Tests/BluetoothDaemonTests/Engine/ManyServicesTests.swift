import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// The cost of many services: it must not grow with the square of their number, since an app or a peer may have tens of
/// thousands.
@Suite("Many services")
struct ManyServicesTests {
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

  @Test("Services, includes and characteristics are found by handle among many, whatever their order of arrival")
  func remoteDatabase() {
    var database = RemoteDatabase()
    let starts = stride(from: AttributeHandle(1), to: 60_000, by: 6)
    let ranges: [ClosedRange<AttributeHandle>] = starts.map { start in start...start + 4 }
    database.setPrimaryServices(ranges.reversed().map { GATTService(range: $0, uuid: 0x180D) })
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

  @Test("Apps' services are added and removed in any order, and each is found as in a plain list")
  func localDatabase() {
    let (slot, _) = peripheralSessions()
    var database = LocalDatabase()
    var generator = RandomStream(seed: 5)
    /// The services that exist, each with the handles of its values.
    var present: [(id: UInt32, range: ClosedRange<AttributeHandle>, values: [AttributeHandle])] = []
    var (nextID, nextHandle): (UInt32, AttributeHandle) = (1, 20)
    func definition(_ id: UInt32) -> LocalCharacteristic {
      LocalCharacteristic(
        id: LocalAttributeID(number: id),
        definition: .init(uuid: 0x2A37, properties: .read, permissions: .readable, value: nil))
    }
    for _ in 0..<600 {
      if present.isEmpty || generator.next() % 3 > 0 {
        let count = UInt32(generator.next() % 4)
        let values = (0..<AttributeHandle(count)).map { nextHandle + 2 * $0 + 2 }
        let range = nextHandle...nextHandle + 2 * AttributeHandle(count)
        let service = LocalService(
          id: LocalAttributeID(number: nextID), uuid: 0x180D, isPrimary: true, includes: [],
          characteristics: (0..<count).map { definition(nextID + 1 + $0) })
        database.add(service, of: slot, at: .init(range: range, values: values))
        present.append((nextID, range, values))
        nextID += 1 + count
        nextHandle = range.upperBound + 1
      } else {
        let gone = present.remove(at: Int(generator.next() % UInt64(present.count)))
        #expect(database.remove(gone.range.lowerBound).map(\.handle) == gone.values)
        #expect(database.service(LocalAttributeID(number: gone.id), of: slot) == nil)
        #expect(gone.values.allSatisfy { database.characteristic(at: $0) == nil })
      }
      #expect(database.services.map(\.range) == present.map(\.range))
      #expect(database.characteristics.map(\.handle) == present.flatMap(\.values))
      for service in present {
        #expect(database.service(LocalAttributeID(number: service.id), of: slot)?.range == service.range)
        for (place, value) in service.values.enumerated() {
          let index = database.characteristic(at: value)
          #expect(index == database.characteristic(LocalAttributeID(number: service.id + 1 + UInt32(place)), of: slot))
          #expect(index.map { database.characteristics[$0].handle } == value)
        }
      }
    }
  }
}
