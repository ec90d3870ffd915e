import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

/// Several advertising sets, periodic advertising, and synchronization with it.
@Suite struct AdvertisingSetTests {
  private static func named(_ name: String, sid: Int, interval: Duration = .milliseconds(100)) -> AdvertisingParameters
  {
    var parameters = AdvertisingParameters([.name(name)])
    parameters.kind = .broadcast
    parameters.interval = interval
    parameters.extended = ExtendedAdvertising(advertisingSID: sid)
    return parameters
  }

  private static func periodic(
    _ octet: UInt8, sid: Int = 2, interval: Duration = .milliseconds(50)
  ) -> AdvertisingParameters {
    var parameters = named("Train", sid: sid)
    parameters.txPower = -8
    parameters.periodic = PeriodicAdvertising(
      [.manufacturerData(company: 0xFFFF, [octet])], interval: interval, includesTxPower: true)
    return parameters
  }

  /// Returns the reports that arrive from now on, and the task that receives them.
  private func reports(
    of meeting: LocalMeeting, _ packet: AdvertisingPacket, skip: Int = 0, timeout: Duration? = nil
  ) -> (Box<[PeriodicAdvertisingReport]>, AppTask<Void>) {
    let reports = Box<[PeriodicAdvertisingReport]>([])
    let task = meeting.stage.start { [central = meeting.central] in
      for try await report in central.synchronize(to: packet, skip: skip, timeout: timeout) { reports.append(report) }
    }
    return (reports, task)
  }

  private func packet(_ meeting: LocalMeeting, sid: Int) throws -> AdvertisingPacket {
    try meeting.stage.perform { [central = meeting.central] in
      try await central.waitUntilPoweredOn()
      return try await central.packets().first { $0.advertisingSID == sid }.orThrow()
    }
  }

  private func start(_ meeting: LocalMeeting, _ parameters: AdvertisingParameters) throws -> AdvertisingSet {
    try meeting.stage.perform { [local = meeting.local] in
      try await local.waitUntilPoweredOn()
      return try await local.startAdvertisingSet(parameters)
    }
  }

  @Test("Two sets and ordinary advertising go on together, each on its own PHY and at its own interval")
  func severalSets() throws {
    let meeting = LocalMeeting()
    let (stage, local, central) = (meeting.stage, meeting.local, meeting.central)
    var fast = Self.named("Fast", sid: 1, interval: .milliseconds(50))
    fast.extended?.secondaryPHY = .le2M
    var far = Self.named("Far", sid: 2, interval: .milliseconds(400))
    far.extended = ExtendedAdvertising(primaryPHY: .leCoded, secondaryPHY: .leCoded, advertisingSID: 2)
    let sets = [try start(meeting, fast), try start(meeting, far)]
    let ordinary = stage.start { try await local.advertise(localName: "Plain") }
    let packets = Box<[AdvertisingPacket]>([])
    let scan = stage.start {
      try await central.waitUntilPoweredOn()
      for try await packet in central.packets(isActive: false, includesLECoded: true) { packets.append(packet) }
    }
    stage.run(for: .seconds(8))
    scan.cancel()
    #expect(outcome { try stage.value(of: scan) } == .cancelled)
    #expect(local.isAdvertising && sets.count { $0.isAdvertising } == 2)
    #expect(Set(packets.value.map(\.address)).count == 1)
    #expect(packets.value.contains { $0.pduType == .advInd })
    for (sid, interval, phy, name) in [(1, 50, PHY.le2M, "Fast"), (2, 400, .leCoded, "Far")] {
      let own = packets.value.filter { $0.advertisingSID == sid }
      #expect(own.allSatisfy { $0.secondaryPHY == phy && $0.data.suffix(name.count) == Data(name.utf8) })
      // A scanner on two PHYs is on each for a part of the time only. Each interval is up to 10 ms longer, and the
      // packet with the data comes some milliseconds later if another set has the radio.
      #expect(own.count > 3)
      for (former, later) in zip(own, own.dropFirst()) {
        let gap = (later.time - former.time) / .milliseconds(1)
        let events = max(1, (gap / Double(interval + 5)).rounded())
        #expect(gap >= events * Double(interval) - 5 && gap <= events * Double(interval + 10) + 5)
      }
    }
    ordinary.cancel()
    #expect(outcome { try stage.value(of: ordinary) } == .cancelled)
    sets[0].stop()
    #expect(!sets[0].isAdvertising && sets[1].isAdvertising)
    let later = Box<Set<Int?>>([])
    let scanAgain = stage.start {
      for try await packet in central.packets(includesLECoded: true) {
        later.change { $0.insert(packet.advertisingSID) }
      }
    }
    stage.run(for: .seconds(4))
    #expect(later.value == [2])
    scanAgain.cancel()
    sets[1].stop()
    stage.run(for: .seconds(1))
    #expect(local.pendingCount == 0)
  }

