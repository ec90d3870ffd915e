import BluetoothProfiles

/// A GATT service of an accessory.
public struct AccessoryService<Owner: Accessory>: Sendable {
  /// The service's UUID.
  public var uuid: BluetoothUUID
  /// The characteristics, in the order of their handles.
  public var characteristics: [AccessoryCharacteristic<Owner>]
  /// True for a primary service; false for a secondary service, which clients find only through a service that
  /// includes it · Vol 3, Part G, 3.1.
  public var isPrimary = true
  /// The included services · Vol 3, Part G, 3.2: of several with one UUID, the first. Each must precede this service in
  /// `Accessory.services`; otherwise its include declaration is left out.
  public var includes: [BluetoothUUID] = []
  /// The handles of further included services, which may be anywhere in `Accessory.services` and have fixed handles.
  public var includedHandles: [UInt16] = []
  /// The handle of the declaration, 1 to 65,535; nil: the first one after those of the services before.
  public var handle: UInt16?
  /// False for a service that is not there until `AccessoryContext.setService(at:isPresent:)` adds it.
  public var isPresentAtStart = true

  /// Creates a primary service. The program stops when the accessory is turned on if one of the characteristics was
  /// created for another service.
  public init(_ uuid: BluetoothUUID, _ characteristics: [AccessoryCharacteristic<Owner>]) {
    self.uuid = uuid
    self.characteristics = characteristics
  }
}

/// A characteristic that an accessory serves: its definition, and the way to its value.
public struct AccessoryCharacteristic<Owner: Accessory>: Sendable {
  /// Returns the octets of the value that the accessory has now.
  public typealias Reading = @Sendable (Owner) -> [UInt8]
  /// Handles a client's write of octets. An error answers the client's request.
  public typealias Writing = @Sendable (inout Owner, [UInt8], inout AccessoryContext) throws(ATTErrorCode) -> Void
  /// Handles an event of a client.
  package typealias ClientEventHandler =
    @Sendable (inout Owner, AccessoryClientEvent, AccessoryClient, inout AccessoryContext) -> Void

  /// The UUIDs of the service and of the characteristic.
  public let path: CharacteristicPath
  /// The operations that clients may perform on the value. The descriptor that the property `broadcast` requires is
  /// added automatically.
  public var properties: CharacteristicProperties
  /// The link security required to read, write or subscribe to the value. A central that lacks it pairs.
  public var protection = CharacteristicProtection.none
  /// The permissions of the value; nil: those that the properties and `protection` need, without authentication and
  /// authorization. An operation needs its property, too.
  public var permissions: AttributePermissions?
  /// The properties in the declaration, if clients are to be shown others than those that the server performs; nil: the
  /// same. With them a database for tests of clients takes a command, or indicates a value, without the property.
  public var shownProperties: CharacteristicProperties?
  /// The handle of the declaration, which the value follows; nil: the next handle.
  public var handle: UInt16?
  /// True if the Reliable Write extended property is set: clients may write the value together with others, all or
  /// none · Vol 3, Part G, 3.3.3.1.
  public var hasReliableWrite = false
  /// The descriptors, besides the configuration and Extended Properties descriptors, which are added automatically.
  public var descriptors: [AccessoryDescriptor] = []
  /// Asked before each read and each write of a client that has passed the permissions; false answers the request with
  /// Insufficient Authorization (0x08) · Vol 3, Part F, 4. The parts of a prepared write are asked about when they are
  /// executed. nil: all are permitted.
  public var authorize: (@Sendable (Owner, AttributeAccess, AccessoryContext) -> Bool)?
  package let read: Reading
  /// Returns the octets that a value has at a time of the world, such as those of a clock; nil for values that change
  /// only in callbacks of the accessory.
  var readAtTime: (@Sendable (Owner, Duration) -> [UInt8])?
  let write: Writing
  /// Handles what happens to the procedures and the subscription of a client; nil: nothing depends on them.
  package var clientEvent: ClientEventHandler?

  /// The UUID of the characteristic.
  public var uuid: BluetoothUUID { path.characteristic }

  /// Returns the octets of the value that is sent at this time.
  package func value(of owner: Owner, at time: Duration) -> [UInt8] { readAtTime?(owner, time) ?? read(owner) }

  /// Creates a characteristic whose octets the accessory encodes and decodes itself. It requires no encryption.
  ///
  /// - Parameters:
  ///   - path: the characteristic.
  ///   - properties: the operations that the characteristic permits.
  ///   - read: returns the octets that answer reads and are sent in notifications and indications; the default is an
  ///     empty value.
  ///   - write: handles a client's write; the default throws `writeNotPermitted`.
  public init(
    octetsOf path: CharacteristicPath, _ properties: CharacteristicProperties,
    read: @escaping Reading = { _ in [] },
    write: @escaping Writing = { (_, _, _) throws(ATTErrorCode) in throw .writeNotPermitted }
  ) {
    self.path = path
    self.properties = properties
    self.read = read
    self.write = write
  }

