/// An error code of the controller; also the reason for a disconnection · Vol 1, Part F. Any octet can arrive; only the
/// codes that this project uses have names.
@frozen public struct HCIErrorCode: RawRepresentable, Hashable, Sendable, Error {
  /// The code.
  public let rawValue: UInt8

  /// Creates the error with this code. Every octet is valid.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  // Written out, because the synthesized function can't be inlined in other modules.
  @inlinable public static func == (left: HCIErrorCode, right: HCIErrorCode) -> Bool { left.rawValue == right.rawValue }

  /// Success (0x00).
  @inlinable public static var success: HCIErrorCode { HCIErrorCode(rawValue: 0x00) }
  /// The controller does not know the command (0x01).
  @inlinable public static var unknownHCICommand: HCIErrorCode { HCIErrorCode(rawValue: 0x01) }
  /// There is no such connection (0x02).
  @inlinable public static var unknownConnectionIdentifier: HCIErrorCode { HCIErrorCode(rawValue: 0x02) }
  /// The controller's hardware failed (0x03).
  @inlinable public static var hardwareFailure: HCIErrorCode { HCIErrorCode(rawValue: 0x03) }
  /// Pairing or authentication failed (0x05).
  @inlinable public static var authenticationFailure: HCIErrorCode { HCIErrorCode(rawValue: 0x05) }
  /// The key of the bond is missing (0x06).
  @inlinable public static var pinOrKeyMissing: HCIErrorCode { HCIErrorCode(rawValue: 0x06) }
  /// The controller's memory is full (0x07).
  @inlinable public static var memoryCapacityExceeded: HCIErrorCode { HCIErrorCode(rawValue: 0x07) }
  /// No packet was received within the supervision timeout (0x08).
  @inlinable public static var connectionTimeout: HCIErrorCode { HCIErrorCode(rawValue: 0x08) }
  /// The controller has no room for another connection (0x09).
  @inlinable public static var connectionLimitExceeded: HCIErrorCode { HCIErrorCode(rawValue: 0x09) }
  /// The devices are connected already (0x0B).
  @inlinable public static var connectionAlreadyExists: HCIErrorCode { HCIErrorCode(rawValue: 0x0B) }
  /// The command is not allowed in this state (0x0C).
  @inlinable public static var commandDisallowed: HCIErrorCode { HCIErrorCode(rawValue: 0x0C) }
  /// The device rejected the connection for lack of resources (0x0D).
  @inlinable public static var connectionRejectedLimitedResources: HCIErrorCode { HCIErrorCode(rawValue: 0x0D) }
  /// The controller does not support a feature or a value of the command (0x11).
  @inlinable public static var unsupportedFeatureOrParameterValue: HCIErrorCode { HCIErrorCode(rawValue: 0x11) }
  /// A parameter of the command is invalid (0x12).
  @inlinable public static var invalidHCICommandParameters: HCIErrorCode { HCIErrorCode(rawValue: 0x12) }
  /// The peer, or its user, ended the connection (0x13).
  @inlinable public static var remoteUserTerminatedConnection: HCIErrorCode { HCIErrorCode(rawValue: 0x13) }
  /// The peer ended the connection for lack of resources (0x14).
  @inlinable public static var remoteDeviceTerminatedLowResources: HCIErrorCode { HCIErrorCode(rawValue: 0x14) }
  /// The peer ended the connection, because it is powered off (0x15).
  @inlinable public static var remoteDeviceTerminatedPowerOff: HCIErrorCode { HCIErrorCode(rawValue: 0x15) }
  /// The local host ended the connection (0x16).
  @inlinable public static var connectionTerminatedByLocalHost: HCIErrorCode { HCIErrorCode(rawValue: 0x16) }
  /// The peer does not support the feature (0x1A).
  @inlinable public static var unsupportedRemoteFeature: HCIErrorCode { HCIErrorCode(rawValue: 0x1A) }
  /// A parameter of an LL Control PDU is invalid (0x1E).
  @inlinable public static var invalidLLParameters: HCIErrorCode { HCIErrorCode(rawValue: 0x1E) }
  /// No other error code is appropriate (0x1F).
  @inlinable public static var unspecifiedError: HCIErrorCode { HCIErrorCode(rawValue: 0x1F) }
  /// The peer does not support a value of an LL Control PDU (0x20).
  @inlinable public static var unsupportedLLParameterValue: HCIErrorCode { HCIErrorCode(rawValue: 0x20) }
  /// The peer did not respond to an LL Control PDU within 40 s (0x22).
  @inlinable public static var llResponseTimeout: HCIErrorCode { HCIErrorCode(rawValue: 0x22) }
  /// Both devices started the same link layer procedure (0x23).
  @inlinable public static var llProcedureCollision: HCIErrorCode { HCIErrorCode(rawValue: 0x23) }
  /// The LL Control PDU is not allowed in this state (0x24).
  @inlinable public static var lmpPDUNotAllowed: HCIErrorCode { HCIErrorCode(rawValue: 0x24) }
  /// The instant of a link layer procedure has passed (0x28).
  @inlinable public static var instantPassed: HCIErrorCode { HCIErrorCode(rawValue: 0x28) }
  /// Both devices started link layer procedures that exclude each other (0x2A).
  @inlinable public static var differentTransactionCollision: HCIErrorCode { HCIErrorCode(rawValue: 0x2A) }
  /// The controller is busy (0x3A).
  @inlinable public static var controllerBusy: HCIErrorCode { HCIErrorCode(rawValue: 0x3A) }
  /// The connection parameters are not acceptable (0x3B).
  @inlinable public static var unacceptableConnectionParameters: HCIErrorCode { HCIErrorCode(rawValue: 0x3B) }
  /// The advertising duration expired, or directed advertising ended without a connection (0x3C).
  @inlinable public static var advertisingTimeout: HCIErrorCode { HCIErrorCode(rawValue: 0x3C) }
  /// The connection ended, because a Message Integrity Check failed (0x3D).
  @inlinable public static var connectionTerminatedMICFailure: HCIErrorCode { HCIErrorCode(rawValue: 0x3D) }
  /// The peer sent no packet in the first six connection events (0x3E).
  @inlinable public static var connectionFailedToBeEstablished: HCIErrorCode { HCIErrorCode(rawValue: 0x3E) }
  /// There is no such advertising set or periodic train (0x42).
  @inlinable public static var unknownAdvertisingIdentifier: HCIErrorCode { HCIErrorCode(rawValue: 0x42) }
  /// The advertising set has sent its maximum number of events (0x43).
  @inlinable public static var limitReached: HCIErrorCode { HCIErrorCode(rawValue: 0x43) }
  /// The host cancelled the operation (0x44).
  @inlinable public static var operationCancelledByHost: HCIErrorCode { HCIErrorCode(rawValue: 0x44) }
  /// The packet is too long (0x45).
  @inlinable public static var packetTooLong: HCIErrorCode { HCIErrorCode(rawValue: 0x45) }
}

extension HCIErrorCode: CustomStringConvertible {
  /// The code as `0x` and two hexadecimal digits.
  public var description: String { "0x" + rawValue.hexadecimal }
}
