import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// The cost of many services: it must not grow with the square of their number, since an app may have tens of
/// thousands.
@Suite("Many services")
struct ManyServicesTests {
  @Test("Apps' services are added and removed in any order, and each is found as in a plain list")
  func localDatabase() {
    let (slot, _) = peripheralSessions()
    var database = LocalDatabase()
    var generator = RandomStream(seed: 5)
    /// The services that exist, each with the handles of its values.
    var present: [(id: UInt32, range: ClosedRange<AttributeHandle>, values: [AttributeHandle])] = []
    var (nextID, nextHandle): (UInt32, AttributeHandle) = (1, 20)
    func definition(_ id: UInt32) -> LocalCharacteristicInfo {
      LocalCharacteristicInfo(
        id: LocalAttributeID(number: id),
        definition: .init(uuid: 0x2A37, properties: .read, permissions: .readable, value: nil))
    }
    for _ in 0..<600 {
      if present.isEmpty || generator.next() % 3 > 0 {
        let count = UInt32(generator.next() % 4)
        let values = (0..<AttributeHandle(count)).map { nextHandle + 2 * $0 + 2 }
        let range = nextHandle...nextHandle + 2 * AttributeHandle(count)
        let service = LocalServiceInfo(
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
