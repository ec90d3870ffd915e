import BluetoothWire

/// The alerts that an app wants while it is suspended: options of `connect`.
package struct AlertKinds: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let connection = AlertKinds(rawValue: 1 << 0)
  package static let disconnection = AlertKinds(rawValue: 1 << 1)
  package static let notification = AlertKinds(rawValue: 1 << 2)
}

/// A message to the user about an event of a suspended app. There are three kinds, no more.
package struct Alert: Hashable, Sendable {
  package enum Kind: Hashable, Sendable { case connected, disconnected, notified }

  package var kind: Kind
  /// The app that has asked for the alert.
  package var app: String
  /// The peripheral's name, made harmless for a display; its identifier if it has none.
  package var peripheral: String
  package var time: Instant

  /// The text for the user.
  package var text: String {
    switch kind {
    case .connected: "\(peripheral) is connected"
    case .disconnected: "\(peripheral) is disconnected"
    case .notified: "\(peripheral) has sent a value"
    }
  }
}
