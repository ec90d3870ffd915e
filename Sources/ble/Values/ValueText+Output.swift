import BluetoothAir
import BluetoothDissection
import BluetoothProfiles
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras

extension ValueText {
  /// Creates the text of a value of a characteristic or descriptor.
  ///
  /// - Parameter format: the presentation format of the characteristic; nil: none.
  init(_ value: some Sequence<UInt8>, of uuid: CBUUID, format: PresentationFormat? = nil) {
    self.init(value, of: BluetoothUUID(uuid.uuidString), format: format)
  }

  /// Creates the text of a descriptor's value.
  init(_ value: DescriptorValue, of uuid: CBUUID) {
    switch value {
    case .number(let number): self.init([UInt8(number & 0xFF), UInt8(number >> 8)], of: uuid)
    case .text(let text): self.init(Array(text.utf8), of: uuid)
    case .data(let data): self.init(data, of: uuid)
    }
  }

  /// Adds the fields of the value to a record.
  func add(to record: inout JSONRecord) {
    record.add("value", "0x" + octets.digits)
    record.add("text", text)
    record.add("decoded", decoded)
    for (name, value) in fields.json { record.add(name, value) }
    record.add("problem", problem)
  }
}

extension [ValueField] {
  /// The members of an object for a value: `number` and `unit` of a single number, or `fields`.
  var json: [(String, JSONText)] {
    guard let first, count > 1 || !first.name.isEmpty else { return self.first?.numberJSON ?? [] }
    return [
      (
        "fields",
        .list(
          map { field in
            let number = field.numberJSON
            return .object([("name", .text(field.name))] + (number.isEmpty ? [("text", .text(field.value))] : number))
          })
      )
    ]
  }
}

extension ValueField {
  /// The members of an object for the number of the field; none if it has no number.
  fileprivate var numberJSON: [(String, JSONText)] {
    guard let number else { return [] }
    return [("number", .number(number))] + (unit.isEmpty ? [] : [("unit", .text(unit))])
  }
}
