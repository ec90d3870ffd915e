import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Channel classification")
struct ChannelClassificationTests {
  /// Corrupts `percent` % of the packets on these data channels.
  private func jam(_ link: LinkHarness, _ channels: ClosedRange<UInt8>, percent: UInt64, seed: UInt64 = 7) {
    var random = RandomStream(seed: seed)
    link.air.outcome = { transmission in
      guard !transmission.isAdvertising, channels.contains(ChannelIndex(transmission.channel).number) else {
        return .arrives
      }
      return random.next() % 100 < percent ? .corrupt : .arrives
    }
  }

  private func map(_ link: LinkHarness) -> ChannelMap { link.peripheral.controller.connections[0].channelMap }

  @Test(
    "The central excludes channels with many losses, and no more packets are lost", .requirement("L083", "L128"),
    arguments: 0..<4)
  func interference(seed: Int) throws {
    let link = try LinkHarness()
    jam(link, 10...19, percent: 60, seed: UInt64(seed))
    link.air.run(for: .seconds(50))
    #expect(map(link) == ChannelMap(bits: ~0x000F_FC00))
    let before = link.statistics(true)
    link.air.run(for: .seconds(5))
    #expect(
      link.statistics(true)?.crcErrors == before?.crcErrors)
    #expect(link.isAlive())
  }

  @Test("The central excludes no channel if all channels lose equally", arguments: [10, 30, 50])
  func distance(percent: Int) throws {
    let link = try LinkHarness(timeout: 3_200)
    jam(link, 0...36, percent: UInt64(percent))
    link.air.run(for: .seconds(200))
    #expect(map(link) == .all)
  }

  @Test("The central uses the channels again after the interference has ended")
  func pardon() throws {
    let link = try LinkHarness()
    jam(link, 0...7, percent: 90)
    link.air.run(for: .seconds(40))
    #expect(map(link).bits & 0xFF == 0)
    link.air.outcome = { _ in .arrives }
    link.air.run(for: .seconds(120))
    #expect(map(link) == .all)
  }

  @Test("A channel that turns bad again is excluded for twice as long")
  func relapse() throws {
    let link = try LinkHarness()
    jam(link, 10...19, percent: 80)
    link.air.run(for: .seconds(300))
    let maps = link.air.log.compactMap { transmission -> ChannelMap? in
      if case .channelMapInd(let channels, _)? = transmission.controlPDU { channels } else { nil }
    }
    // After about 70 s, and 130 s after that; the third time is after 440 s.
    #expect(maps.filter { $0 == .all }.count == 2)
    let before = link.statistics(true)?.crcErrors ?? 0
    link.air.run(for: .seconds(50))
    #expect(link.statistics(true)?.crcErrors == before)
    #expect(link.isAlive())
  }

  @Test("A controller without channel assessment leaves the channel map unchanged")
  func off() throws {
    let link = try LinkHarness(
      central: { $0.assessesChannels = false }, peripheral: { $0.assessesChannels = false })
    jam(link, 0...7, percent: 90)
    link.air.run(for: .seconds(40))
    #expect(map(link) == .all)
  }

  @Test("A central that detects losses asks the peripheral for reports, which list the bad channels")
  func reports() throws {
    let link = try LinkHarness()
    link.central.send(.leReadRemoteFeatures(link.centralHandle))
    jam(link, 10...19, percent: 80)
    link.air.run(for: .seconds(60))
    let control = link.air.log.compactMap(\.controlPDU)
    #expect(
      control.contains { if case .channelReportingInd(let reporting) = $0 { reporting.isEnabled } else { false } })
    let reported = control.compactMap { pdu -> UInt64? in
      if case .channelStatusInd(let status) = pdu { status.channels(.bad).bits } else { nil }
    }
    #expect(reported.contains { $0 != 0 && $0 & ~0x000F_FC00 == 0 })
    #expect(link.isAlive())
  }

  @Test("The peripheral reports its host's bad channels, not before the minimum spacing, and the central excludes them")
  func hostReports() throws {
    let link = try LinkHarness()
    // LL_CHANNEL_REPORTING_IND with at least 2 s between reports.
    link.central.controller.connections[0].channels.reporting = LL.ChannelReporting(
      isEnabled: true, minimumSpacing: 10, maximumDelay: 20)
    #expect(link.injectFromCentral([0x28, 1, 10, 20]).map { $0[0] } == [0x29])
    link.air.clearLog()
    for map in [UInt64(0xFFFF), 0xFF, 0xFFF] {
      #expect(link.peripheral.send(.leSetHostChannelClassification(map)) == .success)
      link.air.run(for: .milliseconds(300))
    }
    #expect(!link.air.log.contains { if case .channelStatusInd? = $0.controlPDU { true } else { false } })
    link.air.run(for: .seconds(3))
    #expect(link.central.controller.connections[0].channelMap == ChannelMap(bits: 0xFFF))
    #expect(link.isAlive())
  }

  @Test("Unsolicited channel reports and invalid requests for them change nothing")
  func strayReports() throws {
    let link = try LinkHarness()
    #expect(link.injectFromPeripheral([0x29, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0]).isEmpty)
    #expect(link.injectFromCentral([0x28, 1, 4, 20]).isEmpty)
    #expect(link.peripheral.controller.connections[0].channels.reporting == nil)
    link.runEvents(20)
    #expect(map(link) == .all)
    #expect(link.isAlive())
  }

  @Test("A peripheral states its minimum number of channels, and the central keeps to it", arguments: [2, 15])
  func minimum(count: Int) throws {
    let link = try LinkHarness(peripheral: {
      $0.minimumUsedChannels = LL.MinimumUsedChannels(phys: [.le1M, .le2M], count: UInt8(count))
    })
    link.runEvents(4)
    #expect(link.air.log.contains { if case .minUsedChannelsInd? = $0.controlPDU { true } else { false } })
    var channels = link.central.controller.connections[0].channels
    for channel in UInt8(0)..<37 {
      for _ in 0..<20 { channels.assessment.record(ChannelIndex(channel), isIntact: channel >= 28) }
    }
    _ = channels.assessment.evaluate(at: .zero + .seconds(100))
    let phys = link.central.controller.connections[0].phys
    #expect(channels.preferredMap(on: phys).count == max(9, count))
    #expect(channels.preferredMap(on: phys).bits >> 28 == 0x1FF)
    #expect(link.isAlive())
  }

  @Test("The central ignores an invalid minimum number of channels")
  func impossibleMinimum() throws {
    let link = try LinkHarness()
    for count in [UInt8(0), 1, 38, 255] { #expect(link.injectFromPeripheral([0x19, 7, count]).isEmpty) }
    let connection = link.central.controller.connections[0]
    #expect(connection.channels.preferredMap(on: connection.phys) == .all)
    #expect(link.isAlive())
  }
}
