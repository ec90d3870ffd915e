import BluetoothDaemon
import BluetoothHost
import BluetoothWire

// The types of fields that are neither structures nor enumerations.

// MARK: Numbers and texts

extension UInt8: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(self) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self = try reader.uint8() }
  static func words(_ types: inout TypeList) -> String { "1 octet" }
}

extension Int8: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(self) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self = try reader.int8() }
  static func words(_ types: inout TypeList) -> String { "1 octet, signed" }
}

extension UInt16: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(self) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self = try reader.uint16() }
  static func words(_ types: inout TypeList) -> String { "2 octets" }
}

extension UInt32: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(self) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self = try reader.uint32() }
  static func words(_ types: inout TypeList) -> String { "4 octets" }
}

extension UInt64: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(self) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self = try reader.uint64() }
  static func words(_ types: inout TypeList) -> String { "8 octets" }
}

extension Int64: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(self) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self = try reader.int64() }
  static func words(_ types: inout TypeList) -> String { "8 octets, signed" }
}

/// A length or an offset in four octets, which is at most 65,535.
extension Int: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(count: self) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) {
    self = try reader.count(atMost: 0xFFFF)
  }
  static func words(_ types: inout TypeList) -> String { "length" }
}

/// Two lengths, of which the first one is not above the second one.
extension ClosedRange<Int>: MessageField {
  func encode(into writer: inout MessageWriter) {
    lowerBound.encode(into: &writer)
    upperBound.encode(into: &writer)
  }

  init(from reader: inout MessageReader) throws(DecodingError) {
    let minimum = try Int(from: &reader)
    let maximum = try Int(from: &reader)
    guard minimum <= maximum else { throw .invalid(field: "lengths") }
    self = minimum...maximum
  }

  static func words(_ types: inout TypeList) -> String { "lengths" }
}

extension Bool: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(self) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self = try reader.bool() }
  static func words(_ types: inout TypeList) -> String { "truth value" }
}

extension String: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(self) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self = try reader.text() }
  static func words(_ types: inout TypeList) -> String { "text" }
}

/// A code, or a set of bits.
protocol MessageCode: MessageField, RawRepresentable where RawValue: MessageField {
  init(rawValue: RawValue)
}

extension MessageCode {
  @inline(__always) func encode(into writer: inout MessageWriter) { rawValue.encode(into: &writer) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) {
    self.init(rawValue: try RawValue(from: &reader))
  }
  static func words(_ types: inout TypeList) -> String { RawValue.words(&types) }
}

extension ATTErrorCode: MessageCode {}
extension HCIErrorCode: MessageCode {}
extension HCI.PHYs: MessageCode {}
extension HCI.LEFeatures: MessageCode {}
extension CharacteristicProperties: MessageCode {}
extension GATTExtendedProperties: MessageCode {}
extension AttributePermissions: MessageCode {}
extension AlertKinds: MessageCode {}
extension AdapterFeatures: MessageCode {}

// MARK: Octets

/// The octets share the memory of the frame.
extension ByteSlice: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(self) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self = try reader.slice() }
  static func words(_ types: inout TypeList) -> String { "octets" }
}

/// Octets whose number has a limit, which the reader checks.
protocol LimitedOctets: MessageField {
  static var limit: Int { get }
  var octets: ByteSlice { get }
  init(octets: ByteSlice)
}

extension LimitedOctets {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(octets) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) {
    self.init(octets: try reader.slice(atMost: Self.limit))
  }
  static func words(_ types: inout TypeList) -> String { "octets, at most \(limit)" }
}

/// The value of an attribute in a command.
struct AttributeOctets: LimitedOctets {
  static var limit: Int { 0xFFFF }
  let octets: ByteSlice
}

/// Octets of an L2CAP channel.
struct ChannelPart: LimitedOctets {
  static var limit: Int { DaemonProtocol.maximumChannelPart }
  let octets: ByteSlice
}

/// Advertising data that a controller has received.
struct ReceivedData: LimitedOctets {
  static var limit: Int { HostAdvertising.maximumExtendedLength }
  let octets: ByteSlice
}

/// Advertising data of an app, which the writer checks, too.
struct AdvertisedData: LimitedOctets {
  static var limit: Int { HostAdvertising.maximumExtendedLength }
  let octets: ByteSlice
  func encode(into writer: inout MessageWriter) { writer.append(octets, atMost: Self.limit) }
}

/// An HCI packet in H4 form.
struct PacketOctets: LimitedOctets {
  static var limit: Int { DaemonProtocol.maximumPacketLength }
  let octets: ByteSlice
}

// MARK: Lists and optional fields

extension Optional: MessageField where Wrapped: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) {
    writer.append(self != nil)
    if let self { self.encode(into: &writer) }
  }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) {
    self = try reader.bool() ? try Wrapped(from: &reader) : nil
  }
  static func words(_ types: inout TypeList) -> String { "optional: \(Wrapped.words(&types))" }
}

extension Array: MessageField where Element: MessageField {
  func encode(into writer: inout MessageWriter) {
    writer.append(count: count)
    for element in self { element.encode(into: &writer) }
  }

  init(from reader: inout MessageReader) throws(DecodingError) {
    // Each element has at least one octet, so that a number that is too high costs no memory.
    let count = try reader.listCount()
    self = []
    for _ in 0..<count { append(try Element(from: &reader)) }
  }

  static func words(_ types: inout TypeList) -> String { "list: \(Element.words(&types))" }
}

/// The list of a command, whose number of elements is limited.
struct CommandList<Element: MessageField>: MessageField {
  let values: [Element]
  init(_ values: [Element]) { self.values = values }

