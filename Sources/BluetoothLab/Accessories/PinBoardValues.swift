import BluetoothProfiles

extension PinBoard {
  /// A digital pin.
  public enum Pin: UInt8, Hashable, Sendable, CaseIterable {
    case pio0 = 0
    case pio1 = 1
    case pio2 = 2
    case pio3 = 3
    case pio4 = 4
    case pio5 = 5
    case pio6 = 6
    case pio7 = 7

    /// The pin of the switch S1.
    public static let s1 = Pin.pio0
    /// The pin of LED 2.
    public static let led2 = Pin.pio1
    /// The pin of LED 3.
    public static let led3 = Pin.pio2
    /// The pin of LED 4.
    public static let led4 = Pin.pio3
    /// The pin of LED 5.
    public static let led5 = Pin.pio4

    /// Reads the number of a pin. Throws `outOfRange` if there is no such pin.
    fileprivate init(from reader: inout ValueReader) throws(ValueError) {
      guard let pin = Pin(rawValue: try reader.uint8()) else { throw .outOfRange(field: "Pin") }
      self = pin
    }
  }

  /// An analog pin.
  public enum AnalogPin: UInt8, Hashable, Sendable, CaseIterable {
    case aio0 = 0
    case aio1 = 1
    case aio2 = 2
  }

  /// The level of a digital pin.
  public enum Level: Hashable, Sendable, CaseIterable {
    case low, high
  }

  /// A set of digital pins in one octet: bit n is pin n.
  public struct Pins: OptionSet, AttributeValue {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates the set of these pins.
    public init(_ pins: Pin...) { self.init(rawValue: pins.reduce(0) { $0 | 1 << $1.rawValue }) }

    /// Returns true if the set has this pin.
    public func contains(_ pin: Pin) -> Bool { contains(Pins(pin)) }
  }

  /// A period or a duty of pulse-width modulation: the pin, then the time in microseconds with the most significant
  /// octet first.
  public struct PulseTime: AttributeValue {
    /// The pin.
    public var pin: Pin
    /// The time in microseconds.
    public var microseconds: UInt32

    /// Creates a time for this pin.
    public init(_ pin: Pin, microseconds: UInt32) { (self.pin, self.microseconds) = (pin, microseconds) }

    /// Reads the pin and the time. Throws `outOfRange` if there is no such pin.
    public init(from reader: inout ValueReader) throws(ValueError) {
      pin = try Pin(from: &reader)
      microseconds = try reader.uint32().byteSwapped
    }

    /// Appends the pin and the time.
    public func write(to writer: inout ValueWriter) {
      writer.integer(pin.rawValue)
      writer.integer(microseconds.byteSwapped)
    }
  }

  /// The voltage of an analog output: the pin, then the voltage in millivolts with the most significant octet first.
  public struct AnalogOutput: AttributeValue {
    /// The pin.
    public var pin: AnalogPin
    /// The voltage in millivolts.
    public var millivolts: UInt16

    /// Creates a voltage for this pin.
    public init(_ pin: AnalogPin, millivolts: UInt16) { (self.pin, self.millivolts) = (pin, millivolts) }

    /// Reads the pin and the voltage. Throws `outOfRange` if there is no such pin.
    public init(from reader: inout ValueReader) throws(ValueError) {
      guard let pin = AnalogPin(rawValue: try reader.uint8()) else { throw .outOfRange(field: "Pin") }
      self.pin = pin
      millivolts = try reader.uint16().byteSwapped
    }

    /// Appends the pin and the voltage.
    public func write(to writer: inout ValueWriter) {
      writer.integer(pin.rawValue)
      writer.integer(millivolts.byteSwapped)
    }
  }

  /// The voltage of an analog pin in millivolts, with the most significant octet first.
  public struct Voltage: AttributeValue {
    /// The voltage in millivolts.
    public var millivolts: UInt16

    /// Creates a voltage.
    public init(millivolts: UInt16) { self.millivolts = millivolts }

    /// Reads the voltage.
    public init(from reader: inout ValueReader) throws(ValueError) { millivolts = try reader.uint16().byteSwapped }

    /// Appends the voltage.
    public func write(to writer: inout ValueWriter) { writer.integer(millivolts.byteSwapped) }
  }

  /// The command of Hardware Reset.
  public enum Reset: UInt8, AttributeValue {
    /// The board restarts.
    case restart = 1
  }
}
