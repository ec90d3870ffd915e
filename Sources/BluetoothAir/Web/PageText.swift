import BluetoothDissection
import BluetoothLab
import BluetoothNumbers
import BluetoothRadio
import BluetoothTypes
import BluetoothWire

// The texts of a page's messages. Documentation/Web.md describes them.

extension JSONText {
  /// Returns the number with at most `places` decimals.
  static func number(_ value: Double, places: Int) -> JSONText {
    guard value.isFinite else { return .number("0") }
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let rounded = (value * scale).rounded() / scale
    return .number(rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int64(rounded))" : "\(rounded)")
  }

  static func whole(_ value: some BinaryInteger) -> JSONText { .number("\(value)") }

  /// The time in seconds.
  static func time(_ instant: Instant) -> JSONText {
    .number(Double(instant.sinceZero.nanoseconds) / 1e9, places: 9)
  }

  static func level(_ level: Decibel) -> JSONText { .number(level.value, places: 2) }

  static func position(_ position: GridPosition) -> JSONText {
    .list([position.x, position.y, position.z].map { .number(Double($0) / 1_000, places: 3) })
  }

  static func hexadecimal(_ octets: some Collection<UInt8>) -> JSONText {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(2 * octets.count)
    for octet in octets {
      text.append(digits[Int(octet >> 4)])
      text.append(digits[Int(octet & 15)])
    }
    return .text(String(decoding: text, as: UTF8.self))
  }
}

/// The fields of an object, of which those without a value are left out.
struct PageFields {
  private(set) var all: [(String, JSONText)] = []

  init() {}

  /// The members of a field of a packet.
  init(_ field: PacketFields.Field) {
    add("name", field.name)
    add("value", field.value)
    add("from", .whole(field.range.lowerBound))
    add("to", .whole(field.range.upperBound))
    if !field.parts.isEmpty { add("fields", .list(field.parts.map { PageFields($0).object })) }
  }

  mutating func add(_ name: String, _ value: JSONText?) { if let value { all.append((name, value)) } }
  mutating func add(_ name: String, _ value: String?) { add(name, value.map { .text($0) }) }
  mutating func add(_ name: String, _ value: Bool?) { add(name, value.map { .flag($0) }) }

  var object: JSONText { .object(all) }
}

extension RadioPHY {
  /// The PHY as in messages of the page.
  var short: String {
    switch self {
    case .le1M: "1M"
    case .le2M: "2M"
    case .leCoded: "Coded"
    }
  }
}

extension UInt32 {
  /// The number with eight hexadecimal digits: the identifier of a link.
  var linkText: String {
    let digits = String(self, radix: 16, uppercase: true)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

extension InterferenceSource {
  var pageText: JSONText {
    var fields = PageFields()
    switch kind {
    case .wiFi: fields.add("kind", "wi-fi")
    case .microwaveOven: fields.add("kind", "microwave-oven")
    case .classicBluetooth: fields.add("kind", "classic-bluetooth")
    case .jammer: fields.add("kind", "jammer")
    }
    fields.add("position", .position(position))
    fields.add("power", .level(power))
    return fields.object
  }
}

extension PathLossModel {
  var pageText: JSONText {
    .object([
      ("reference", .level(reference)), ("exponent", .number(Double(exponent) / 100, places: 2)),
      ("margin", .level(margin)),
    ])
  }
}

extension DeviceAddress {
  /// The address without its kind.
  var octetsText: String { String(description.prefix { $0 != " " }) }
}
