import BluetoothLab
import CoreBluetoothExtras

/// An event of a played accessory, for a log.
package struct PlayedEvent: Sendable {
  package enum Kind: Sendable {
    case advertising
    case read([UInt8])
    /// A write, with the error by which the accessory has rejected it; nil: none.
    case written([UInt8], ATTErrorCode?)
    case subscribed
    case unsubscribed
  }

  package let kind: Kind
  /// The characteristic; nil for `advertising`.
  package let path: CharacteristicPath?
  /// The central; nil for `advertising`.
  package let central: RemoteCentral?

  init(_ kind: Kind, _ path: CharacteristicPath?, by central: RemoteCentral?) {
    (self.kind, self.path, self.central) = (kind, path, central)
  }
}
