import BluetoothCrypto
import BluetoothWire
import TestVectors
import Testing

@testable import BluetoothHost

@Suite struct IdentityDescriptionTests {
  private static let key: UInt128 = 0xA1B2_C3D4_E5F6_0718_293A_4B5C_6D7E_8F90
  private let search = KeySearch(Block(key).bytes)

  @Test("The descriptions of identities, bonds and signing state contain no keys")
  func descriptions() {
    let block = Block(Self.key)
    let address = DeviceAddress(1, .public)
    #expect(!search.finds(in: HostIdentity(address: address, peerKey: Self.key, localKey: 1)))
    #expect(!search.finds(in: HostIdentity(address: address, peerKey: 1, localKey: Self.key)))
    #expect(!search.finds(in: Signer(key: block)))
    #expect(!search.finds(in: SignatureVerifier(key: block)))
    let key = LongTermKey(block, isAuthenticated: true, isSecureConnections: true)
    #expect(!search.finds(in: key))
    var bond = HostBond(identity: address)
    bond.key = key
    bond.peerIdentityKey = block
    bond.signatureMaker = Signer(key: block)
    #expect(!search.finds(in: bond))
    let outcome = PairingOutcome(method: .justWorks, isSecureConnections: true, keySize: 16, bond: bond)
    #expect(!search.finds(in: SecurityEvent.paired(outcome)))
  }

  @Test("The description of a host that knows identities contains no keys")
  func keeper() {
    var keeper = ResolvingListKeeper()
    keeper.set(
      [HostIdentity(address: DeviceAddress(1, .public), peerKey: Self.key, localKey: Self.key)],
      usesPrivateAddresses: true)
    #expect(!search.finds(in: keeper))
  }
}
