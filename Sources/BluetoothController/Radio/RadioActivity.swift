/// An activity that requests the radio for a time known in advance. The number is the activity's index in its table.
enum RadioActivity: Hashable {
  /// A connection event of `connections`.
  case connection(Int)
  /// The packet of an advertising set on a primary advertising channel.
  case advertising(Int)
  /// A packet that the set has announced, on a secondary advertising channel.
  case auxiliaryAdvertising(Int)
  /// A packet of the set's periodic advertising train.
  case periodicAdvertising(Int)
  /// An auxiliary packet that was announced to the scanner or the initiator.
  case auxiliaryReception(Int)
  /// An event of a periodic advertising train that this device is synchronized to, or is synchronizing to.
  case periodicSync(Int)
}
