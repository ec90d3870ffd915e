import BluetoothCrypto
import BluetoothWire

/// What has come, or is to go, another way than by LE · Vol 3, Part H, 2.3.5.6.4, 2.3.5.4.
package struct OutOfBand {
  /// What this device gives away for LE Secure Connections. The key pair is used in pairings with peers that say they have
  /// it, until other data are made.
  package struct Own {
    let keyPair: P256KeyPair
    /// LE Secure Connections Random Value.
    package let random: Block
    /// LE Secure Connections Confirmation Value.
    package let confirm: Block

    package init(using generator: inout some RandomNumberGenerator) {
      keyPair = P256KeyPair(using: &generator)
      random = Block(using: &generator)
      let x = keyPair.publicKey.x
      confirm = Toolbox.f4(u: x, v: x, x: random, z: 0)
    }
  }

  /// What a peer has given away for LE Secure Connections.
  package struct Peer: Hashable, Sendable {
    package var random: Block
    package var confirm: Block

    package init(random: Block, confirm: Block) {
      self.random = random
      self.confirm = confirm
    }
  }

  package var own: Own?
  /// By the address under which the peer is met.
  package var peers: [DeviceAddress: Peer] = [:]
  /// LE legacy pairing: the Security Manager TK Value that both devices have, by the peer's address.
  package var temporaryKeys: [DeviceAddress: Block] = [:]

  package init() {}
}

extension OutOfBand: CustomStringConvertible, CustomReflectable {
  /// Without the data.
  package var description: String { "OutOfBand(\(peers.count + temporaryKeys.count) peers)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