  @Test("Periodic advertising is received every interval at the same distance, with new data at once")
  func train() throws {
    let meeting = LocalMeeting()
    let stage = meeting.stage
    let set = try start(meeting, Self.periodic(1))
    let packet = try packet(meeting, sid: 2)
    #expect(packet.periodicInterval == .milliseconds(50))
    let (reports, task) = reports(of: meeting, packet)
    stage.run(for: .seconds(5))
    #expect(!meeting.central.isScanning)
    let first = try #require(reports.value.first)
    #expect(first.interval == .milliseconds(50) && first.phy == .le1M && first.txPower == -8 && !first.isTruncated)
    #expect(first.rssi.map { -70...(-30) ~= $0 } == true)
    #expect(reports.value.allSatisfy { $0.data == Data([4, 0xFF, 0xFF, 0xFF, 1]) })
    // Each report is a multiple of the interval after the one before; few packets are missing.
    let gaps = zip(reports.value, reports.value.dropFirst()).map { ($1.time - $0.time) / .milliseconds(50) }
    #expect(gaps.count > 80 && gaps.allSatisfy { abs($0 - $0.rounded()) < 0.002 })
    #expect(gaps.count { $0.rounded() == 1 } > 70)
    try stage.perform { try await set.update(Self.periodic(2)) }
    let count = reports.value.count
    stage.run(for: .seconds(1))
    let later = reports.value.dropFirst(count + 1)
    #expect(later.count >= 18 && later.allSatisfy { $0.data.last == 2 })
    task.cancel()
    #expect(outcome { try stage.value(of: task) } == .cancelled)
    let end = reports.value.count
    stage.run(for: .seconds(1))
    #expect(reports.value.count == end && meeting.central.pendingCount == 0)
  }

  @Test("A train that stops is lost after the timeout, and the sequence ends with the loss")
  func loss() throws {
    let meeting = LocalMeeting()
    let stage = meeting.stage
    let set = try start(meeting, Self.periodic(1))
    let (reports, task) = reports(of: meeting, try packet(meeting, sid: 2), timeout: .milliseconds(700))
    stage.run(for: .seconds(3))
    #expect(task.result == nil)
    set.stop()
    stage.run(until: { task.result != nil })
    let last = try #require(reports.value.last)
    let silence = (meeting.world.now - last.time) / .milliseconds(1)
    #expect(silence >= 690 && silence <= 760)
    #expect(task.error as? SynchronizationError == .lost)
    #expect(meeting.central.pendingCount == 0)
  }

