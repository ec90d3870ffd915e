import CoreBluetooth

/// A service of a peripheral, discovered on the present link. After the link has ended, its operations throw
/// `CBError.notConnected`; on a new link, services must be discovered again (`CBError.uuidNotAllowed`).
public struct RemoteService: Sendable {
  /// The peripheral that contains the service.
  public let peripheral: Peripheral
  private let box: Unchecked<CBService>

  init(_ service: CBService, of peripheral: Peripheral) {
    box = Unchecked(service)
    self.peripheral = peripheral
  }

  private var attribute: Unchecked<CBAttribute> { Unchecked(box.value) }

  /// The type of the service.
  public var uuid: CBUUID { box.value.uuid }

  /// The handle of the declaration.
  package var handle: UInt16? { box.value.attributeHandle }

  /// True for a primary service, false for a secondary one.
  public var isPrimary: Bool { box.value.isPrimary }

  /// Discovers characteristics of the service.
  ///
  /// - Parameters:
  ///   - uuids: the types of the characteristics; nil or empty: all characteristics are discovered.
  ///   - limit: the time limit; nil: the call has none.
  /// - Returns: the characteristics of these types in the order in which they were discovered on this link.
  public func discoverCharacteristics(
    _ uuids: [CBUUID]? = nil, within limit: TimeLimit? = nil
  ) async throws -> [RemoteCharacteristic] {
    let all: [RemoteCharacteristic] = try await peripheral.perform(.characteristics, attribute, within: limit) {
      [box] in $0.discoverCharacteristics(uuids, for: box.value)
    }
    return all.filter { uuids.include($0.uuid) }
  }

  /// Discovers services that the service includes.
  ///
  /// - Parameters:
  ///   - uuids: the types of the services; nil or empty: all included services are discovered.
  ///   - limit: the time limit; nil: the call has none.
  /// - Returns: the services of these types in the order in which they were discovered on this link.
  public func discoverIncludedServices(
    _ uuids: [CBUUID]? = nil, within limit: TimeLimit? = nil
  ) async throws -> [RemoteService] {
    let all: [RemoteService] = try await peripheral.perform(.includedServices, attribute, within: limit) {
      [box] in $0.discoverIncludedServices(uuids, for: box.value)
    }
    return all.filter { uuids.include($0.uuid) }
  }
}

extension RemoteService: Hashable {
  /// True if both are the same service of the same link.
  public static func == (one: RemoteService, other: RemoteService) -> Bool { one.box.value === other.box.value }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box.value)) }
}
