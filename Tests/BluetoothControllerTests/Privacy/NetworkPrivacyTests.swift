import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// LE Set Address Resolution Enable controls only the resolution of private addresses. A device on the resolving list
/// with a known key still may not use its identity address · Vol 6, Part B, 4.7; Vol 4, Part E, 7.8.44, 7.8.77.
@Suite("Network privacy without address resolution")
struct NetworkPrivacyTests {
  /// Returns a pair without address resolution. `isDevicePrivacy` is the mode that `device` uses for its peer; the
  /// other device accepts every address.
  private func pair(of device: (PrivatePair) -> ControllerHarness, isDevicePrivacy: Bool) -> PrivatePair {
    let pair = PrivatePair(resolves: false)
    for (one, other) in [(pair.central, pair.peripheral), (pair.peripheral, pair.central)] {
      let accepts = one !== device(pair) || isDevicePrivacy
      #expect(one.send(.leSetPrivacyMode(HCI.PeerAddress(other.address), isDevicePrivacy: accepts)) == .success)
    }
    return pair
  }

  @Test("A scanner reports a peer's identity address in device privacy mode only", arguments: [false, true])
  func scanner(isDevicePrivacy: Bool) {
    let pair = pair(of: \.central, isDevicePrivacy: isDevicePrivacy)
    pair.advertise(as: .public)
    pair.scan(isActive: true, as: .public)
    pair.air.run(for: .seconds(1))
    #expect(pair.central.reports.isEmpty != isDevicePrivacy)
    #expect(pair.air.log.contains { $0.device == pair.central.number } == isDevicePrivacy)
  }

  @Test("A scanner reports extended advertising with an identity address in device privacy mode only")
  func extendedScanner() {
    for isDevicePrivacy in [false, true] {
      let pair = pair(of: \.central, isDevicePrivacy: isDevicePrivacy)
      #expect(pair.peripheral.send(.leSetExtendedAdvertisingParameters(.every100ms())) == .success)
      pair.peripheral.setData([2, 1, 6])
      pair.peripheral.enable(1)
      pair.central.startScan()
      pair.air.run(for: .seconds(1))
      #expect(pair.central.extendedReports.isEmpty != isDevicePrivacy)
    }
  }

  @Test(
    "A scanner synchronizes to the train of a peer's identity address in device privacy mode only",
    arguments: [false, true])
  func synchronizer(isDevicePrivacy: Bool) {
    let pair = pair(of: \.central, isDevicePrivacy: isDevicePrivacy)
    let (scanner, advertiser) = (pair.central, pair.peripheral)
    let set = HCI.ExtendedAdvertisingParameters.every100ms { $0.advertisingSID = 3 }
    #expect(advertiser.send(.leSetExtendedAdvertisingParameters(set)) == .success)
    let parameters = HCI.PeriodicAdvertisingParameters(handle: 1, minimumInterval: 40, maximumInterval: 40)
    #expect(advertiser.send(.leSetPeriodicAdvertisingParameters(parameters)) == .success)
    #expect(advertiser.setPeriodicData([7]) == .success)
    #expect(advertiser.send(.leSetPeriodicAdvertisingEnable(.enabled, 1)) == .success)
    #expect(advertiser.enable(1) == .success)
    scanner.startScan()
    let train = HCI.PeriodicAdvertiser(HCI.PeerAddress(advertiser.address), advertisingSID: 3)
    let request = HCI.PeriodicAdvertisingCreateSync(advertiser: train, keeping: HCI.SyncKeeping(timeout: 100))
    #expect(scanner.send(.lePeriodicAdvertisingCreateSync(request)) == .success)
    pair.air.run(for: .seconds(2))
    #expect(scanner.syncs.map(\.0) == (isDevicePrivacy ? [.success] : []))
  }

  @Test("An initiator connects to a peer's identity address in device privacy mode only", arguments: [false, true])
  func initiator(isDevicePrivacy: Bool) {
    let pair = pair(of: \.central, isDevicePrivacy: isDevicePrivacy)
    pair.advertise(as: .public)
    pair.connect(as: .public)
    pair.air.run(for: .seconds(1))
    #expect(pair.central.connectionCompletes.isEmpty != isDevicePrivacy)
  }

  @Test("An advertiser lets a central connect by its identity address in device privacy mode only")
  func advertiserConnection() {
    for isDevicePrivacy in [false, true] {
      let pair = pair(of: \.peripheral, isDevicePrivacy: isDevicePrivacy)
      pair.advertise(as: .public)
      pair.connect(as: .public)
      pair.air.run(for: .seconds(1))
      #expect(pair.peripheral.connectionCompletes.isEmpty != isDevicePrivacy)
    }
  }

  @Test("An advertiser answers a scanner's identity address in device privacy mode only", arguments: [false, true])
  func advertiserResponse(isDevicePrivacy: Bool) {
    let pair = pair(of: \.peripheral, isDevicePrivacy: isDevicePrivacy)
    pair.peripheral.send(.leSetScanResponseData([3, 9, 65, 66]))
    pair.advertise(as: .public)
    pair.scan(isActive: true, as: .public)
    pair.air.run(for: .seconds(1))
    #expect(pair.central.reports.contains { $0.type == .scanResponse } == isDevicePrivacy)
  }
}
