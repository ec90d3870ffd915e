import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Vol 6, Part B, 6.3, 6.4.
@Suite("Directed advertising to a device with private addresses")
struct DirectedPrivacyTests {
  /// Returns a pair whose peripheral has no key of the central, and so addresses the central by its identity address.
  private func pair(isLegacy: Bool, isDevicePrivacy: Bool = false) -> PrivatePair {
    let pair = PrivatePair(isKnown: false)
    pair.add(pair.peripheral, key: PrivatePair.peripheralKey, to: pair.central, key: PrivatePair.centralKey)
    pair.central.send(
      .leSetPrivacyMode(HCI.PeerAddress(pair.peripheral.address), isDevicePrivacy: isDevicePrivacy))
    pair.add(pair.central, key: 0, to: pair.peripheral, key: PrivatePair.peripheralKey)
    if isLegacy {
      pair.advertise(.connectableDirectedLowDutyCycle)
    } else {
      let parameters = HCI.ExtendedAdvertisingParameters.every100ms(1, [.connectable, .directed]) {
        $0.ownAddressType = .resolvableOrPublic
        $0.peer = HCI.PeerAddress(pair.central.address)
      }
      #expect(pair.peripheral.send(.leSetExtendedAdvertisingParameters(parameters)) == .success)
      #expect(pair.peripheral.enable(1) == .success)
    }
    return pair
  }

  private func connect(_ pair: PrivatePair, isLegacy: Bool, as own: HCI.OwnAddressType) {
    guard !isLegacy else { return pair.connect(as: own) }
    var request = HCI.ExtendedCreateConnection.extended(to: pair.peripheral)
    request.ownAddressType = own
    #expect(pair.central.send(.leExtendedCreateConnection(request)) == .success)
  }

  @Test("An initiator with a private address ignores advertising to its identity address", arguments: [true, false])
  func initiator(isLegacy: Bool) {
    // The mode concerns the peer's own address, which is private here.
    for isDevicePrivacy in [false, true] {
      let pair = pair(isLegacy: isLegacy, isDevicePrivacy: isDevicePrivacy)
      connect(pair, isLegacy: isLegacy, as: .resolvableOrPublic)
      pair.air.run(for: .seconds(1))
      #expect(pair.central.connectionCompletes.isEmpty)
      #expect(!pair.air.log.contains { $0.device == pair.central.number })
    }
  }

  @Test("An initiator that uses its identity address answers advertising to that address", arguments: [true, false])
  func initiatorWithIdentity(isLegacy: Bool) {
    let pair = pair(isLegacy: isLegacy)
    connect(pair, isLegacy: isLegacy, as: .public)
    pair.air.run(for: .seconds(1))
    #expect(pair.central.connectionCompletes.map(\.status) == [.success])
  }

  @Test("A scanner reports advertising to its identity address, whatever address it uses itself")
  func scanner() {
    let pair = pair(isLegacy: true)
    pair.scan()
    pair.air.run(for: .seconds(1))
    #expect(!pair.central.reports.isEmpty)
    #expect(pair.central.reports.allSatisfy { $0.type == .connectableDirected })
  }
}
