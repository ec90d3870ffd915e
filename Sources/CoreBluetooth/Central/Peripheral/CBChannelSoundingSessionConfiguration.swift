/// The parameters of a channel sounding session (iOS 27), with which two devices measure their distance. No session
/// starts here; see `CBPeripheral.startChannelSoundingSession(_:)`.
open class CBChannelSoundingSessionConfiguration: NSObject {
  /// The role of this device in a session.
  public enum Role: Int, Sendable {
    /// This device starts the procedures. Apple's number is not known.
    case initiator = 0
  }

  private let role: Role

  /// Creates the parameters of a session in which this device has `role`.
  public init(role: Role) {
    self.role = role
    super.init()
  }

  open override var description: String { "<\(Swift.type(of: self)): \(addressText(of: self)), role = \(role)>" }
}
