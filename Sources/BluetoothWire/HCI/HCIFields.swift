// The fields of HCI packets: the types of which the rows of events and commands consist.

/// A field that can be encoded.
protocol HCIEncodable {
  func encode(into writer: inout ByteWriter)
  /// Adds the field to a list from which captures make words.
  func add(to list: inout [Any])
}

extension HCIEncodable {
  func add(to list: inout [Any]) { list.append(self) }
}

/// A field that can be encoded and decoded.
protocol HCIField: HCIEncodable, SendableMetatype {
  init(from reader: inout ByteReader) throws(DecodingError)
}

extension HCI {
  /// The decoding of an event, a command or return parameters.
  package struct Fields<Value: Sendable>: Sendable {
    let decode: @Sendable (inout ByteReader) throws(DecodingError) -> Value
    /// True if the first field is a connection handle.
    var beginsWithHandle = false

    /// Creates the decoding of a value without fields.
    init(_ value: Value) { decode = { _ in value } }

    /// Creates the decoding of a value whose fields are the parameters of `make`, in their order.
    @inline(__always)
    init<each Field: HCIField>(_ make: @escaping @Sendable (repeat each Field) -> Value) {
      decode = { (reader: inout ByteReader) throws(DecodingError) -> Value in
        make(repeat try (each Field)(from: &reader))
      }
      for type in repeat (each Field).self {
        beginsWithHandle = type == ConnectionHandle.self
        break
      }
    }

    /// Creates the decoding of a value whose fields depend on each other.
    init(decode: @escaping @Sendable (inout ByteReader) throws(DecodingError) -> Value) { self.decode = decode }
  }
}

// MARK: Visitors

/// A visitor of the fields of an event, a command or return parameters.
protocol HCIFieldVisitor: ~Copyable {
  mutating func visit<Field: HCIEncodable>(_ field: Field)
}

extension HCIFieldVisitor where Self: ~Copyable {
  /// Visits the fields in their order, and returns the number of the row to which they belong.
  @inline(__always)
  mutating func visit<Definition: HCIDefinition, each Field: HCIEncodable>(
    _ row: @autoclosure () -> Definition, _ fields: repeat each Field
  ) -> Definition.Number {
    visit(all: repeat each fields)
    return row().number
  }

  /// Visits the fields in their order.
  @inline(__always)
  mutating func visit<each Field: HCIEncodable>(all fields: repeat each Field) { repeat visit(each fields) }

  /// Visits the only field of a packet without a row, and returns the number of the packet.
  mutating func visit<Number, Field: HCIEncodable>(_ field: Field, for number: Number) -> Number {
    visit(field)
    return number
  }
}

/// A row of the table of events or of commands.
package protocol HCIDefinition: AnyObject, Sendable {
  associatedtype Number: HCIRowNumber
  var number: Number { get }
}

/// The number of a row.
package protocol HCIRowNumber: Sendable {
  /// The place of the row in its table; nil: no row has this number.
  var place: Int? { get }
}

/// The rows of a table by number. The lookup runs for most events and commands, so it is an array index instead of
/// comparisons or hashing.
struct HCITable<Definition: HCIDefinition>: Sendable {
  let definitions: [Definition]
  /// The index in `definitions` plus 1, by place; 0: no row.
  private var indices: [UInt8]

  /// Creates the table of the rows that are the properties of `list`.
  init(of list: Any, places: Int) {
    definitions = Mirror(reflecting: list).children.compactMap { $0.value as? Definition }
    indices = [UInt8](repeating: 0, count: places)
    for (index, definition) in definitions.enumerated() {
      guard let place = definition.number.place else { preconditionFailure("no place for \(definition.number)") }
      indices[place] = UInt8(index + 1)
    }
  }

  subscript(number: Definition.Number) -> Definition? {
    guard let place = number.place, indices[place] > 0 else { return nil }
    return definitions[Int(indices[place]) - 1]
  }
}

extension ByteWriter: HCIFieldVisitor {
  @inline(__always) mutating func visit<Field: HCIEncodable>(_ field: Field) { field.encode(into: &self) }
}

/// A visitor that only leads to the row.
struct HCIRowFinder: HCIFieldVisitor {
  @inline(__always) mutating func visit<Field: HCIEncodable>(_ field: Field) {}
}

/// A visitor that finds the first field of a type.
struct HCIFieldFinder<Value>: HCIFieldVisitor {
  private(set) var found: Value?
  @inline(__always) mutating func visit<Field: HCIEncodable>(_ field: Field) {
    if found == nil { found = field as? Value }
  }
}

