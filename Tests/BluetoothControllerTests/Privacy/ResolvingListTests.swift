import BluetoothCrypto
import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Resolving list")
struct ResolvingListTests {
  private let peer = DeviceAddress(0x2222_2222_2222, .public)
  private let key: UInt128 = 0x1234_5678_9ABC
  private var random = RandomStream(seed: 3)

  private func list(isEnabled: Bool = true) -> ResolvingList {
    var list = ResolvingList()
    #expect(list.add(HCI.PeerAddress(peer), peerIRK: key, localIRK: 7) == .success)
    list.isEnabled = isEnabled
    return list
  }

  private mutating func privateAddress(_ key: UInt128) throws -> DeviceAddress {
    let key = try #require(IdentityResolvingKey(Block(key)))
    return DeviceAddress(key.newAddress(using: &random), .random)
  }

  @Test("A private address of a device on the list is resolved, and other addresses are not", .requirement("L111"))
  mutating func resolve() throws {
    var list = list()
    let (known, foreign) = (try privateAddress(key), try privateAddress(99))
    for address in [known, foreign, peer] { list.learn(address) }
    #expect(list.identify(known) == PeerIdentity(address: known, identity: peer, isIgnored: false))
    #expect(list.identify(known).hciAddress == HCI.PeerAddress(type: 2, value: peer.value))
    #expect(list.identify(foreign) == PeerIdentity(address: foreign, identity: foreign, isIgnored: false))
    #expect(list.peerAddress(of: HCI.PeerAddress(peer)) == known)
  }

  @Test("With resolution disabled no address is resolved, and network privacy mode still applies")
  mutating func disabled() throws {
    var list = list(isEnabled: false)
    let address = try privateAddress(key)
    list.learn(address)
    #expect(!list.identify(address).isResolved)
    #expect(list.identify(peer).isIgnored)
  }

  @Test("An address that could not be resolved is tried again after a change of the list")
  mutating func unresolved() throws {
    var list = list()
    let address = try privateAddress(99)
    list.learn(address)
    #expect(list.add(HCI.PeerAddress(type: 1, value: 0xC000_0000_0005), peerIRK: 99, localIRK: 0) == .success)
    list.learn(address)
    #expect(list.identify(address).identity == DeviceAddress(0xC000_0000_0005, .random))
  }

  @Test("An identity address is ignored in network privacy mode, unless the device has no key")
  func privacyModes() {
    var list = list()
    #expect(list.identify(peer).isIgnored)
    #expect(list.setPrivacyMode(of: HCI.PeerAddress(peer), usesDevicePrivacy: true) == .success)
    #expect(!list.identify(peer).isIgnored)
    let keyless = HCI.PeerAddress(type: 0, value: 9)
    #expect(list.add(keyless, peerIRK: 0, localIRK: 7) == .success)
    #expect(!list.identify(DeviceAddress(9, .public)).isIgnored)
  }

  @Test("A key of zeros generates no address and resolves none")
  mutating func keyOfZeros() throws {
    var list = ResolvingList()
    list.isEnabled = true
    #expect(list.add(HCI.PeerAddress(peer), peerIRK: 0, localIRK: 0) == .success)
    #expect(list.localAddress(for: peer, at: .zero, random: &random) == nil)
    #expect(list.targetAddress(for: peer, at: .zero, random: &random) == nil)
    let zeros = Toolbox.ah(irk: .zero, prand: 0x40_0001)
    let address = DeviceAddress(0x4000_01 << 24 | UInt64(zeros), .random)
    list.learn(address)
    #expect(!list.identify(address).isResolved)
  }

  @Test("All own addresses change at the timeout, and not before")
  mutating func renewal() throws {
    var list = list()
    let others = (1...3).map { DeviceAddress($0, .public) }
    for other in others {
      let key = UInt128(other.value)
      #expect(list.add(HCI.PeerAddress(other), peerIRK: 100 + key, localIRK: 200 + key) == .success)
    }
    #expect(list.setTimeout(60, at: .zero) == .success)
    let peers = [peer] + others
    /// Returns the addresses that the device and its peers have at that time.
    func addresses(seconds: Int64) throws -> (own: [DeviceAddress], targets: [DeviceAddress]) {
      let now = Instant.zero + .seconds(seconds)
      var result: (own: [DeviceAddress], targets: [DeviceAddress]) = ([], [])
      for peer in peers {
        result.own.append(try #require(list.localAddress(for: peer, at: now, random: &random)))
        result.targets.append(try #require(list.targetAddress(for: peer, at: now, random: &random)))
      }
      return result
    }
    let first = try addresses(seconds: 0)
    #expect(first.own.allSatisfy(list.isOwn) && !first.targets.contains(where: list.isOwn))
    #expect(try addresses(seconds: 59) == first)
    let second = try addresses(seconds: 60)
    let keys: [UInt64] = [7, 201, 202, 203]
    for index in peers.indices {
      #expect(second.own[index] != first.own[index] && second.targets[index] != first.targets[index], "\(index)")
      #expect(Toolbox.resolves(second.own[index].value, irk: Block(high: 0, low: keys[index])), "\(index)")
    }
    #expect(try addresses(seconds: 119) == second)
  }

  @Test("Each device and each key can be on the list once, and the capacity is limited")
  func adding() {
    var list = list()
    let other = HCI.PeerAddress(type: 1, value: peer.value | 0xC000_0000_0000)
    #expect(list.add(HCI.PeerAddress(peer), peerIRK: 5, localIRK: 5) == .invalidHCICommandParameters)
    #expect(list.add(other, peerIRK: key, localIRK: 5) == .invalidHCICommandParameters)
    #expect(list.add(HCI.PeerAddress(type: 2, value: 1), peerIRK: 5, localIRK: 5) == .invalidHCICommandParameters)
    for value in 1..<UInt64(ResolvingList.capacity) {
      #expect(list.add(HCI.PeerAddress(type: 0, value: value), peerIRK: 0, localIRK: 5) == .success)
    }
    #expect(list.add(other, peerIRK: 0, localIRK: 5) == .memoryCapacityExceeded)
    #expect(list.remove(other) == .unknownConnectionIdentifier)
    #expect(list.remove(HCI.PeerAddress(peer)) == .success)
    #expect(list.add(other, peerIRK: key, localIRK: 5) == .success)
  }

  @Test("The timeout is from 1 s to 1 h")
  func timeouts() {
    var list = list()
    for seconds in [UInt16(0), 0x0E11, 0xFFFF] {
      #expect(list.setTimeout(seconds, at: .zero) == .invalidHCICommandParameters)
    }
    #expect(list.setTimeout(0x0E10, at: .zero) == .success)
  }
}