  @Test("Data beyond one packet arrive whole, and two trains of one device are received side by side")
  func longData() throws {
    let meeting = LocalMeeting()
    let stage = meeting.stage
    var long = Self.periodic(1, sid: 2, interval: .milliseconds(100))
    let structure = ADStructure.manufacturerData(company: 0xFFFF, Array(repeating: 9, count: 200))
    long.periodic?.data = Array(repeating: structure, count: 3)
    let sets = [try start(meeting, long), try start(meeting, Self.periodic(5, sid: 3))]
    let trains = [
      reports(of: meeting, try packet(meeting, sid: 2)), reports(of: meeting, try packet(meeting, sid: 3)),
    ]
    stage.run(for: .seconds(5))
    // Every second event of the shorter train may fall into the longer packets of the other one.
    #expect(trains[0].0.value.count > 30 && trains[1].0.value.count > 30)
    #expect(trains[0].0.value.allSatisfy { $0.data.count == 3 * 204 && !$0.isTruncated })
    #expect(trains[1].0.value.allSatisfy { $0.data.last == 5 })
    withExtendedLifetime(sets) {}
    meeting.central.close()
    for (_, task) in trains { #expect(outcome { try stage.value(of: task) } == .core(.operationCancelled)) }
  }

  @Test("Two apps share the synchronization with one train; each ends its own part")
  func sharing() throws {
    let meeting = LocalMeeting()
    let stage = meeting.stage
    let other = Central(adapter: meeting.phone)
    let set = try start(meeting, Self.periodic(1))
    let (mine, first) = reports(of: meeting, try packet(meeting, sid: 2))
    stage.run(for: .seconds(2))
    let otherPacket = try stage.perform {
      try await other.waitUntilPoweredOn()
      return try await other.packets().first { $0.advertisingSID == 2 }.orThrow()
    }
    let theirs = Box(0)
    let second = stage.start { for try await _ in other.synchronize(to: otherPacket) { theirs.change { $0 += 1 } } }
    stage.run(for: .seconds(1))
    #expect(mine.value.count > 40 && theirs.value > 15)
    first.cancel()
    #expect(outcome { try stage.value(of: first) } == .cancelled)
    let before = (mine.value.count, theirs.value)
    stage.run(for: .seconds(1))
    #expect(mine.value.count == before.0 && theirs.value > before.1 + 15)
    meeting.phone.setPower(false)
    #expect(outcome { try stage.value(of: second) } == .core(.operationCancelled))
    withExtendedLifetime(set) {}
  }

  @Test("A synchronization that is never found is cancelled without a trace")
  func cancelled() throws {
    let meeting = LocalMeeting()
    let stage = meeting.stage
    let set = try start(meeting, Self.named("No train", sid: 2))
    let packet = try packet(meeting, sid: 2)
    #expect(packet.periodicInterval == nil)
    let (reports, task) = reports(of: meeting, packet)
    stage.run(for: .seconds(3))
    #expect(task.result == nil && reports.value.isEmpty)
    task.cancel()
    #expect(outcome { try stage.value(of: task) } == .cancelled)
    #expect(meeting.central.pendingCount == 0)
    // The train that the set gets now is found by another attempt.
    try stage.perform { try await set.update(Self.periodic(3)) }
    let (later, again) = self.reports(of: meeting, packet)
    stage.run(for: .seconds(2))
    #expect(later.value.count > 20)
    again.cancel()
  }

  @Test("Sets and synchronizations with values that do not fit are refused")
  func refusals() throws {
    let meeting = LocalMeeting()
    let (stage, local) = (meeting.stage, meeting.local)
    let set = try start(meeting, Self.periodic(1))
    func refused(_ change: (inout AdvertisingParameters) -> Void) -> AdvertisingError? {
      var parameters = Self.periodic(1)
      change(&parameters)
      do { _ = try start(meeting, parameters) } catch { return error as? AdvertisingError }
      return nil
    }
    #expect(refused { $0.periodic?.interval = .milliseconds(7) } == .invalidParameters)
    #expect(refused { $0.periodic?.interval = .seconds(82) } == .invalidParameters)
    #expect(refused { $0.kind = .connectable } == .invalidParameters)
    #expect(refused { $0.extended?.isAnonymous = true } == .invalidParameters)
    #expect(refused { $0.extended = nil } == .invalidParameters)
    let structure = ADStructure.manufacturerData(company: 1, Array(repeating: 0, count: 240))
    #expect(refused { $0.periodic?.data = Array(repeating: structure, count: 8) } == .dataTooLong)
    // A packet of 1,650 octets takes longer than 7.5 ms.
    #expect(
      refused {
        $0.periodic = PeriodicAdvertising(Array(repeating: structure, count: 6), interval: .microseconds(7_500))
      } == .dataTooLong)
    #expect(local.pendingCount == 0)
    let packet = try packet(meeting, sid: 2)
    for (skip, timeout) in [(500, Duration.seconds(1)), (-1, .seconds(1)), (0, .milliseconds(90)), (0, .seconds(164))] {
      let (_, task) = reports(of: meeting, packet, skip: skip, timeout: timeout)
      stage.run(until: { task.result != nil })
      #expect(task.error as? SynchronizationError == .invalidParameters)
    }
    withExtendedLifetime(set) {}
  }