/// A visitor that lists the fields.
struct HCIFieldList: HCIFieldVisitor {
  private(set) var fields: [Any] = []
  mutating func visit<Field: HCIEncodable>(_ field: Field) { field.add(to: &fields) }
}

// MARK: Numbers

extension UInt8: HCIField {
  @inline(__always) init(from reader: inout ByteReader) throws(DecodingError) { self = try reader.uint8() }
  @inline(__always) func encode(into writer: inout ByteWriter) { writer.append(self) }
}

extension Int8: HCIField {
  init(from reader: inout ByteReader) throws(DecodingError) { self = try reader.int8() }
  func encode(into writer: inout ByteWriter) { writer.append(self) }
}

extension UInt16: HCIField {
  @inline(__always) init(from reader: inout ByteReader) throws(DecodingError) { self = try reader.uint16() }
  @inline(__always) func encode(into writer: inout ByteWriter) { writer.append(self) }
}

extension Int16: HCIField {
  init(from reader: inout ByteReader) throws(DecodingError) { self = try reader.integer() }
  func encode(into writer: inout ByteWriter) { writer.appendInteger(self) }
}

extension UInt64: HCIField {
  init(from reader: inout ByteReader) throws(DecodingError) { self = try reader.uint64() }
  func encode(into writer: inout ByteWriter) { writer.append(self) }
}

extension Bool: HCIField {
  init(from reader: inout ByteReader) throws(DecodingError) { self = try reader.flag("flag") }
  func encode(into writer: inout ByteWriter) { writer.append(flag: self) }
}

extension HCIEncodable where Self: RawRepresentable, RawValue: HCIEncodable {
  @inline(__always) func encode(into writer: inout ByteWriter) { rawValue.encode(into: &writer) }
}

extension HCIField where Self: RawRepresentable, RawValue: HCIField {
  @inline(__always) init(from reader: inout ByteReader) throws(DecodingError) {
    guard let value = Self(rawValue: try RawValue(from: &reader)) else { throw .invalid(field: "value") }
    self = value
  }
}

extension HCIErrorCode: HCIField {
  @inline(__always) init(from reader: inout ByteReader) throws(DecodingError) {
    self.init(rawValue: try reader.uint8())
  }
}

extension HCI.Opcode: HCIField {}
extension HCI.ConnectionHandle: HCIField {}
extension HCI.AdvertisingHandle: HCIField {}
extension HCI.SyncHandle: HCIField {}
extension HCI.FlowControl: HCIField {}
extension HCI.EventMask: HCIField {}
extension HCI.EventMaskPage2: HCIField {}
extension HCI.LEEventMask: HCIField {}
extension HCI.LEFeatures: HCIField {}
extension HCI.LMPFeatures: HCIField {}
extension HCI.AddressChangeReasons: HCIField {}
extension HCI.PeriodicAdvertisingEnable: HCIField {}
extension HCI.PeriodicAdvertisingReceiveEnable: HCIField {}

// MARK: Structures

extension LinkParameters: HCIField {}
extension HCI.PeerAddress: HCIField {}
extension HCI.BufferSize: HCIField {}
extension HCI.CompletedPackets: HCIField {}
extension HCI.SupportedCommands: HCIField {}
extension HCI.AdvertisingParameters: HCIField {}
extension HCI.ScanParameters: HCIField {}
extension HCI.ConnectionEventLength: HCIField {}
extension HCI.CreateConnection: HCIField {}
extension HCI.DataLength: HCIField {}
extension HCI.PHYPreference: HCIField {}
extension HCI.ConnectionValues: HCIField {}
extension HCI.RemoteVersion: HCIField {}
extension HCI.VersionInformation: HCIField {}
extension HCI.AdvertisingReports: HCIField {}
extension HCI.ExtendedAdvertisingReports: HCIField {}
extension HCI.DirectedAdvertisingReport: HCIField {}
extension HCI.PeriodicSync: HCIField {}
extension HCI.PeriodicAdvertisingReport: HCIField {}
extension HCI.AdvertisingSetEnables: HCIField {}
extension HCI.ExtendedScanParameters: HCIField {}
extension HCI.ExtendedScanEnable: HCIField {}
extension HCI.ExtendedCreateConnection: HCIField {}
extension HCI.PeriodicAdvertisingParameters: HCIField {}
extension HCI.PeriodicAdvertisingCreateSync: HCIField {}
extension HCI.PeriodicAdvertiser: HCIField {}
extension HCI.SyncTransferParameters: HCIField {}

extension HCI.ConnectionComplete: HCIField {
  init(from reader: inout ByteReader) throws(DecodingError) { try self.init(from: &reader, isEnhanced: false) }
  func encode(into writer: inout ByteWriter) { encode(into: &writer, isEnhanced: false) }
}

