import BluetoothNumbers
import BluetoothWire

/// A Bluetooth UUID of 16, 32 or 128 bits. The short and long forms of a UUID are equal and have the same hash.
open class CBUUID: NSObject, NSCopying, @unchecked Sendable {
  // Immutable after init, but the compiler can't verify that for an open class.
  let wire: BluetoothUUID

  init(_ wire: BluetoothUUID) {
    self.wire = wire
    super.init()
  }

  /// Creates the UUID with 128 zero bits.
  public override init() {
    wire = BluetoothUUID(high: 0, low: 0)
    super.init()
  }

  /// Creates a UUID from text: 4 or 8 hexadecimal digits, or 36 characters with hyphens. Any other text stops the
  /// program.
  public init(string theString: String) {
    guard let wire = BluetoothUUID(theString) else {
      raise("String \(theString) does not represent a valid UUID")
    }
    self.wire = wire
    super.init()
  }

  /// Creates a UUID from 2, 4 or 16 octets, most significant first. Any other number of octets stops the program.
  public init(data theData: Data) {
    guard let wire = BluetoothUUID(bigEndian: theData) else {
      raise("Data \(Array(theData)) does not represent a valid UUID")
    }
    self.wire = wire
    super.init()
  }

  /// Creates a 128-bit UUID from `theUUID`.
  public init(nsuuid theUUID: UUID) {
    let halves = theUUID.halves
    wire = BluetoothUUID(high: halves.high, low: halves.low)
    super.init()
  }

  /// The UUID's 2, 4 or 16 octets in its original width, most significant first.
  open var data: Data {
    var octets = Data(capacity: wire.width.rawValue)
    switch wire.width {
    case .bits16: octets.append(bigEndian: UInt16(truncatingIfNeeded: wire.high >> 32))
    case .bits32: octets.append(bigEndian: UInt32(truncatingIfNeeded: wire.high >> 32))
    case .bits128:
      octets.append(bigEndian: wire.high)
      octets.append(bigEndian: wire.low)
    }
    return octets
  }

  /// The UUID as text of 4, 8 or 36 characters, in upper case.
  open var uuidString: String { wire.description }

  /// The assigned name of the UUID if it has one, otherwise `uuidString`.
  open override var description: String { wire.shortValue.flatMap { AssignedNumbers.name(of: $0) } ?? uuidString }

  /// Returns the object itself, because CBUUIDs are immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CBUUID else { return false }
    return wire == other.wire
  }

  open override var hash: Int { Int(truncatingIfNeeded: wire.high &* 0x9E37_79B9_7F4A_7C15 ^ wire.low) }
}

extension BluetoothUUID {
  /// Creates a UUID from 2, 4 or 16 octets. Returns nil for another count.
  init?(bigEndian octets: Data) {
    func number(_ part: Data) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
    switch octets.count {
    case 2: self.init(UInt16(truncatingIfNeeded: number(octets)))
    case 4: self.init(UInt32(truncatingIfNeeded: number(octets)))
    case 16: self.init(high: number(octets.prefix(8)), low: number(octets.suffix(8)))
    default: return nil
    }
  }
}

extension UUID {
  /// The first and the last eight octets as big-endian numbers.
  var halves: (high: UInt64, low: UInt64) {
    withUnsafeBytes(of: uuid) { octets in
      (
        UInt64(bigEndian: octets.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: octets.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  init(high: UInt64, low: UInt64) {
    var octets = uuid_t(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &octets) { buffer in
      buffer.storeBytes(of: high.bigEndian, as: UInt64.self)
      buffer.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    self.init(uuid: octets)
  }
}

extension Data {
  fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
