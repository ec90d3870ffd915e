import BluetoothHost
import BluetoothWire

/// The cache of a peer's attributes during one link. All sessions share it, so that each attribute is discovered only
/// once.
struct RemoteDatabase {
  private struct Service {
    var service: GATTService
    var isPrimary: Bool
    var includes: [GATTInclude]?
    var characteristics: [Characteristic]?
  }

  private struct Characteristic {
    var characteristic: GATTCharacteristic
    var descriptors: [GATTDescriptor]?
  }

  /// The known services, sorted by declaration. A secondary service is added when an include names it.
  private var services: [Service] = []
  private var hasAllPrimaryServices = false

  // MARK: Reading

  /// The primary services; nil: not discovered yet.
  var primaryServices: [GATTService]? {
    hasAllPrimaryServices ? services.filter(\.isPrimary).map(\.service) : nil
  }

  func service(at declaration: AttributeHandle) -> GATTService? { index(of: declaration).map { services[$0].service } }

  /// Returns true for a primary service; nil: no known service has this declaration.
  func isPrimary(_ declaration: AttributeHandle) -> Bool? {
    index(of: declaration).map { services[$0].isPrimary }
  }

  func includes(of declaration: AttributeHandle) -> [GATTInclude]? {
    index(of: declaration).flatMap { services[$0].includes }
  }

  func characteristics(of declaration: AttributeHandle) -> [GATTCharacteristic]? {
    index(of: declaration).flatMap { services[$0].characteristics?.map(\.characteristic) }
  }

  func characteristic(withValue value: AttributeHandle) -> GATTCharacteristic? {
    guard let place = place(of: value) else { return nil }
    return services[place.service].characteristics?[place.characteristic].characteristic
  }

  func descriptors(ofValue value: AttributeHandle) -> [GATTDescriptor]? {
    guard let place = place(of: value) else { return nil }
    return services[place.service].characteristics?[place.characteristic].descriptors
  }

  /// Returns the handles at which a characteristic can have descriptors: after its value and before the next
  /// declaration; nil: there is no room for a descriptor, or there is no such characteristic.
  func descriptorRange(ofValue value: AttributeHandle) -> ClosedRange<AttributeHandle>? {
    guard let place = place(of: value), let all = services[place.service].characteristics else { return nil }
    let serviceEnd = services[place.service].service.range.upperBound
    let next = all.lazy.map(\.characteristic.declaration).filter { $0 > value }.min()
    let end = next.map { $0 - 1 } ?? serviceEnd
    return value < end ? value + 1...end : nil
  }

  // MARK: Writing

  /// Sets all primary services. Keeps the known content of services that have not changed.
  mutating func setPrimaryServices(_ found: [GATTService]) {
    let (current, declarations) = (Set(found), Set(found.map(\.range.lowerBound)))
    services.removeAll { old in
      !current.contains(old.service) && (old.isPrimary || declarations.contains(old.service.range.lowerBound))
    }
    // An include may have named a primary service before it was discovered.
    for index in services.indices where current.contains(services[index].service) { services[index].isPrimary = true }
    add(found, isPrimary: true)
    hasAllPrimaryServices = true
  }

  mutating func setIncludes(_ includes: [GATTInclude], of declaration: AttributeHandle) {
    guard let index = index(of: declaration) else { return }
    services[index].includes = includes
    add(includes.map(\.service), isPrimary: false)
  }

  mutating func setCharacteristics(_ characteristics: [GATTCharacteristic], of declaration: AttributeHandle) {
    guard let index = index(of: declaration) else { return }
    services[index].characteristics = characteristics.map { Characteristic(characteristic: $0) }
  }

  mutating func setDescriptors(_ descriptors: [GATTDescriptor], ofValue value: AttributeHandle) {
    guard let place = place(of: value) else { return }
    services[place.service].characteristics?[place.characteristic].descriptors = descriptors
  }

  /// Forgets every service that overlaps `range` and all includes; the primary services become incomplete. Returns the
  /// ranges of the forgotten services, in order.
  mutating func forget(_ range: ClosedRange<AttributeHandle>) -> [ClosedRange<AttributeHandle>] {
    let forgotten = services.map(\.service.range).filter { $0.overlaps(range) }
    services.removeAll { $0.service.range.overlaps(range) }
    for index in services.indices { services[index].includes = nil }
    hasAllPrimaryServices = false
    return forgotten
  }

  /// Adds the services that are not known yet.
  private mutating func add(_ found: [GATTService], isPrimary: Bool) {
    var added: Set<AttributeHandle> = []
    let new = found.filter { service in
      index(of: service.range.lowerBound) == nil && added.insert(service.range.lowerBound).inserted
    }
    guard !new.isEmpty else { return }
    services += new.map { Service(service: $0, isPrimary: isPrimary) }
    services.sort { $0.service.range.lowerBound < $1.service.range.lowerBound }
  }

  // A peer may have tens of thousands of services, so the search takes O(log n).

  private func index(of declaration: AttributeHandle) -> Int? {
    let index = services.sortedIndex { $0.service.range.lowerBound >= declaration }
    return index < services.count && services[index].service.range.lowerBound == declaration ? index : nil
  }

  private func place(of value: AttributeHandle) -> (service: Int, characteristic: Int)? {
    // The last service that begins before the value, except when the peer's services overlap, which the specification
    // forbids.
    let end = services.sortedIndex { $0.service.range.lowerBound > value }
    for index in services[..<end].indices.reversed() where services[index].service.range.contains(value) {
      if let place = services[index].characteristics?.firstIndex(where: { $0.characteristic.value == value }) {
        return (index, place)
      }
    }
    return nil
  }
}

extension Array {
  /// Returns the index of the first element that satisfies `isBehind`, or `endIndex`. All elements after the first one
  /// must satisfy it, too. Complexity: O(log n).
  func sortedIndex(where isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// The UUIDs that the daemon itself looks for in a peer's database · Assigned Numbers, 3.4.1, 3.7, 3.8.1.
enum SystemAttribute {
  static let genericAccess: BluetoothUUID = 0x1800
  static let genericAttribute: BluetoothUUID = 0x1801
  static let deviceName: BluetoothUUID = 0x2A00
  static let clientCharacteristicConfiguration: BluetoothUUID = 0x2902

  /// Returns true for a service that the system uses itself and does not show to apps.
  static func isHidden(_ service: BluetoothUUID) -> Bool { service == genericAccess || service == genericAttribute }
}
