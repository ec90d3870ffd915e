import BluetoothCrypto
import BluetoothWire

/// The out-of-band data of this device and its peers · Vol 3, Part H, 2.3.5.6.4, 2.3.5.4.
package struct OutOfBand {
  /// The data of this device for LE Secure Connections. Pairings with peers that have these data use their key pair,
  /// until new data are generated.
  package struct Own {
    let keyPair: P256KeyPair
    /// The LE Secure Connections Random Value.
    package let random: Block
    /// The LE Secure Connections Confirmation Value.
    package let confirm: Block

    package init(using generator: inout some RandomNumberGenerator) {
      keyPair = P256KeyPair(using: &generator)
      random = Block(using: &generator)
      let x = keyPair.publicKey.x
      confirm = Toolbox.f4(u: x, v: x, x: random, z: 0)
    }
  }

  /// The data of a peer for LE Secure Connections.
  package struct Peer: Hashable, Sendable {
    package var random: Block
    package var confirm: Block

    package init(random: Block, confirm: Block) {
      self.random = random
      self.confirm = confirm
    }
  }

  package var own: Own?
  /// The data of the peers, by the address that the peer uses for pairing.
  package var peers: [DeviceAddress: Peer] = [:]
  /// The Security Manager TK Values for LE legacy pairing, which both devices have, by the peer's address.
  package var temporaryKeys: [DeviceAddress: Block] = [:]

  package init() {}
}

extension OutOfBand: CustomStringConvertible, CustomReflectable {
  /// A description without the data.
  package var description: String { "OutOfBand(\(peers.count + temporaryKeys.count) peers)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