  /// Creates a characteristic that clients can read or subscribe to. It requires no encryption.
  ///
  /// - Parameters:
  ///   - characteristic: the characteristic.
  ///   - properties: the operations that the characteristic permits.
  ///   - value: returns the value that the accessory has now.
  public init<Value>(
    _ characteristic: Characteristic<Value>, _ properties: CharacteristicProperties,
    value: @escaping @Sendable (Owner) -> Value
  ) {
    self.init(octetsOf: characteristic.path, properties, read: { value($0).octets })
  }

  /// Creates a characteristic that clients can write. It requires no encryption.
  ///
  /// - Parameters:
  ///   - characteristic: the characteristic.
  ///   - properties: the operations that the characteristic permits.
  ///   - malformed: the error for octets that are no value of the type; nil for Invalid Attribute Value Length (0x0D)
  ///     or Value Not Allowed (0x13), depending on the octets.
  ///   - written: handles a value that a client has written. An error answers the client's request.
  public init<Value>(
    _ characteristic: Characteristic<Value>, _ properties: CharacteristicProperties, malformed: ATTErrorCode? = nil,
    written: @escaping @Sendable (inout Owner, Value, inout AccessoryContext) throws(ATTErrorCode) -> Void
  ) {
    self.init(
      octetsOf: characteristic.path, properties,
      write: Self.writing(characteristic, malformed, written))
  }

  /// Creates a characteristic that clients can read or subscribe to, and write. It requires no encryption.
  ///
  /// - Parameters:
  ///   - characteristic: the characteristic.
  ///   - properties: the operations that the characteristic permits.
  ///   - value: returns the value that the accessory has now.
  ///   - written: handles a value that a client has written. An error answers the client's request.
  public init<Value>(
    _ characteristic: Characteristic<Value>, _ properties: CharacteristicProperties,
    value: @escaping @Sendable (Owner) -> Value,
    written: @escaping @Sendable (inout Owner, Value, inout AccessoryContext) throws(ATTErrorCode) -> Void
  ) {
    self.init(
      octetsOf: characteristic.path, properties, read: { value($0).octets },
      write: Self.writing(characteristic, nil, written))
  }

  /// Returns the function that decodes octets and passes the value to `written`.
  private static func writing<Value>(
    _ characteristic: Characteristic<Value>, _ malformed: ATTErrorCode?,
    _ written: @escaping @Sendable (inout Owner, Value, inout AccessoryContext) throws(ATTErrorCode) -> Void
  ) -> Writing {
    return { (owner, octets, context) throws(ATTErrorCode) in
      let value: Value
      do throws(ATTErrorCode) { value = try characteristic.value(of: octets) } catch { throw malformed ?? error }
      try written(&owner, value, &context)
    }
  }
}

/// An event that changes the state of a procedure of a client, or repeats its subscription.
package enum AccessoryClientEvent {
  /// The client has confirmed an indication of the characteristic.
  case sent
  /// The client has unsubscribed from the characteristic, or has disconnected.
  case unsubscribed
  /// The client has subscribed to the characteristic once more, as many bonded clients do on each link, or has changed from
  /// notifications to indications or back.
  case subscribedAgain
}

/// An access of a client to a value.
public enum AttributeAccess: Hashable, Sendable, CaseIterable {
  case read, write
}

/// The link security that access to a characteristic requires · Vol 3, Part C, 10.2.1.
public enum CharacteristicProtection: Hashable, Sendable, CaseIterable {
  /// No encryption: security mode 1, level 1.
  case none
  /// Encryption with any key: security mode 1, level 2.
  case encrypted
}

/// A characteristic descriptor of an accessory · Vol 3, Part G, 3.3.3.
public enum AccessoryDescriptor: Hashable, Sendable {
  /// Characteristic User Description; clients may write it if it is writable.
  case userDescription(String, isWritable: Bool = false)
  /// Characteristic Presentation Format.
  case presentationFormat(PresentationFormat)
  /// Characteristic Aggregate Format: the value is the concatenation of the values that the first presentation
  /// formats of these characteristics of the same service describe, in this order.
  case aggregateFormat([BluetoothUUID])
  /// Another descriptor with its UUID and value. A value that clients may write is stored. The handle is nil for the
  /// next one.
  case other(BluetoothUUID, [UInt8], permissions: AttributePermissions = .readable, handle: UInt16? = nil)
}
