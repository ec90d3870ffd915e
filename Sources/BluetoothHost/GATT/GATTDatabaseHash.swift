import BluetoothCrypto
import BluetoothWire

/// The Database Hash · Vol 3, Part G, 7.3.1: AES-CMAC with a key of zeros over the declarations in the order of their
/// handles.
enum GATTDatabaseHash {
  /// Returns the hash in transmission order, least significant octet first.
  static func value(of attributes: [GATTAttribute]) -> [UInt8] {
    AES128.cmac(message(of: attributes), key: .zero).bytes.reversed()
  }

  /// Returns the input of the hash: declarations and Extended Properties with handle, type and value, and other
  /// descriptors of the specification with handle and type. Other attributes are excluded, so that no write of a
  /// client changes the hash.
  static func message(of attributes: [GATTAttribute]) -> [UInt8] {
    var message: [UInt8] = []
    for attribute in attributes {
      guard let part = Part(attribute.type) else { continue }
      message += attribute.handle.octets + attribute.type.attributeValue
      if part == .whole, case .stored(let value) = attribute.content { message += value.bytes }
    }
    return message
  }

  /// The part of an attribute that the hash includes.
  private enum Part {
    case whole, handleAndType

    init?(_ type: BluetoothUUID) {
      switch type {
      case GATTType.primaryService, GATTType.secondaryService, GATTType.include, GATTType.characteristic,
        GATTType.extendedProperties:
        self = .whole
      case GATTType.userDescription, GATTType.clientCharacteristicConfiguration,
        GATTType.serverCharacteristicConfiguration, GATTType.presentationFormat, GATTType.aggregateFormat:
        self = .handleAndType
      default: return nil
      }
    }
  }
}
