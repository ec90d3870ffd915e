import BluetoothWire

/// A fault injector, which makes transmissions fail although their signals are good. Confined to the world; called for
/// every transmission, in the order of events.
package protocol AirFaults: AnyObject {
  /// Called when `record` begins. May replace its packet, channel, modulation and power; the duration is computed
  /// afterwards.
  func transmissionBegins(_ record: inout TransmissionRecord)
  /// Called when `record` has ended, for each receiver that was locked onto it. `reception` is the result without
  /// faults. May change its outcome and set its `replacement`.
  func change(_ reception: inout Reception, of record: TransmissionRecord)
  /// Called when all receivers of `record` have been processed, or when it was broken off.
  func transmissionEnded(_ record: TransmissionRecord)
}
