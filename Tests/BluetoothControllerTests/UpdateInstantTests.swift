import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Vol 6, Part B, 5.1.1, 5.1.10, 5.5.
@Suite("The instant of an update")
struct UpdateInstantTests {
  /// The time at which the device's host first got an event of interest.
  private final class Record {
    var time: Instant?

    init(_ device: ControllerHarness, isWanted: @escaping (HCI.Event) -> Bool) {
      device.onEvent = { [unowned self] device, event in
        if isWanted(event) && time == nil { time = device.now }
      }
    }
  }

  private static let interval = TimeSpan.milliseconds(30)

  private func completesUpdate(_ event: HCI.Event) -> Bool {
    switch event {
    case .leConnectionUpdateComplete(.success, _, _), .lePHYUpdateComplete(.success, _, _, _): true
    default: false
    }
  }

  /// Returns the instant that the central has announced.
  private func instant(_ link: LinkHarness) -> Int? {
    link.air.log.lazy.compactMap { sent -> Int? in
      switch sent.controlPDU {
      case .connectionUpdateInd(_, let instant)?, .phyUpdateInd(_, let instant)?: Int(instant)
      default: nil
      }
    }.first
  }

  /// Returns the central's first packet in connection event `number`; all events before it must be 30 ms apart.
  private func firstPacket(_ link: LinkHarness, inEvent number: Int) -> PerfectAir.Transmission? {
    let packets = link.air.log.filter { $0.device == 0 && !$0.isAdvertising }
    guard let first = packets.first else { return nil }
    let previous = first.start + Self.interval * Int64(number - 1)
    return packets.first { $0.start > previous + Self.interval / 2 }
  }

  private func begin(_ link: LinkHarness, changesPHY: Bool) {
    let command: HCI.Command
    if changesPHY {
      command = .leSetPHY(link.centralHandle, HCI.PHYPreference(transmit: .le2M, receive: .le2M), options: 0)
    } else {
      let parameters = LinkParameters(
        minimumInterval: 80, maximumInterval: 80, latency: 0, supervisionTimeout: 400)
      command = .leConnectionUpdate(link.centralHandle, parameters, HCI.ConnectionEventLength())
    }
    #expect(link.central.send(command) == .success)
  }

  private func link() throws -> LinkHarness {
    // The peripheral lacks Connection Parameters Request, so the central decides alone.
    let link = try LinkHarness(peripheral: { $0.features.remove(.connectionParametersRequestProcedure) })
    link.runEvents(3)
    return link
  }

  @Test("Hosts get the event for new parameters or PHYs at the instant's connection event", arguments: [true, false])
  func event(changesPHY: Bool) throws {
    let link = try link()
    let central = Record(link.central, isWanted: completesUpdate)
    let peripheral = Record(link.peripheral, isWanted: completesUpdate)
    begin(link, changesPHY: changesPHY)
    link.runEvents(20)
    let number = try #require(instant(link))
    let packet = try #require(firstPacket(link, inEvent: number))
    // The central's host gets it at the anchor point, and the peripheral's host at the end of the first packet.
    #expect(central.time == packet.start && peripheral.time == packet.end)
    #expect(packet.modulation == (changesPHY ? .le2M : .le1M))
  }

  @Test("A peripheral that receives nothing at the instant reports the update at the end of its receive window")
  func lostEvent() throws {
    let link = try link()
    let peripheral = Record(link.peripheral, isWanted: completesUpdate)
    begin(link, changesPHY: true)
    link.air.outcome = { $0.modulation == .le2M ? .lost : .arrives }
    link.runEvents(14)
    let number = try #require(instant(link))
    let anchor = try #require(firstPacket(link, inEvent: number)).start
    let time = try #require(peripheral.time)
    #expect(time > anchor && time < anchor + .milliseconds(2))
    link.air.outcome = { _ in .arrives }
    #expect(link.isAlive())
  }

  @Test("Until the instant LE Read PHY returns the PHYs in use to both hosts")
  func readPHY() throws {
    let link = try link()
    begin(link, changesPHY: true)
    link.air.run(until: { instant(link) != nil })
    let number = try #require(instant(link))
    let first = try #require(link.air.log.first { $0.device == 0 && !$0.isAdvertising })
    // 10 ms before the instant, after the end of the previous event.
    link.air.run(for: first.start + Self.interval * Int64(number) - .milliseconds(10) - link.air.now)
    for isCentral in [true, false] {
      let (device, handle) = link.side(isCentral)
      #expect(device.complete(.leReadPHY(handle)) == .lePHY(handle, transmit: 1, receive: 1))
      #expect(!device.events.contains(where: completesUpdate))
    }
    link.air.run(for: .milliseconds(12))
    for isCentral in [true, false] {
      let (device, handle) = link.side(isCentral)
      #expect(device.complete(.leReadPHY(handle)) == .lePHY(handle, transmit: 2, receive: 2))
      #expect(device.events.contains(.lePHYUpdateComplete(.success, handle, transmit: 2, receive: 2)))
    }
  }

  @Test("A peripheral's host gets the update event before the data of the instant's connection event")
  func orderOfData() throws {
    let link = try link()
    var order: [String] = []
    link.peripheral.onEvent = { if completesUpdate($1) { order.append("\($0.number): update") } }
    link.peripheral.onData = { device, _ in order.append("\(device.number): data") }
    begin(link, changesPHY: false)
    link.air.run(until: { instant(link) != nil })
    let number = try #require(instant(link))
    let first = try #require(link.air.log.first { $0.device == 0 && !$0.isAdvertising })
    link.air.run(for: first.start + Self.interval * Int64(number) - .milliseconds(10) - link.air.now)
    link.central.send([1, 2, 3], on: link.centralHandle)
    link.air.run(for: .milliseconds(200))
    #expect(order == ["1: update", "1: data"])
  }
}
