import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Connecting to extended advertisers · Vol 6, Part B, 4.4.4.2; Vol 4, Part E, 7.8.66.
@Suite("Extended initiating")
struct ExtendedInitiatingTests {
  private let air: PerfectAir
  private let central, peripheral: ControllerHarness

  init() { (air, central, peripheral) = PerfectAir.pair("central", "peripheral") }

  private func advertise(primary: RadioPHY = .le1M, secondary: RadioPHY, to target: ControllerHarness? = nil) {
    #expect(
      peripheral.send(
        .leSetExtendedAdvertisingParameters(
          .every100ms(1, target == nil ? .connectable : [.connectable, .directed]) {
            ($0.primaryPHY, $0.secondaryPHY) = (primary, secondary)
            if let target { $0.peer = HCI.PeerAddress(target.address) }
          })) == .success)
    #expect(peripheral.enable(1) == .success)
  }

  private func initiating(interval: UInt16 = 24) -> HCI.ExtendedCreateConnection.Initiating {
    HCI.ExtendedCreateConnection.Initiating(
      scanInterval: 48, scanWindow: 48,
      parameters: LinkParameters(
        minimumInterval: interval, maximumInterval: interval, latency: 0, supervisionTimeout: 200))
  }

  private func connect(_ change: (inout HCI.ExtendedCreateConnection) -> Void = { _ in }) -> HCI.ErrorCode? {
    var request = HCI.ExtendedCreateConnection(
      usesAcceptList: false, ownAddressType: .public, peer: HCI.PeerAddress(peripheral.address), le1M: initiating())
    change(&request)
    return central.send(.leExtendedCreateConnection(request))
  }

  private struct PHYCase: CustomTestStringConvertible {
    let primary: RadioPHY
    let secondary: RadioPHY
    let interval: UInt16
    var testDescription: String { "\(primary) and \(secondary)" }
  }

  private static let cases = [
    PHYCase(primary: .le1M, secondary: .le1M, interval: 24), PHYCase(primary: .le1M, secondary: .le2M, interval: 32),
    PHYCase(primary: .le1M, secondary: .leCoded, interval: 40),
    PHYCase(primary: .leCoded, secondary: .leCoded, interval: 40),
    PHYCase(primary: .leCoded, secondary: .le2M, interval: 32),
  ]

  @Test("AUX_CONNECT_REQ makes a connection on the PHY of AUX_ADV_IND, with that PHY's parameters", arguments: cases)
  private func phys(example: PHYCase) throws {
    advertise(primary: example.primary, secondary: example.secondary)
    #expect(
      connect {
        $0.le2M = initiating(interval: 32)
        $0.leCoded = initiating(interval: 40)
      } == .success)
    air.run(until: { !central.connectionCompletes.isEmpty && !peripheral.connectionCompletes.isEmpty })
    let complete = try #require(central.connectionCompletes.first)
    #expect(complete.status == .success && complete.values.interval == example.interval)
    #expect(complete.peer == HCI.PeerAddress(peripheral.address))
    let request = try #require(air.log.last { if case .connectInd? = $0.advertisingPDU { true } else { false } })
    let response = try #require(air.log.last { if case .auxConnectRsp? = $0.advertisingPDU { true } else { false } })
    #expect(request.modulation.phy == example.secondary && !request.isPrimary)
    #expect(response.start == request.end + LL.interFrameSpace)
    air.run(for: .seconds(1))
    #expect(central.disconnections.isEmpty && peripheral.disconnections.isEmpty)
    let first = try #require(air.log.first { !$0.isAdvertising && $0.start > request.end })
    #expect(first.modulation.phy == example.secondary)
    // The transmit window begins 2.5 ms after the request, or 3.75 ms on LE Coded · 4.5.3.
    let delay = TimeSpan.microseconds(example.secondary == .leCoded ? 3_750 : 2_500)
    #expect(first.start >= request.end + delay)
  }

  @Test("A PHY without its own parameters uses the parameters of LE 1M")
  func missingParameters() throws {
    advertise(secondary: .le2M)
    #expect(connect() == .success)
    air.run(for: .seconds(1))
    #expect(central.connectionCompletes.map(\.values.interval) == [24])
  }

  @Test("Without AUX_CONNECT_RSP there is no connection, and the initiator tries again")
  func lostResponse() {
    var losses = 2
    air.outcome = { sent in
      guard case .auxConnectRsp? = sent.advertisingPDU, losses > 0 else { return .arrives }
      losses -= 1
      return .lost
    }
    advertise(secondary: .le1M)
    #expect(connect() == .success)
    air.run(for: .milliseconds(400))
    #expect(central.connectionCompletes.isEmpty)
    #expect(peripheral.disconnections == [.connectionFailedToBeEstablished])
    #expect(peripheral.enable(1) == .success)
    air.run(for: .seconds(1))
    peripheral.enable(1)
    air.run(for: .seconds(1))
    #expect(central.connectionCompletes.map(\.status) == [.success])
  }

  @Test("The initiator connects to directed advertising only if it is the target")
  func directed() {
    let other = ControllerHarness("other", address: 0x3333_3333_3333)
    advertise(secondary: .le1M, to: other)
    #expect(connect() == .success)
    air.run(for: .seconds(1))
    #expect(central.connectionCompletes.isEmpty)
    peripheral.disable(1)
    advertise(secondary: .le1M, to: central)
    air.run(for: .seconds(1))
    #expect(central.connectionCompletes.count == 1)
  }

  @Test("With the accept list the initiator connects to the first device on the list, and to no other device")
  func acceptList() {
    advertise(secondary: .le1M)
    #expect(central.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(DeviceAddress(9, .public)))) == .success)
    #expect(connect { $0.usesAcceptList = true } == .success)
    air.run(for: .seconds(1))
    #expect(central.connectionCompletes.isEmpty)
    #expect(central.send(.leCreateConnectionCancel) == .success)
    #expect(central.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(peripheral.address))) == .success)
    #expect(connect { $0.usesAcceptList = true } == .success)
    air.run(for: .seconds(1))
    #expect(central.connectionCompletes.map(\.status) == [.unknownConnectionIdentifier, .success])
  }

  @Test(
    "A connection that is cancelled during AUX_CONNECT_REQ is made only if the answer comes; the host gets one event",
    arguments: [true, false])
  func cancelledInTheAir(isAnswered: Bool) {
    advertise(secondary: .leCoded)
    air.outcome = { sent in
      if case .auxConnectRsp? = sent.advertisingPDU, !isAnswered { return .lost }
      return .arrives
    }
    #expect(connect() == .success)
    // The host cancels while AUX_CONNECT_REQ is being sent.
    air.run(until: {
      central.controller.scanning.receptions.indices.contains {
        central.controller.scanning.receptions[$0]?.isConnecting == true
          && central.controller.radioControl.isTransmitting
      }
    })
    #expect(central.send(.leCreateConnectionCancel) == .success)
    #expect(central.connectionCompletes.isEmpty)
    #expect(central.send(.leCreateConnectionCancel) == .commandDisallowed)
    air.run(for: .seconds(2))
    #expect(central.connectionCompletes.map(\.status) == [isAnswered ? .success : .unknownConnectionIdentifier])
    #expect(central.disconnections.isEmpty)
    // An advertiser that has answered has a connection, until six intervals pass without a packet.
    #expect(peripheral.connectionCompletes.map(\.status) == [.success])
    #expect(peripheral.disconnections == (isAnswered ? [] : [.connectionFailedToBeEstablished]))
    guard !isAnswered else { return }
    #expect(central.send(.leCreateConnectionCancel) == .commandDisallowed)
    air.outcome = { _ in .arrives }
    peripheral.enable(1)
    #expect(connect() == .success)
    air.run(for: .seconds(2))
    #expect(central.connectionCompletes.map(\.status) == [.unknownConnectionIdentifier, .success])
  }

  @Test("The initiator also connects to a legacy advertiser, by CONNECT_IND on LE 1M")
  func legacyAdvertiser() {
    peripheral.advertise()
    #expect(connect { $0.leCoded = initiating() } == .success)
    air.run(for: .seconds(2))
    #expect(central.connectionCompletes.map(\.status) == [.success])
  }

  @Test("LE Create Connection ignores extended advertising")
  func legacyInitiator() {
    advertise(secondary: .le1M)
    central.connect(to: peripheral)
    air.run(for: .seconds(2))
    #expect(central.connectionCompletes.isEmpty)
  }

  @Test("A connection whose first packets are lost fails with 0x3E after six intervals")
  func establishment() {
    air.outcome = { $0.isAdvertising ? .arrives : .lost }
    advertise(secondary: .le1M)
    #expect(connect() == .success)
    air.run(until: { !central.connectionCompletes.isEmpty })
    let start = air.now
    air.run(until: { !central.disconnections.isEmpty })
    #expect(central.disconnections == [.connectionFailedToBeEstablished])
    #expect(air.now - start <= .milliseconds(6 * 30))
  }

  @Test("A scanner and an initiator share all windows that are open")
  func fairness() {
    let third = ControllerHarness("third", address: 0x3333_3333_3333, seed: 9)
    air.start(third)
    third.send(.leSetExtendedAdvertisingParameters(.every100ms()))
    third.enable(1)
    central.startScan()
    #expect(connect { $0.le1M?.scanWindow = 8 } == .success)
    air.run(for: .seconds(5))
    #expect((45...51).contains(central.extendedReports.count))
    advertise(secondary: .le2M)
    air.run(for: .seconds(2))
    #expect(central.connectionCompletes.count == 1)
  }

  @Test("Invalid connection requests are refused")
  func errors() {
    #expect(connect { ($0.le1M, $0.le2M) = (nil, initiating()) } == .invalidHCICommandParameters)
    #expect(connect { $0.le1M?.scanWindow = 3 } == .invalidHCICommandParameters)
    #expect(connect { $0.le1M?.scanInterval = 40 } == .invalidHCICommandParameters)
    #expect(connect { $0.leCoded = initiating(interval: 5) } == .invalidHCICommandParameters)
    #expect(connect() == .success)
    #expect(connect() == .commandDisallowed)
  }
}
