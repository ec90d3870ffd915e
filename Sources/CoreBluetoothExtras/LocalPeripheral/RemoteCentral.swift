import CoreBluetooth

/// A remote central that uses the services of this device, during one connection.
public struct RemoteCentral: Sendable, Identifiable {
  let box: Unchecked<CBCentral>

  init(_ central: CBCentral) { box = Unchecked(central) }

  /// The identifier of the device, constant for as long as this machine knows the device.
  public var id: UUID { box.value.identifier }

  /// The maximum length of a notification or an indication in octets: ATT_MTU − 3, which grows soon after connecting.
  public var maximumUpdateLength: Int { box.value.maximumUpdateValueLength }
}

extension RemoteCentral: Hashable {
  /// True if both are the same connection of the same device.
  public static func == (one: RemoteCentral, other: RemoteCentral) -> Bool { one.box.value === other.box.value }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box.value)) }
}
