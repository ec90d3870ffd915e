/// The error of a call: its name and its text · D-Bus Specification, "Message Types".
package struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
  package var name: String
  package var message: String

  package init(_ name: String, _ message: String = "") {
    self.name = name
    self.message = message
  }

  package var description: String { message.isEmpty ? name : "\(message) (\(name))" }

  /// The names of errors that all programs share, and the two of this module.
  package enum Name {
    private static let prefix = "org.freedesktop.DBus.Error."
    package static let failed = prefix + "Failed"
    package static let noReply = prefix + "NoReply"
    package static let noServer = prefix + "NoServer"
    package static let serviceUnknown = prefix + "ServiceUnknown"
    package static let nameHasNoOwner = prefix + "NameHasNoOwner"
    package static let unknownMethod = prefix + "UnknownMethod"
    package static let unknownObject = prefix + "UnknownObject"
    package static let unknownInterface = prefix + "UnknownInterface"
    package static let unknownProperty = prefix + "UnknownProperty"
    package static let propertyReadOnly = prefix + "PropertyReadOnly"
    package static let invalidArguments = prefix + "InvalidArgs"
    package static let invalidSignature = prefix + "InvalidSignature"
    package static let accessDenied = prefix + "AccessDenied"
    package static let limitsExceeded = prefix + "LimitsExceeded"
    package static let disconnected = prefix + "Disconnected"
    /// The machine has no libdbus-1. The text says what to install.
    package static let libraryMissing = prefix + "FileNotFound"
  }

  static let disconnected = DBusError(Name.disconnected, "the connection to the message bus has ended")
}
