import BluetoothCrypto
import BluetoothWire

/// What a device gives away for pairing, another way than by LE: on a tag, a label, a screen
/// · Core Specification Supplement, Part A, 1.16, 1.6.
package struct OutOfBandRecord: Hashable, Sendable {
  /// Under which address it is met.
  package let address: DeviceAddress
  /// LE Secure Connections Random Value and Confirmation Value.
  package let data: OutOfBand.Peer
}

extension Host {
  /// Makes new data to give away: what was given away before is good for nothing from now on.
  package mutating func makeOutOfBandRecord() -> OutOfBandRecord {
    let own = OutOfBand.Own(using: &securityContext.generator)
    securityContext.outOfBand.own = own
    return OutOfBandRecord(
      address: ownIdentity, data: OutOfBand.Peer(random: own.random, confirm: own.confirm))
  }

  /// A key that this device and a peer of LE legacy pairing are both to have · Vol 3, Part H, 2.3.5.4.
  package mutating func makeTemporaryKey() -> Block { Block(using: &securityContext.generator) }

  /// What a peer has given away.
  ///
  /// - Parameter temporaryKey: what both devices have for LE legacy pairing; nil: nothing.
  package mutating func take(_ record: OutOfBandRecord, temporaryKey: Block? = nil) {
    securityContext.outOfBand.peers[record.address] = record.data
    if let temporaryKey { securityContext.outOfBand.temporaryKeys[record.address] = temporaryKey }
  }
}

extension OutOfBandRecord: CustomStringConvertible, CustomReflectable {
  /// Without the data.
  package var description: String { "OutOfBandRecord(\(address))" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
