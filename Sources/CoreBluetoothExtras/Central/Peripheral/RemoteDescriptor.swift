import CoreBluetooth

/// A descriptor of a characteristic, discovered on the present link; see `RemoteService`.
public struct RemoteDescriptor: Sendable {
  /// The characteristic that contains the descriptor.
  public let characteristic: RemoteCharacteristic
  private let box: Unchecked<CBDescriptor>

  init(_ descriptor: CBDescriptor, of characteristic: RemoteCharacteristic) {
    box = Unchecked(descriptor)
    self.characteristic = characteristic
  }

  private var attribute: Unchecked<CBAttribute> { Unchecked(box.value) }
  private var peripheral: Peripheral { characteristic.service.peripheral }

  /// The type of the descriptor.
  public var uuid: CBUUID { box.value.uuid }

  /// The handle, which an aggregate format names.
  package var handle: UInt16? { box.value.attributeHandle }

  /// Reads the value.
  public func read(within limit: TimeLimit? = nil) async throws -> DescriptorValue {
    try await peripheral.perform(.read, attribute, within: limit) { [box] in $0.readValue(for: box.value) }
  }

  /// Writes the value, and waits for the response of the peripheral. The Client Characteristic Configuration can't be
  /// written: iterate over `RemoteCharacteristic.notifications` instead.
  ///
  /// - Throws: `CBATTError.writeNotPermitted` for the Client Characteristic Configuration.
  public func write(_ value: Data, within limit: TimeLimit? = nil) async throws {
    guard uuid != CBUUID(string: CBUUIDClientCharacteristicConfigurationString) else {
      throw CBATTError(.writeNotPermitted)
    }
    try await peripheral.perform(.write, attribute, returning: Void.self, within: limit) { [box] in
      $0.writeValue(value, for: box.value)
    }
  }
}

extension RemoteDescriptor: Hashable {
  /// True if both are the same descriptor of the same link.
  public static func == (one: RemoteDescriptor, other: RemoteDescriptor) -> Bool { one.box.value === other.box.value }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box.value)) }
}

/// The value of a descriptor, of the type that Apple's API gives it.
public enum DescriptorValue: Hashable, Sendable {
  /// The value of Characteristic Extended Properties, Client or Server Characteristic Configuration.
  case number(UInt16)
  /// The value of Characteristic User Description.
  case text(String)
  /// The octets of any other descriptor.
  case data(Data)

  init(_ value: Any?) {
    switch value {
    case let text as String: self = .text(text)
    case let data as Data: self = .data(data)
    case let number as NSNumber: self = .number(number.uint16Value)
    default: self = .data(Data())
    }
  }
}