  @Test("The controller's room for sets is an error for the set beyond it, and the released sets make room")
  func room() throws {
    let meeting = LocalMeeting()
    var sets: [AdvertisingSet] = []
    for sid in 0..<16 { sets.append(try start(meeting, Self.named("\(sid)", sid: sid))) }
    func another() -> AdvertisingError? {
      do { sets.append(try start(meeting, Self.named("another", sid: 0))) } catch { return error as? AdvertisingError }
      return nil
    }
    #expect(another() == .noRoom)
    sets.removeFirst()
    #expect(another() == nil && sets.count == 16)
    #expect(sets.count { $0.isAdvertising } == 16)
  }

  @Test("Without extended advertising in the controller, sets and synchronizations throw a typed error")
  func withoutExtendedAdvertising() throws {
    let meeting = LocalMeeting()
    let (stage, world) = (meeting.stage, meeting.world)
    let set = try start(meeting, Self.periodic(1))
    var options = DeviceOptions(position: Position(x: 1))
    options.generation = .bluetooth40
    let old = world.makeDevice(named: "old", options)
    let (local, central) = (LocalPeripheral(adapter: old), Central(adapter: old))
    #expect(throws: AdvertisingError.notSupported) {
      try stage.perform {
        try await local.waitUntilPoweredOn()
        return try await local.startAdvertisingSet(Self.named("Old", sid: 1))
      }
    }
    let packet = try packet(meeting, sid: 2)
    #expect(throws: SynchronizationError.notSupported) {
      try stage.perform {
        try await central.waitUntilPoweredOn()
        for try await _ in central.synchronize(to: packet) {}
      }
    }
    withExtendedLifetime(set) {}
  }

  @Test("A set ends by stop, with the power, and with the release of its object")
  func ends() throws {
    let meeting = LocalMeeting()
    let (stage, local) = (meeting.stage, meeting.local)
    let stopped = try start(meeting, Self.named("One", sid: 1))
    let waiting = stage.start { try await stopped.waitUntilStopped() }
    stage.run(for: .seconds(1))
    #expect(waiting.result == nil)
    stopped.stop()
    #expect(outcome { try stage.value(of: waiting) } == .success)
    #expect(
      outcome { try stage.perform { try await stopped.update(Self.named("Two", sid: 1)) } }
        == .core(.operationCancelled))
    let lost = try start(meeting, Self.named("Three", sid: 1))
    let failing = stage.start { try await lost.waitUntilStopped() }
    stage.run(for: .seconds(1))
    meeting.device.setPower(false)
    #expect(outcome { try stage.value(of: failing) } == .core(.operationCancelled))
    #expect(!lost.isAdvertising)
    meeting.device.setPower(true)
    _ = try start(meeting, Self.named("Four", sid: 4))
    // Its object is released: nothing is on the air.
    let central = meeting.central
    let seen = Box(0)
    let scan = stage.start {
      try await central.waitUntilPoweredOn()
      for try await _ in central.packets() { seen.change { $0 += 1 } }
    }
    stage.run(for: .seconds(2))
    #expect(seen.value == 0 && local.pendingCount == 0)
    scan.cancel()
  }

  @Test("A time limit ends an update, a wait for the end, and a start of advertising, and leaves nothing behind")
  func timeLimits() throws {
    let meeting = LocalMeeting()
    let (stage, local, clock) = (meeting.stage, meeting.local, meeting.world.clock)
    let set = try start(meeting, Self.named("One", sid: 1))
    // Each command gets its answer after 0.5 s.
    meeting.device.add([.hci(.delay(.milliseconds(500)), HCIMatch(.event(0x0E)), .every)])
    func expectEnd(_ name: String, _ body: @escaping @Sendable (TimeLimit) async throws -> Void) {
      let begin = meeting.world.now
      let end = outcome { try stage.perform { try await body(TimeLimit(.milliseconds(300), on: clock)) } }
      #expect(end == .timeLimit && meeting.world.now - begin == .milliseconds(300), "\(name): \(end)")
      // The late answers arrive.
      stage.run(for: .seconds(10))
      #expect(set.isAdvertising && !local.isAdvertising && local.pendingCount == 0, "\(name)")
    }
    let isRunning = Box(false)
    expectEnd("update") { try await set.update(Self.named("Two", sid: 1), within: $0) }
    expectEnd("wait") { try await set.waitUntilStopped(within: $0) }
    expectEnd("advertise") { try await local.advertise(localName: "Plain", within: $0) }
    expectEnd("parameters") { try await local.advertise(AdvertisingParameters([.name("Plain")]), within: $0) }
    expectEnd("body") { try await local.withAdvertising(localName: "Plain", within: $0) { isRunning.value = true } }
    expectEnd("parameters and body") { limit in
      try await local.withAdvertising(AdvertisingParameters([.name("Plain")]), within: limit) { isRunning.value = true }
    }
    #expect(!isRunning.value)
    meeting.world.removeFaults()
    // The limit is that of the start: advertising goes on.
    let advertising = stage.start {
      try await local.advertise(localName: "Plain", within: TimeLimit(.seconds(1), on: clock))
    }
    stage.run(for: .seconds(3))
    #expect(advertising.result == nil && local.isAdvertising)
    advertising.cancel()
    #expect(outcome { try stage.value(of: advertising) } == .cancelled)
    set.stop()
    #expect(local.pendingCount == 0)
  }

  @Test("A wait for a set that has ended returns after stop, and throws the reason of any other end")
  func waitAfterTheEnd() throws {
    let meeting = LocalMeeting()
    let (stage, local) = (meeting.stage, meeting.local)
    let stopped = try start(meeting, Self.named("One", sid: 1))
    stopped.stop()
    #expect(outcome { try stage.perform { try await stopped.waitUntilStopped() } } == .success)
    // An update that the controller can't carry out ends its set.
    let refused = try start(meeting, Self.named("Two", sid: 2))
    let structure = ADStructure.manufacturerData(company: 1, Array(repeating: 0, count: 240))
    var long = Self.named("Two", sid: 2)
    long.data = Array(repeating: structure, count: 8)
    let tooLong = long
    #expect(throws: AdvertisingError.dataTooLong) { try stage.perform { try await refused.update(tooLong) } }
    #expect(throws: AdvertisingError.dataTooLong) { try stage.perform { try await refused.waitUntilStopped() } }
    let lost = try start(meeting, Self.named("Three", sid: 3))
    meeting.device.setPower(false)
    #expect(stage.run(until: { !lost.isAdvertising }))
    #expect(outcome { try stage.perform { try await lost.waitUntilStopped() } } == .core(.operationCancelled))
    // There is nothing left to stop: the reason stays.
    lost.stop()
    #expect(outcome { try stage.perform { try await lost.waitUntilStopped() } } == .core(.operationCancelled))
    meeting.device.setPower(true)
    let closed = try start(meeting, Self.named("Four", sid: 4))
    local.close()
    #expect(outcome { try stage.perform { try await closed.waitUntilStopped() } } == .core(.operationCancelled))
    #expect(local.pendingCount == 0)
  }
}
