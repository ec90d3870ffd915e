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
    if fields.contains(where: { !$0.name.isEmpty }) {
      record.add(
        "fields", .list(fields.map { .object([("name", .text($0.name)), ("value", .text($0.value))]) }))
    }
    record.add("problem", problem)
  }
}
