import CoreBluetooth

/// A service that this device offers; see `LocalPeripheral.add(_:within:)`.
public final class LocalService: Sendable {
  /// The characteristics, in the order of their handles.
  public let characteristics: [LocalCharacteristic]
  let box: Unchecked<CBMutableService>

  /// Creates a service. A characteristic belongs to one service.
  ///
  /// - Parameters:
  ///   - uuid: the type of the service.
  ///   - isPrimary: false for a secondary service, which centrals find only through a service that includes it.
  ///   - includes: the included services, which must be published before.
  ///   - characteristics: the characteristics, in the order of their handles.
  public convenience init(
    _ uuid: CBUUID, isPrimary: Bool = true, includes: [LocalService] = [], _ characteristics: [LocalCharacteristic]
  ) {
    self.init(uuid, isPrimary: isPrimary, includes: includes, characteristics, handle: nil)
  }

  /// Creates a service with a fixed handle of its declaration; nil: the next one.
  package init(
    _ uuid: CBUUID, isPrimary: Bool, includes: [LocalService], _ characteristics: [LocalCharacteristic], handle: UInt16?
  ) {
    self.characteristics = characteristics
    let service = CBMutableService(type: uuid, primary: isPrimary)
    service.fixedHandle = handle
    service.characteristics = characteristics.map(\.box.value)
    if !includes.isEmpty { service.includedServices = includes.map(\.box.value) }
    box = Unchecked(service)
  }

  /// The type of the service.
  public var uuid: CBUUID { box.value.uuid }
}

/// A characteristic that this device offers.
public final class LocalCharacteristic: Sendable {
  /// Returns the complete value for a central that reads it. An error rejects the request: the code of a `CBATTError`,
  /// else `unlikelyError`. It runs on the queue of the peripheral, and must not wait.
  public typealias ReadHandler = @Sendable (RemoteCentral) throws -> Data
  /// Takes what a central has written: all parts or, with an error, none. It runs on the queue of the peripheral, and
  /// must not wait. A write that has parts for several characteristics goes to the handler of the first one.
  public typealias WriteHandler = @Sendable (WriteRequest) throws -> Void

  let box: Unchecked<CBMutableCharacteristic>
  let read: ReadHandler?
  let write: WriteHandler?
  let subscriberChanges = Broadcast<[RemoteCentral]>(repeatsLatest: true, from: [])

  /// Creates a characteristic whose value the app provides.
  ///
  /// The peripheral retains the handlers while the service is published: they must not retain the peripheral.
  ///
  /// - Parameters:
  ///   - uuid: the UUID of the characteristic.
  ///   - properties: the permitted procedures.
  ///   - permissions: the permitted access; nil: readable and writeable as far as `properties` say, without encryption.
  ///   - descriptors: descriptors with static values, such as the user description.
  ///   - read: answers reads; nil: `LocalPeripheral.requests` reports them.
  ///   - write: answers writes; nil: `LocalPeripheral.requests` reports them.
  public convenience init(
    _ uuid: CBUUID, _ properties: CBCharacteristicProperties, permissions: CBAttributePermissions? = nil,
    descriptors: [LocalDescriptor] = [], read: ReadHandler? = nil, write: WriteHandler? = nil
  ) {
    self.init(
      uuid, properties, permissions: permissions, descriptors: descriptors, handle: nil, read: read, write: write)
  }

  /// Creates a characteristic with a fixed handle of its declaration, which the value follows; nil: the next one.
  package init(
    _ uuid: CBUUID, _ properties: CBCharacteristicProperties, permissions: CBAttributePermissions?,
    descriptors: [LocalDescriptor], handle: UInt16?, read: ReadHandler? = nil, write: WriteHandler? = nil
  ) {
    let characteristic = CBMutableCharacteristic(
      type: uuid, properties: properties, value: nil, permissions: permissions ?? properties.permissions)
    characteristic.fixedHandle = handle
    if !descriptors.isEmpty { characteristic.descriptors = descriptors.map(\.object) }
    box = Unchecked(characteristic)
    self.read = read
    self.write = write
  }

  /// Creates a characteristic with a static value, which centrals can only read.
  public init(_ uuid: CBUUID, value: Data, descriptors: [LocalDescriptor] = []) {
    let characteristic = CBMutableCharacteristic(
      type: uuid, properties: .read, value: value, permissions: .readable)
    if !descriptors.isEmpty { characteristic.descriptors = descriptors.map(\.object) }
    box = Unchecked(characteristic)
    read = nil
    write = nil
  }

  /// The type of the characteristic.
  public var uuid: CBUUID { box.value.uuid }

  /// The centrals that have enabled notifications or indications.
  public var subscribers: [RemoteCentral] { box.value.subscribedCentrals?.map { RemoteCentral($0) } ?? [] }

  /// The subscribers: the present ones, and then after each change.
  public var subscriptions: EventSequence<[RemoteCentral]> {
    EventSequence(owner: self) { [subscriberChanges] in subscriberChanges.subscribe() }
  }
}

/// A descriptor with a static value.
public struct LocalDescriptor: Sendable {
  private let uuid: CBUUID
  private let value: Content
  /// The fixed handle; nil: the next one.
  private var handle: UInt16?

  private enum Content: Sendable {
    case text(String)
    case octets(Data)
  }

  /// Creates the Characteristic User Description.
  public static func userDescription(_ text: String) -> LocalDescriptor {
    LocalDescriptor(uuid: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: .text(text))
  }

  /// Creates the Characteristic Presentation Format from its seven octets.
  public static func presentationFormat(_ octets: Data) -> LocalDescriptor {
    LocalDescriptor(uuid: CBUUID(string: CBUUIDCharacteristicFormatString), value: .octets(octets))
  }

  /// Creates a descriptor of another type, such as Report Reference. The system provides Client Characteristic
  /// Configuration, Server Characteristic Configuration and Extended Properties (0x2900, 0x2902, 0x2903) itself: a
  /// service with one of these is refused with `CBError.invalidParameters`.
  public static func other(_ uuid: CBUUID, _ octets: Data) -> LocalDescriptor {
    LocalDescriptor(uuid: uuid, value: .octets(octets))
  }

  /// Creates a descriptor of another type with a fixed handle; nil: the next one.
  package static func other(_ uuid: CBUUID, _ octets: Data, handle: UInt16?) -> LocalDescriptor {
    LocalDescriptor(uuid: uuid, value: .octets(octets), handle: handle)
  }

  fileprivate var object: CBMutableDescriptor {
    let object =
      switch value {
      case .text(let text): CBMutableDescriptor(anyType: uuid, value: text)
      case .octets(let octets): CBMutableDescriptor(anyType: uuid, value: octets)
      }
    object.fixedHandle = handle
    return object
  }
}

extension CBCharacteristicProperties {
  /// The permissions for the operations, without encryption.
  fileprivate var permissions: CBAttributePermissions {
    var permissions: CBAttributePermissions = []
    if contains(.read) { permissions.insert(.readable) }
    let writes: CBCharacteristicProperties = [.write, .writeWithoutResponse, .authenticatedSignedWrites]
    if !isDisjoint(with: writes) { permissions.insert(.writeable) }
    return permissions
  }
}
