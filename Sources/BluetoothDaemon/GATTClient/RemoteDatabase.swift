import BluetoothHost
import BluetoothWire

/// What is known of a peer's attributes, for the time of one link. All sessions share it, so that nothing is asked twice.
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

  /// By declaration; secondary services come here when an include names them.
  private var services: [Service] = []
  private var hasAllPrimaryServices = false

  // MARK: What is known

  /// nil: not asked yet.
  var primaryServices: [GATTService]? {
    hasAllPrimaryServices ? services.filter(\.isPrimary).map(\.service) : nil
  }

  func service(at declaration: AttributeHandle) -> GATTService? { index(of: declaration).map { services[$0].service } }

  /// nil: not known to be a service.
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

  /// Where the descriptors of a characteristic can be: behind its value, before the next declaration. nil: there is
  /// no room for any, or there is no such characteristic.
  func descriptorRange(ofValue value: AttributeHandle) -> ClosedRange<AttributeHandle>? {
    guard let place = place(of: value), let all = services[place.service].characteristics else { return nil }
    let serviceEnd = services[place.service].service.range.upperBound
    let next = all.lazy.map(\.characteristic.declaration).filter { $0 > value }.min()
    let end = next.map { $0 - 1 } ?? serviceEnd
    return value < end ? value + 1...end : nil
  }

  // MARK: What is learnt

  /// All primary services. What was known of those that are still the same is kept.
  mutating func setPrimaryServices(_ found: [GATTService]) {
    let current = Set(found)
    services.removeAll { old in old.isPrimary && !current.contains(old.service) }
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

  /// Forgets every service that overlaps `range`, all includes, and that all primary services are known. Returns the ranges
  /// of the forgotten services, in order.
  mutating func forget(_ range: ClosedRange<AttributeHandle>) -> [ClosedRange<AttributeHandle>] {
    let forgotten = services.map(\.service.range).filter { $0.overlaps(range) }
    services.removeAll { $0.service.range.overlaps(range) }
    for index in services.indices { services[index].includes = nil }
    hasAllPrimaryServices = false
    return forgotten
  }

  /// Adds the services that are not known.
  private mutating func add(_ found: [GATTService], isPrimary: Bool) {
    var added: Set<AttributeHandle> = []
    let new = found.filter { service in
      index(of: service.range.lowerBound) == nil && added.insert(service.range.lowerBound).inserted
    }
    guard !new.isEmpty else { return }
    services += new.map { Service(service: $0, isPrimary: isPrimary) }
    services.sort { $0.service.range.lowerBound < $1.service.range.lowerBound }
  }

  // A peer may have tens of thousands of services: each one is found in O(log n).

  private func index(of declaration: AttributeHandle) -> Int? {
    let index = services.sortedIndex { $0.service.range.lowerBound >= declaration }
    return index < services.count && services[index].service.range.lowerBound == declaration ? index : nil
  }

  private func place(of value: AttributeHandle) -> (service: Int, characteristic: Int)? {
    // The last service that begins before the value, unless the peer's services overlap, which they must not.
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
  /// The index of the first element that fulfils `isBehind`, or `endIndex`. All elements after the first one must fulfil it,
  /// too. Complexity: O(log n).
  func sortedIndex(where isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// UUIDs that the service itself looks for at a peer · Assigned Numbers, 3.4.1, 3.7, 3.8.1.
enum SystemAttribute {
  static let genericAccess: BluetoothUUID = 0x1800
  static let genericAttribute: BluetoothUUID = 0x1801
  static let deviceName: BluetoothUUID = 0x2A00
  static let clientCharacteristicConfiguration: BluetoothUUID = 0x2902

  /// Services that the system uses itself and does not show to apps.
  static func isHidden(_ service: BluetoothUUID) -> Bool { service == genericAccess || service == genericAttribute }
}
