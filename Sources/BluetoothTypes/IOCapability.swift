/// The input and output capabilities of a device, which determine the pairing method · Vol 3, Part H, 2.3.2, 3.5.1.
@frozen public enum IOCapability: UInt8, Hashable, Sendable, CaseIterable {
  /// The device can show six digits.
  case displayOnly = 0x00
  /// The device can show six digits, and its user can answer yes or no.
  case displayYesNo = 0x01
  /// The user can type six digits.
  case keyboardOnly = 0x02
  /// The device has neither input nor output.
  case noInputNoOutput = 0x03
  /// The device can show six digits, and its user can type six digits and answer yes or no.
  case keyboardDisplay = 0x04
}

/// A keypress while a user types a passkey: the Notification Type of Pairing Keypress Notification · Vol 3, Part H,
/// 3.5.8.
@frozen public enum KeypressNotification: UInt8, Hashable, Sendable, CaseIterable {
  /// The user has started to type.
  case passkeyEntryStarted = 0x00
  /// The user has typed a digit.
  case passkeyDigitEntered = 0x01
  /// The user has erased a digit.
  case passkeyDigitErased = 0x02
  /// The user has erased all digits.
  case passkeyCleared = 0x03
  /// The passkey is complete.
  case passkeyEntryCompleted = 0x04
}
