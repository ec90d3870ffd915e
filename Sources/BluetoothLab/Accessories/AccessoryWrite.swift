import BluetoothHost
import BluetoothWire

/// The characteristic values of one write: a single value, or all values of a reliable write · Vol 3, Part G, 4.9.5.
package struct AccessoryWrite {
  private var values: [(handle: AttributeHandle, octets: [UInt8])] = []

  /// Joins the parts of long values. Parts of several values may be interleaved.
  package init(_ parts: GATTWriteParts) throws(ATTErrorCode) {
    for part in parts {
      if let place = values.lastIndex(where: { $0.handle == part.handle }), part.offset == values[place].octets.count {
        values[place].octets += part.value.bytes
      } else {
        guard part.offset == 0 else { throw .invalidOffset }
        values.append((part.handle, part.value.bytes))
      }
    }
  }

  /// Writes the values to the accessory in order. If the accessory rejects any but the first, the accessory and the
  /// context are restored: a reliable write takes effect entirely or not at all.
  package func perform<A: Accessory>(
    on accessory: inout A, _ attributes: AccessoryAttributes<A>, in context: inout AccessoryContext
  ) throws(ATTErrorCode) {
    let before = (accessory, context)
    for (place, value) in values.enumerated() {
      guard let characteristic = attributes.characteristic(at: value.handle) else { continue }
      do throws(ATTErrorCode) {
        if let authorize = characteristic.authorize, !authorize(accessory, .write, context) {
          throw .insufficientAuthorization
        }
        try characteristic.write(&accessory, value.octets, &context)
      } catch {
        // Changes made while rejecting the first value, such as an attempt counter, are intended by the accessory.
        if place > 0 { (accessory, context) = before }
        throw error
      }
    }
  }
}
