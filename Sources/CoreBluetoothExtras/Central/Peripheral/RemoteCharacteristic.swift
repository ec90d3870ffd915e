import CoreBluetooth
import NIOConcurrencyHelpers

/// A characteristic of a peripheral, discovered on the present link; see `RemoteService`.
public struct RemoteCharacteristic: Sendable {
  /// The service that contains the characteristic.
  public let service: RemoteService
  private let box: Unchecked<CBCharacteristic>

  init(_ characteristic: CBCharacteristic, of service: RemoteService) {
    box = Unchecked(characteristic)
    self.service = service
  }

  private var attribute: Unchecked<CBAttribute> { Unchecked(box.value) }
  private var peripheral: Peripheral { service.peripheral }

  /// The type of the characteristic.
  public var uuid: CBUUID { box.value.uuid }

  /// The handle of the value, which follows the declaration.
  package var handle: UInt16? { box.value.attributeHandle }

  /// The operations that the characteristic declares. The peer may still reject them.
  public var properties: CBCharacteristicProperties { box.value.properties }

  /// True while notifications or indications are enabled.
  public var isNotifying: Bool { box.value.isNotifying }

  /// Discovers all descriptors of the characteristic.
  public func discoverDescriptors(within limit: TimeLimit? = nil) async throws -> [RemoteDescriptor] {
    try await peripheral.perform(.descriptors, attribute, within: limit) { [box] in
      $0.discoverDescriptors(for: box.value)
    }
  }

  /// Reads the complete value. Notifications that arrive meanwhile are not taken for the result.
  public func read(within limit: TimeLimit? = nil) async throws -> Data {
    try await peripheral.perform(.read, attribute, within: limit) { [box] in $0.readValue(for: box.value) }
  }

  /// Writes the value, and waits for the response of the peripheral.
  ///
  /// If the task is cancelled after the request was sent, the value may have been written.
  public func write(_ value: Data, within limit: TimeLimit? = nil) async throws {
    try await peripheral.perform(.write, attribute, returning: Void.self, within: limit) { [box] in
      $0.writeValue(value, for: box.value, type: .withResponse)
    }
  }

  /// Writes the value without response. Returns when there was room for the value among those that wait to be sent, so
  /// that a loop of writes is as fast as the link. Values are sent in the order of the calls.
  ///
  /// - Parameters:
  ///   - value: at most `Peripheral.maximumWriteLength(for: .withoutResponse)` octets; a longer value throws
  ///     `CBATTError.invalidAttributeValueLength`.
  ///   - limit: the time limit; nil: the call has none.
  /// - Throws: `CBATTError.writeNotPermitted` if the characteristic has no writes without response.
  public func writeWithoutResponse(_ value: Data, within limit: TimeLimit? = nil) async throws {
    try await limited(limit) { [peripheral, box] in try await peripheral.writeWithoutResponse(value, to: box) }
  }

  /// The notifications or indications of the characteristic.
  ///
  /// The first iteration subscribes when it begins, the end of the last one unsubscribes. Each iteration gets all
  /// values that arrive after it began, in an unbounded buffer. It throws the error of the subscription, or of the end
  /// of the link. A limit of notifications in the background does not end it: values are then missing, up to the newest
  /// one, which arrives when the app runs again.
  public var notifications: ThrowingEventSequence<Data> {
    ThrowingEventSequence(owner: peripheral) { [peripheral, box] in peripheral.notifications(of: box) }
  }

  /// Subscribes to the notifications or indications, and waits until the peripheral has accepted the subscription, so
  /// that a write which follows can lead to a notification.
  ///
  /// - Returns: the values from now on, without the last ones of an earlier subscription that is being cancelled. The
  ///   first iteration gets them all; the subscription lasts until it ends, or until the sequence is released. A later
  ///   iteration begins as one over `notifications` does.
  public func subscribe(within limit: TimeLimit? = nil) async throws -> ThrowingEventSequence<Data> {
    let stream = try await limited(limit) { [peripheral, box] in
      try await peripheral.subscribe(to: [box]) { _, value in value }
    }
    let first = NIOLockedValueBox<AsyncThrowingStream<Data, any Error>?>(stream)
    return ThrowingEventSequence(owner: peripheral) { [peripheral, box] in
      let first = first.withLockedValue { first in
        defer { first = nil }
        return first
      }
      return first ?? peripheral.notifications(of: box)
    }
  }

  /// The state of the characteristic's procedures, if it is a control point.
  package var procedureState: ProcedureState { peripheral.procedureState(of: box.value) }

  /// Subscribes to several characteristics of one peripheral, and waits until the peripheral has accepted all
  /// subscriptions.
  ///
  /// - Parameters:
  ///   - characteristics: the characteristics, which the caller retains.
  ///   - element: returns the element for a value of the characteristic with this index.
  /// - Returns: the values in the order in which they arrive. The subscriptions last until the stream is released or its
  ///   iteration is cancelled.
  package static func subscribe<Element: Sendable>(
    to characteristics: [RemoteCharacteristic], _ element: @escaping @Sendable (Int, Data) -> Element
  ) async throws -> AsyncThrowingStream<Element, any Error> {
    guard let peripheral = characteristics.first?.peripheral else { return AsyncThrowingStream { $0.finish() } }
    return try await peripheral.subscribe(to: characteristics.map(\.box), element)
  }
}

extension RemoteCharacteristic: Hashable {
  /// True if both are the same characteristic of the same link.
  public static func == (one: RemoteCharacteristic, other: RemoteCharacteristic) -> Bool {
    one.box.value === other.box.value
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box.value)) }
}
