import BluetoothWire

/// Who has transmissions fail although their signals are good. Confined to the world; asked for every transmission, in the
/// order in which they happen.
package protocol AirFaults: AnyObject {
  /// `record` begins. What it carries and how strong it is may be exchanged; how long it lasts is computed afterwards.
  func transmissionBegins(_ record: inout TransmissionRecord)
  /// What becomes of `record`, which has just ended, at a receiver that had locked onto it: `reception` says what its signal
  /// and its luck would make of it. Its outcome and its packet may be exchanged.
  func change(_ reception: inout Reception, of record: TransmissionRecord)
  /// All receivers of `record` have been asked, or it was broken off.
  func transmissionEnded(_ record: TransmissionRecord)
}