  func encode(into writer: inout MessageWriter) {
    writer.limit(values.count)
    values.encode(into: &writer)
  }

  init(from reader: inout MessageReader) throws(DecodingError) {
    values = try [Element](from: &reader)
    guard values.count <= DaemonProtocol.maximumFilterCount else { throw .invalid(field: "number") }
  }

  static func words(_ types: inout TypeList) -> String { "limited list: \(Element.words(&types))" }
}

extension CommandList: Sendable where Element: Sendable {}

/// The data of services, each behind the UUID of the service.
struct ServiceData: MessageField {
  var values: [(BluetoothUUID, ByteSlice)]
  init(_ values: [(BluetoothUUID, ByteSlice)]) { self.values = values }

  func encode(into writer: inout MessageWriter) {
    writer.append(count: values.count)
    for (uuid, octets) in values {
      uuid.encode(into: &writer)
      octets.encode(into: &writer)
    }
  }

  init(from reader: inout MessageReader) throws(DecodingError) {
    let count = try reader.listCount()
    values = []
    for _ in 0..<count {
      let uuid = try BluetoothUUID(from: &reader)
      values.append((uuid, try ByteSlice(from: &reader)))
    }
  }

  static func words(_ types: inout TypeList) -> String { "list: UUID and octets" }
}

extension Result: MessageField where Success: MessageField, Failure == SessionError {
  func encode(into writer: inout MessageWriter) {
    switch self {
    case .success(let value):
      writer.append(true)
      value.encode(into: &writer)
    case .failure(let error):
      writer.append(false)
      error.encode(into: &writer)
    }
  }

  init(from reader: inout MessageReader) throws(DecodingError) {
    self = try reader.bool() ? .success(try Success(from: &reader)) : .failure(try SessionError(from: &reader))
  }

  static func words(_ types: inout TypeList) -> String {
    _ = SessionError.words(&types)
    return "result: \(Success.words(&types))"
  }
}

// MARK: Devices and times

extension BluetoothUUID: MessageField {
  func encode(into writer: inout MessageWriter) {
    writer.append(UInt8(width.rawValue))
    switch width {
    case .bits16: writer.append(UInt16(truncatingIfNeeded: high >> 32))
    case .bits32: writer.append(UInt32(truncatingIfNeeded: high >> 32))
    case .bits128:
      writer.append(high)
      writer.append(low)
    }
  }

  init(from reader: inout MessageReader) throws(DecodingError) {
    guard let width = Width(rawValue: Int(try reader.uint8())) else { throw .invalid(field: "width of a UUID") }
    switch width {
    case .bits16: self.init(try reader.uint16())
    case .bits32: self.init(try reader.uint32())
    case .bits128:
      let high = try reader.uint64()
      self.init(high: high, low: try reader.uint64())
    }
  }

  static func words(_ types: inout TypeList) -> String { "UUID" }
}

extension DeviceAddress: MessageField {
  func encode(into writer: inout MessageWriter) {
    writer.append(kind.rawValue)
    writer.append(value)
  }

  init(from reader: inout MessageReader) throws(DecodingError) {
    guard let kind = Kind(rawValue: try reader.uint8()) else { throw .invalid(field: "enumeration") }
    let number = try reader.uint64()
    guard number <= 0xFFFF_FFFF_FFFF else { throw .invalid(field: "address") }
    self.init(number, kind)
  }

  static func words(_ types: inout TypeList) -> String { "address" }
}

extension PeerHandle: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(self) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self = try reader.peer() }
  static func words(_ types: inout TypeList) -> String { "peer" }
}

extension PeerIdentifier: MessageField {
  func encode(into writer: inout MessageWriter) { writer.append(self) }
  init(from reader: inout MessageReader) throws(DecodingError) { self = try reader.identifier() }
  static func words(_ types: inout TypeList) -> String { "identifier" }
}

extension RemoteAttributeID: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(handle) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self.init(try reader.uint16()) }
  static func words(_ types: inout TypeList) -> String { "attribute of a peer" }
}

extension LocalAttributeID: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(number) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) {
    self.init(number: try reader.uint32())
  }
  static func words(_ types: inout TypeList) -> String { "attribute of this device" }
}

extension LocalSetID: MessageField {
  func encode(into writer: inout MessageWriter) { writer.append(number) }
  init(from reader: inout MessageReader) throws(DecodingError) { self.init(number: try reader.uint32()) }
  static func words(_ types: inout TypeList) -> String { "advertising set" }
}

extension CentralRequestID: MessageField {
  func encode(into writer: inout MessageWriter) { writer.append(number) }
  init(from reader: inout MessageReader) throws(DecodingError) { self.init(number: try reader.uint64()) }
  static func words(_ types: inout TypeList) -> String { "request" }
}

extension ChannelHandle: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(key.rawValue) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) {
    self.init(key: SlotKey(rawValue: try reader.uint64()))
  }
  static func words(_ types: inout TypeList) -> String { "channel" }
}

/// A delay. Longer ones than 400 days would exceed the range of instants.
extension TimeSpan: MessageField {
  func encode(into writer: inout MessageWriter) { writer.append(nanoseconds) }

  init(from reader: inout MessageReader) throws(DecodingError) {
    self.init(nanoseconds: try reader.int64())
    guard (.zero...(.seconds(400 * 86_400))).contains(self) else { throw .invalid(field: "delay") }
  }

  static func words(_ types: inout TypeList) -> String { "delay" }
}

extension Instant: MessageField {
  func encode(into writer: inout MessageWriter) { writer.append(nanoseconds) }
  init(from reader: inout MessageReader) throws(DecodingError) { self.init(nanoseconds: try reader.int64()) }
  static func words(_ types: inout TypeList) -> String { "time" }
}
