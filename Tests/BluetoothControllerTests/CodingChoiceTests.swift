import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// The coding of packets on LE Coded · Vol 6, Part B, 4.6.40; Vol 4, Part E, 7.7.65.13, 7.8.53, 7.8.115.
@Suite("Codings of LE Coded")
struct CodingChoiceTests {
  private let air: PerfectAir
  private let other, advertiser: ControllerHarness

  init() { (air, other, advertiser) = PerfectAir.pair("other", "advertiser") }

  private func advertise(
    _ properties: HCI.ExtendedAdvertisingParameters.Properties = [],
    _ codings: (HCI.ExtendedAdvertisingParameters.Coding, HCI.ExtendedAdvertisingParameters.Coding)
  ) {
    let parameters = HCI.ExtendedAdvertisingParameters.every100ms(1, properties) {
      ($0.primaryPHY, $0.secondaryPHY) = (.leCoded, .leCoded)
      ($0.primaryCoding, $0.secondaryCoding) = codings
    }
    #expect(advertiser.send(.leSetExtendedAdvertisingParametersV2(parameters)) == .success)
    if properties == .scannable { advertiser.setResponse([1, 2]) } else { advertiser.setData([1, 2]) }
    #expect(advertiser.enable(1) == .success)
  }

  @Test("AUX_SCAN_REQ and AUX_CONNECT_REQ use S=8 even for an advertiser with S=2, whose answers keep its coding")
  func requests() throws {
    advertise(.scannable, (.prefersS2, .prefersS2))
    other.startScan(
      isActive: true, le1M: nil, leCoded: HCI.ExtendedScanParameters.Scan(isActive: true, interval: 48, window: 48))
    air.run(for: .seconds(2))
    other.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)))
    #expect(other.extendedReports.contains { $0.type.contains(.scanResponse) && $0.data == [1, 2] })
    advertiser.disable(1)
    advertiser.send(.leRemoveAdvertisingSet(1))
    advertise(.connectable, (.prefersS2, .prefersS2))
    other.connectExtended(to: advertiser, onCoded: true)
    #expect(air.run(until: { !other.connectionCompletes.isEmpty && !advertiser.connectionCompletes.isEmpty }))
    let asked = air.log.filter { $0.device == other.number }
    #expect(asked.count >= 2 && asked.allSatisfy { $0.modulation == .codedS8 })
    let said = air.log.filter { $0.device == advertiser.number }
    #expect(said.allSatisfy { $0.modulation == .codedS2 })
    #expect(said.contains { if case .auxConnectRsp? = $0.advertisingPDU { true } else { false } })
  }

  @Test("Reports tell S=2 from S=8 only for a host that has set Advertising Coding Selection (Host Support)")
  func reports() {
    let codings: [(HCI.ExtendedAdvertisingParameters.Coding, HCI.ExtendedAdvertisingParameters.Coding)] = [
      (.prefersS2, .prefersS2), (.prefersS8, .prefersS2), (.requiresS2, .requiresS8), (.noPreference, .noPreference),
    ]
    for knows in [false, true] {
      #expect(other.send(.leSetHostFeature(bit: 41, knows)) == .success)
      for (primary, secondary) in codings {
        advertise([], (primary, secondary))
        other.startScan(
          le1M: nil, leCoded: HCI.ExtendedScanParameters.Scan(isActive: false, interval: 48, window: 48))
        other.clear()
        air.run(for: .seconds(1))
        func value(_ coding: HCI.ExtendedAdvertisingParameters.Coding) -> UInt8 {
          knows && (coding == .prefersS2 || coding == .requiresS2) ? 4 : 3
        }
        #expect(!other.extendedReports.isEmpty)
        #expect(
          other.extendedReports.allSatisfy {
            $0.primaryPHY == value(primary) && $0.secondaryPHY == value(secondary)
          })
        other.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)))
        advertiser.disable(1)
        advertiser.send(.leRemoveAdvertisingSet(1))
      }
    }
  }
}
