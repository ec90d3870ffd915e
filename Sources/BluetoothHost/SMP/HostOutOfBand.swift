import BluetoothCrypto
import BluetoothWire

/// The out-of-band data that a device gives away for pairing, such as on an NFC tag, a label or a screen · Core
/// Specification Supplement, Part A, 1.16, 1.6.
package struct OutOfBandRecord: Hashable, Sendable {
  /// The address that the device will use for pairing.
  package let address: DeviceAddress
  /// The LE Secure Connections Random Value and Confirmation Value.
  package let data: OutOfBand.Peer
}

extension Host {
  /// Generates new out-of-band data; the previous data become invalid.
  package mutating func makeOutOfBandRecord() -> OutOfBandRecord {
    let own = OutOfBand.Own(using: &securityContext.generator)
    securityContext.outOfBand.own = own
    return OutOfBandRecord(
      address: ownIdentity, data: OutOfBand.Peer(random: own.random, confirm: own.confirm))
  }

  /// Generates a Temporary Key for this device and a peer with LE legacy pairing · Vol 3, Part H, 2.3.5.4.
  package mutating func makeTemporaryKey() -> Block { Block(using: &securityContext.generator) }

  /// Stores the out-of-band data of a peer.
  ///
  /// - Parameter temporaryKey: The Temporary Key that both devices have for LE legacy pairing; nil: none.
  package mutating func take(_ record: OutOfBandRecord, temporaryKey: Block? = nil) {
    securityContext.outOfBand.peers[record.address] = record.data
    if let temporaryKey { securityContext.outOfBand.temporaryKeys[record.address] = temporaryKey }
  }
}

extension OutOfBandRecord: CustomStringConvertible, CustomReflectable {
  /// A description without the data.
  package var description: String { "OutOfBandRecord(\(address))" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
