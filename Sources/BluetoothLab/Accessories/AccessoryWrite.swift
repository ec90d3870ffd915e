import BluetoothHost
import BluetoothWire

/// What a central writes at once, in whole values: one, or the several of a reliable write · Vol 3, Part G, 4.9.5.
struct AccessoryWrite {
  private var values: [(handle: AttributeHandle, octets: [UInt8])] = []

  /// Joins the parts of long values, in whichever order those of several values came.
  init(_ parts: GATTWriteParts) throws(AttributeError) {
    for part in parts {
      if let place = values.lastIndex(where: { $0.handle == part.handle }), part.offset == values[place].octets.count {
        values[place].octets += part.value.bytes
      } else {
        guard part.offset == 0 else { throw .invalidOffset }
        values.append((part.handle, part.value.bytes))
      }
    }
  }

  /// Hands the accessory one value after the other. When it refuses one, those before it are taken back with all that came
  /// of them: a reliable write is done whole or not at all.
  func perform<A: Accessory>(
    on accessory: inout A, _ attributes: AccessoryAttributes, _ session: inout AccessorySession
  ) throws(AttributeError) {
    let before = (accessory, session)
    for (place, value) in values.enumerated() {
      guard let path = attributes.path(at: value.handle) else { continue }
      do throws(AttributeError) {
        try accessory.write(value.octets, to: path, &session)
      } catch {
        // What the refusal of the first one has changed, like a count of attempts, is the accessory's own affair.
        if place > 0 { (accessory, session) = before }
        throw error
      }
    }
  }
}

extension AttributeError {
  /// 0x07
  static let invalidOffset = AttributeError(code: 0x07)
}
