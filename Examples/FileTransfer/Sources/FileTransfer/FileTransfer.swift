import CoreBluetooth

/// The UUIDs and the format that both sides of a transfer share.
///
/// The receiver publishes an L2CAP channel, and its PSM in a characteristic. The sender opens the channel. It writes
/// the length of the file in eight octets, the most significant first, and then the file. The receiver closes the
/// channel when it has everything: that is the confirmation.
public enum FileTransfer {
  /// The UUID of the service.
  public static let service = CBUUID(string: "4F1E0001-9C1B-4E39-8F68-BF1C4A2D3B55")
  /// The UUID of the characteristic with the PSM, as Apple defines it: two octets, the least significant first.
  public static let psm = CBUUID(string: CBUUIDL2CAPPSMCharacteristicString)
  static let headerLength = 8

  /// An error of a transfer.
  public enum Failure: Error, Equatable {
    /// The peripheral lacks the service, the characteristic or a valid PSM.
    case notAReceiver
    /// The file has more octets than the receiver accepts.
    case tooLong
    /// The channel has closed before the file was complete.
    case incomplete(octets: Int, of: Int)
  }
}
