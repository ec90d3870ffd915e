import BluetoothCrypto
import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// A central and a peripheral that have exchanged their keys.
final class PrivatePair {
  static let centralKey: UInt128 = 0xC0FF_EE00_0000_0001
  static let peripheralKey: UInt128 = 0xBADC_AB1E_0000_0002

  let air = PerfectAir()
  let central = ControllerHarness("central", address: 0x1111_1111_1111)
  let peripheral = ControllerHarness("peripheral", address: 0x2222_2222_2222)

  /// - Parameters:
  /// - resolves: True if both hosts enable address resolution.
  /// - isKnown: True if each device is on the other's resolving list.
  init(resolves: Bool = true, isKnown: Bool = true) {
    for device in [central, peripheral] {
      air.start(device)
    }
    if isKnown {
      add(peripheral, key: Self.peripheralKey, to: central, key: Self.centralKey)
      add(central, key: Self.centralKey, to: peripheral, key: Self.peripheralKey)
    }
    for device in [central, peripheral] { #expect(device.send(.leSetAddressResolutionEnable(resolves)) == .success) }
  }

  func add(_ peer: ControllerHarness, key: UInt128, to device: ControllerHarness, key own: UInt128) {
    #expect(
      device.send(.leAddDeviceToResolvingList(HCI.PeerAddress(peer.address), peerIRK: key, localIRK: own)) == .success)
  }

  func advertise(
    _ type: HCI.AdvertisingType = .connectableScannableUndirected, as own: HCI.OwnAddressType = .resolvableOrPublic,
    filterPolicy: UInt8 = 0
  ) {
    let parameters = HCI.AdvertisingParameters(
      minimumInterval: 160, maximumInterval: 160, type: type, ownAddressType: own,
      peer: HCI.PeerAddress(central.address), filterPolicy: filterPolicy)
    #expect(peripheral.send(.leSetAdvertisingParameters(parameters)) == .success)
    peripheral.send(.leSetAdvertisingData([2, 1, 6]))
    #expect(peripheral.send(.leSetAdvertisingEnable(true)) == .success)
  }

  func scan(isActive: Bool = false, as own: HCI.OwnAddressType = .resolvableOrPublic, filterPolicy: UInt8 = 0) {
    let parameters = HCI.ScanParameters(
      isActive: isActive, interval: 48, window: 48, ownAddressType: own, filterPolicy: filterPolicy)
    #expect(central.send(.leSetScanParameters(parameters)) == .success)
    #expect(central.send(.leSetScanEnable(true, filterDuplicates: false)) == .success)
  }

  func connect(usesAcceptList: Bool = false, as own: HCI.OwnAddressType = .resolvableOrPublic) {
    let request = HCI.CreateConnection(
      scanInterval: 48, scanWindow: 48, usesAcceptList: usesAcceptList, peer: HCI.PeerAddress(peripheral.address),
      ownAddressType: own,
      parameters: LinkParameters(
        minimumInterval: 24, maximumInterval: 24, latency: 0, supervisionTimeout: 200))
    #expect(central.send(.leCreateConnection(request)) == .success)
  }

  /// The advertiser's addresses in the log, in order and without consecutive repetitions.
  var advertisers: [DeviceAddress] {
    var result: [DeviceAddress] = []
    for sent in air.log where sent.device == peripheral.number {
      switch sent.advertisingPDU {
      case .advInd(let address, _, _)?, .advNonconnInd(let address, _)?, .advScanInd(let address, _)?,
        .advDirectInd(let address, _, _)?:
        if result.last != address { result.append(address) }
      case .extended(let payload)?:
        if let address = payload.advertiser, result.last != address { result.append(address) }
      default: break
      }
    }
    return result
  }

  static func isPrivate(_ address: DeviceAddress, _ key: UInt128) -> Bool {
    address.kind == .random && Toolbox.resolves(address.value, irk: Block(key))
  }
}
