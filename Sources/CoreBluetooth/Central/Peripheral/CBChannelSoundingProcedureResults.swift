/// The results of one procedure of a channel sounding session (iOS 27). The system creates none here; see
/// `CBPeripheral.startChannelSoundingSession(_:)`.
open class CBChannelSoundingProcedureResults: NSObject {
  /// The measured distance in metres; negative if it is not valid, as in an object that an app creates.
  open var distance: Double { -1 }
}
