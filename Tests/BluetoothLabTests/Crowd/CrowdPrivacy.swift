import BluetoothController
import BluetoothWire

/// The privacy of a host of a crowd: the devices that it knows, accepts and hides from.
extension CrowdHost {
  /// A device that others may know: its identity address, and the key of its private addresses; 0: it uses none.
  struct Acquaintance {
    let address: HCI.PeerAddress
    let key: UInt128
  }

  /// The addresses of a connection's ends on the air.
  struct AddressPair: Hashable {
    var central: UInt64
    var peripheral: UInt64
  }

  /// True if the host uses private addresses.
  var isPrivate: Bool { key != 0 }

  var ownAddressType: HCI.OwnAddressType { isPrivate ? .resolvableOrPublic : .public }

  /// The identity whose key generates the private address of an undirected set · Vol 4, Part E, 7.8.5.
  var introducer: HCI.PeerAddress {
    circle.isEmpty ? HCI.PeerAddress(type: 0, value: 0) : circle[below(circle.count)].address
  }

  /// Sends the other devices of the circle to the controller, which has just started.
  func meetCircle() {
    circle = notes.circle(of: number)
    for other in circle {
      send(.leAddDeviceToResolvingList(other.address, peerIRK: other.key, localIRK: key))
      if below(3) == 0 {
        tolerated.insert(other.address.value)
        send(.leSetPrivacyMode(other.address, isDevicePrivacy: true))
      }
      if below(3) != 0 {
        accepted.insert(other.address.value)
        send(.leAddDeviceToFilterAcceptList(other.address))
      }
    }
    send(.leSetResolvablePrivateAddressTimeout(UInt16(60 + below(240))))
    send(.leSetAddressResolutionEnable(true))
  }

  /// Returns true for the commands that must succeed, since no activity is running when they are sent.
  static func mustSucceed(_ command: HCI.Command) -> Bool {
    switch command {
    case .leAddDeviceToResolvingList, .leSetPrivacyMode, .leAddDeviceToFilterAcceptList,
      .leSetResolvablePrivateAddressTimeout, .leSetAddressResolutionEnable:
      true
    default: false
    }
  }

  /// Returns true now and then, to restrict the next activity to the filter accept list.
  func wantsFilter() -> Bool { !accepted.isEmpty && below(3) == 0 }

  /// Records whether the commanded activity is restricted to the filter accept list.
  func noteFilter(of command: HCI.Command) {
    switch command {
    case .leSetAdvertisingParameters(let parameters): advertisesToAccepted = parameters.filterPolicy & 0b10 != 0
    case .leSetExtendedAdvertisingParameters(let parameters) where parameters.handle.rawValue == 0:
      advertisesToAccepted = parameters.filterPolicy & 0b10 != 0
    case .leSetScanParameters(let parameters): scansForAccepted = parameters.filterPolicy & 0b01 != 0
    case .leSetExtendedScanParameters(let parameters): scansForAccepted = parameters.filterPolicy & 0b01 != 0
    case .leCreateConnection(let request): initiatesToAccepted = request.usesAcceptList
    case .leExtendedCreateConnection(let request): initiatesToAccepted = request.usesAcceptList
    default: break
    }
  }

  // MARK: Invariants

  /// Checks that a report agrees with the filter accept list.
  func checkFilter(_ address: HCI.PeerAddress, at now: Instant) {
    if address.type & 2 != 0, address.type < 4 { notes.done("resolved report") }
    guard scansForAccepted else { return }
    notes.done("filtered report")
    if !accepted.contains(address.value) { complain("\(address) is not on the accept list", at: now) }
  }

  /// Checks the peer of a new connection. Returns the addresses that both ends use for each other.
  func checkAddresses(_ connection: HCI.ConnectionComplete, at now: Instant) -> AddressPair {
    let (peer, isCentral) = (connection.peer, connection.role == 0)
    if isCentral ? initiatesToAccepted : advertisesToAccepted {
      notes.done(isCentral ? "connection to the accept list" : "connection from the accept list")
      if !accepted.contains(peer.value) { complain("\(peer) is connected and not on the accept list", at: now) }
    }
    let (local, remote) = (connection.localResolvablePrivateAddress, connection.peerResolvablePrivateAddress)
    if let other = circle.first(where: { $0.address.value == peer.value }) {
      if isPrivate, local == 0 { complain("\(peer) has got the identity of one who hides it", at: now) }
      if other.key != 0, remote == 0, !tolerated.contains(peer.value) {
        complain("\(peer) is connected without a private address", at: now)
      }
    }
    if local != 0, remote != 0 { notes.done("connection between private addresses") }
    if peer.type & 1 != 0, remote == 0 { notes.done("connection to a private address of a stranger") }
    let (own, others) = (local == 0 ? address : local, remote == 0 ? peer.value : remote)
    let pair = AddressPair(central: isCentral ? own : others, peripheral: isCentral ? others : own)
    if !isSpoiled, let link = links.last(where: { $0.isConnected && $0.handle == connection.handle }) {
      notes.checkAddresses(pair, of: link.accessAddress, at: now)
    }
    return pair
  }
}