extension HCI.ExtendedAdvertisingParameters: HCIField {
  init(from reader: inout ByteReader) throws(DecodingError) { try self.init(from: &reader, isV2: false) }
  func encode(into writer: inout ByteWriter) { encode(into: &writer, isV2: false) }
}

extension HCI.AdvertisingDataFragment: HCIField {
  init(from reader: inout ByteReader) throws(DecodingError) { try self.init(from: &reader, isPeriodic: false) }
  func encode(into writer: inout ByteWriter) { encode(into: &writer, isPeriodic: false) }
}

// MARK: Fields that differ from their value

/// A key in the form of an integer or of octets.
protocol HCIKey: HCIEncodable {}
extension UInt64: HCIKey {}
extension UInt128: HCIKey {
  func encode(into writer: inout ByteWriter) { writer.appendInteger(self) }
}
extension HCI.Octets: HCIKey {}

extension Secret: HCIEncodable where Value: HCIKey {
  func encode(into writer: inout ByteWriter) { value.encode(into: &writer) }
}

extension Secret: HCIField where Value: HCIKey & FixedWidthInteger {
  init(from reader: inout ByteReader) throws(DecodingError) { self.init(try reader.integer()) }
}

extension HCI {
  /// A field with words of its own for captures.
  struct Shown<Value: HCIEncodable>: HCIEncodable {
    let value: Value
    let words: (Value) -> String
    @inline(__always) init(_ value: Value, _ words: @escaping (Value) -> String) {
      self.value = value
      self.words = words
    }
    @inline(__always) func encode(into writer: inout ByteWriter) { value.encode(into: &writer) }
    func add(to list: inout [Any]) { list.append(words(value)) }
  }

  /// The handle of a connection that the event announces, which is valid only if the status is success.
  package struct NewConnection: HCIEncodable {
    package let handle: ConnectionHandle
    func encode(into writer: inout ByteWriter) { writer.append(handle) }
  }

  /// A random or public address of 48 bits, without its type.
  package struct AddressValue: HCIField {
    package let value: UInt64
    init(_ value: UInt64) { self.value = value }
    init(from reader: inout ByteReader) throws(DecodingError) { value = try reader.addressValue() }
    func encode(into writer: inout ByteWriter) { writer.append(addressValue: value) }
  }

  /// The bits of the data channels, 5 octets.
  struct ChannelBits: HCIField {
    let value: UInt64
    init(_ value: UInt64) { self.value = value }
    init(from reader: inout ByteReader) throws(DecodingError) { value = try reader.uint40() }
    func encode(into writer: inout ByteWriter) { writer.append40(value) }
  }

  /// A field of at most `count` octets.
  struct Octets<let count: Int>: HCIField, Hashable {
    let octets: ByteSlice
    init(_ octets: ByteSlice) { self.octets = octets }
    init(from reader: inout ByteReader) throws(DecodingError) { octets = try reader.take(count) }
    func encode(into writer: inout ByteWriter) { writer.append(octets.prefix(count)) }
  }

  /// Octets of any number, up to the end of the packet.
  package struct Rest: HCIEncodable {
    package let octets: ByteSlice
    func encode(into writer: inout ByteWriter) { writer.append(octets) }
  }

  /// The data of legacy advertising: a length of at most 31, and a field of 31 octets.
  package struct LegacyAdvertisingData: HCIField {
    package let data: ByteSlice
    init(_ data: ByteSlice) { self.data = data }

    init(from reader: inout ByteReader) throws(DecodingError) {
      let length = Int(try reader.uint8())
      let field = try reader.take(HCI.maximumAdvertisingDataLength)
      guard length <= field.count else { throw .invalid(field: "Advertising_Data_Length") }
      data = field.prefix(length)
    }

    func encode(into writer: inout ByteWriter) {
      let data = data.prefix(HCI.maximumAdvertisingDataLength)
      writer.append(UInt8(truncatingIfNeeded: data.count))
      writer.append(data)
      writer.appendZeros(HCI.maximumAdvertisingDataLength - data.count)
    }
  }

  /// A value with the form that it has in a second command or event.
  struct OtherForm<Value>: HCIEncodable {
    let value: Value
    let write: (Value, inout ByteWriter) -> Void
    @inline(__always) init(_ value: Value, _ write: @escaping (Value, inout ByteWriter) -> Void) {
      self.value = value
      self.write = write
    }
    func encode(into writer: inout ByteWriter) { write(value, &writer) }
    func add(to list: inout [Any]) { list.append(value) }
  }

  /// The maximum length of the data in a legacy advertising packet or scan response, in octets · Vol 6, Part B,
  /// 2.3.1.
  package static let maximumAdvertisingDataLength = 31
}
