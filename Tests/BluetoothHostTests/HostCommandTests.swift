import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// Command flow control, and controllers that fail · Vol 4, Part E, 4.4.
struct HostCommandTests {
  private func bench() -> HostHarness {
    var bench = HostHarness()
    bench.powerOn()
    return bench
  }

  @Test("A command waits until the previous one is answered")
  func oneAtATime() {
    var bench = bench()
    bench.answers[.leSetAdvertisingParameters] = .noAnswer
    bench.perform { host, now in
      host.startAdvertising(data: [1], scanResponse: [], at: now)
      host.setScanning(ScanParameters(isActive: true, filterDuplicates: false), at: now)
    }
    #expect(bench.commands.map(\.opcode) == [.leSetAdvertisingParameters])
    bench.receive(.commandComplete(credits: 1, .leSetAdvertisingParameters, .status(.success)))
    #expect(bench.advertisingAnswers == [nil])
    #expect(bench.commands.contains(.leSetScanEnable(true, filterDuplicates: false)))
  }

  @Test("A controller that grants no command credits gets no command until it grants some")
  func credits() {
    var bench = bench()
    bench.answers[.leSetAdvertisingParameters] = .noAnswer
    bench.perform { host, now in host.startAdvertising(data: [1], scanResponse: [], at: now) }
    bench.receive(.commandComplete(credits: 0, .leSetAdvertisingParameters, .status(.success)))
    #expect(bench.commands.map(\.opcode) == [.leSetAdvertisingParameters])
    bench.receive(.commandComplete(credits: 1, .none, .unknown([])))
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test("A late answer to a command that timed out restores the command credits")
  func lateCredits() {
    var bench = bench()
    bench.answers[.leSetDataLength] = .noAnswer
    bench.answers[.leSetAdvertisingParameters] = .noAnswer
    let handle = bench.link(.central)
    bench.passToDeadline()
    bench.forget()
    bench.perform { host, now in host.startAdvertising(data: [1], scanResponse: [], at: now) }
    bench.receive(.commandComplete(credits: 0, .leSetAdvertisingParameters, .status(.success)))
    #expect(bench.commands.map(\.opcode) == [.leSetAdvertisingParameters])
    bench.receive(.commandComplete(credits: 1, .leSetDataLength, .handle(.success, handle)))
    #expect(bench.advertisingAnswers == [nil])
    #expect(bench.powerChanges.isEmpty)
  }

  @Test("A late answer to a command that timed out is not the answer to the same command for another link")
  func lateAnswer() {
    var bench = bench()
    let first = bench.link(.peripheral, handle: 1)
    let second = bench.link(.peripheral, handle: 2, to: DeviceAddress(8, .public))
    // The check of links without traffic.
    bench.pass(.seconds(60))
    bench.answers[.readRSSI] = .noAnswer
    bench.forget()
    bench.pass(.seconds(60))
    #expect(bench.commands == [.readRSSI(first)])
    bench.pass(.seconds(2))
    #expect(bench.commands == [.readRSSI(first), .readRSSI(second)])
    bench.receive(.commandComplete(credits: 1, .readRSSI, .handle(.unknownConnectionIdentifier, first)))
    #expect(bench.host.links.count == 2)
    bench.receive(.commandComplete(credits: 1, .readRSSI, .rssi(second, -50)))
    #expect(bench.host.links.count == 2)
    #expect(bench.troubles == [.unanswered(.readRSSI)])
  }

  /// Returns a bench with two links, and a request for each. LE Connection Update of the first has timed out, and that
  /// of the second waits for its answer.
  private func twoUpdates() -> HostHarness {
    var bench = bench()
    let links = [
      bench.link(.central, handle: 1), bench.link(.central, handle: 2, to: DeviceAddress(8, .public)),
    ]
    bench.answers[.leConnectionUpdate] = .noAnswer
    bench.forget()
    let parameters = LinkParameters(
      minimumInterval: 12, maximumInterval: 12, latency: 0, supervisionTimeout: 200)
    for link in links {
      bench.perform { host, now in host.changeLink(link, .connectionParameters(parameters), at: now) }
    }
    bench.passToDeadline()
    #expect(bench.now == .zero + .seconds(2))
    #expect(bench.commands.compactMap(\.connection) == links)
    #expect(requestEnds(bench) == [.controller(.unspecifiedError)])
    return bench
  }

  private func requestEnds(_ bench: HostHarness) -> [HostError?] {
    bench.events.compactMap { if case .linkRequestEnded(_, let error) = $0 { error } else { nil } }
  }

  @Test("Of two Command Status events after a command that timed out, the second one answers the next such command")
  func lateStatus() {
    var bench = twoUpdates()
    bench.receive(.commandStatus(.success, credits: 1, .leConnectionUpdate))
    #expect(requestEnds(bench).count == 1)
    bench.receive(.commandStatus(.controllerBusy, credits: 1, .leConnectionUpdate))
    #expect(requestEnds(bench) == [.controller(.unspecifiedError), .controller(.controllerBusy)])
    #expect(bench.now == .zero + .seconds(2))
  }

  @Test("A single Command Status after a command that timed out answers the next such command when its time is over")
  func lostStatus() {
    var bench = twoUpdates()
    bench.receive(.commandStatus(.controllerBusy, credits: 1, .leConnectionUpdate))
    #expect(requestEnds(bench).count == 1)
    bench.passToDeadline()
    #expect(bench.now == .zero + .seconds(4))
    #expect(requestEnds(bench) == [.controller(.unspecifiedError), .controller(.controllerBusy)])
    #expect(bench.troubles == [.unanswered(.leConnectionUpdate)])
  }

  @Test("A controller may withdraw all command credits at any time")
  func stop() {
    var bench = bench()
    bench.receive(.commandComplete(credits: 0, .none, .unknown([])))
    bench.perform { host, now in host.startAdvertising(data: [1], scanResponse: [], at: now) }
    #expect(bench.commands.isEmpty)
    #expect(bench.host.deadline == .zero + .seconds(2))
    bench.receive(.commandComplete(credits: 1, .none, .unknown([])))
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test("A controller that never grants command credits again has failed")
  func noCredits() {
    var bench = bench()
    bench.answers[.leSetAdvertisingParameters] = .noAnswer
    bench.perform { host, now in host.startAdvertising(data: [1], scanResponse: [], at: now) }
    bench.receive(.commandComplete(credits: 0, .leSetAdvertisingParameters, .status(.success)))
    bench.passToDeadline()
    #expect(bench.advertisingAnswers == [.commandTimeout])
    #expect(bench.powerChanges == [.starting, .on])
  }

  @Test("H2: an answer to a command that was not sent, or a truncated one, changes nothing")
  func strayAnswers() {
    var bench = bench()
    let handle = bench.link(.central)
    bench.forget()
    bench.answers[.readRSSI] = .noAnswer
    bench.perform { host, now in host.readRSSI(handle, at: now) }
    let metrics = bench.host.metrics
    bench.receive(.commandComplete(credits: 1, .leRand, .leRand(4)))
    bench.receive(.commandStatus(.success, credits: 1, .leCreateConnection))
    bench.receive(.unknown(code: 0x0E, [1, 0x05, 0x14, 0x00]))
    bench.receive(.unknown(code: 0x0E, [1]))
    bench.receive(.unknown(code: 0x0F, []))
    #expect(bench.levels.isEmpty)
    #expect(bench.host.metrics.unexpectedPackets == metrics.unexpectedPackets + 2)
    #expect(bench.host.metrics.malformedEvents == metrics.malformedEvents + 3)
    bench.receive(.commandComplete(credits: 1, .readRSSI, .rssi(handle, -55)))
    #expect(bench.levels == [.success(-55)])
  }

  @Test("A controller that stops answering is reset once; links end, pending requests fail, and the host restarts")
  func timeout() {
    var bench = bench()
    let handle = bench.link(.central)
    bench.perform { host, now in host.connect(to: DeviceAddress(9, .public), at: now) }
    bench.forget()
    bench.answers[.readRSSI] = .noAnswer
    bench.perform { host, now in
      host.readRSSI(handle, at: now)
      host.startAdvertising(data: [1], scanResponse: [], at: now)
    }
    bench.passToDeadline()
    #expect(bench.now == .zero + .seconds(2))
    #expect(bench.levels == [.failure(.commandTimeout)])
    #expect(bench.disconnections == [.hardwareFailure])
    #expect(bench.failures == [.hardwareFailure])
    #expect(bench.advertisingAnswers == [.commandTimeout])
    #expect(bench.powerChanges == [.starting, .on])
    #expect(bench.host.links.isEmpty)
  }

  @Test("A command that a controller may not support is skipped when it gets no answer")
  func unknownCommand() {
    var bench = bench()
    bench.answers[.leSetDataLength] = .noAnswer
    bench.link(.central)
    bench.forget()
    bench.now = .zero + .seconds(2)
    bench.perform { host, now in host.timeReached(now) }
    #expect(bench.powerChanges.isEmpty)
    #expect(bench.host.links.count == 1)
  }

  @Test("Commands are refused before the host is on")
  func off() {
    var bench = HostHarness()
    bench.perform { host, now in
      host.startAdvertising(data: [], scanResponse: [], at: now)
      host.connect(to: HostHarness.peer, at: now)
      host.setScanning(ScanParameters(isActive: false, filterDuplicates: false), at: now)
      host.readRSSI(HCI.ConnectionHandle(rawValue: 1), at: now)
    }
    #expect(bench.commands.isEmpty)
    #expect(bench.advertisingAnswers == [.controller(.commandDisallowed)])
    #expect(bench.failures == [.commandDisallowed])
    #expect(bench.levels == [.failure(.notConnected)])
  }

  @Test("Random events never trap")
  func randomInput() {
    var bench = bench()
    bench.link(.central)
    bench.link(.peripheral, handle: 0x41, to: DeviceAddress(7, .public))
    var generator = RandomStream(seed: 5)
    for _ in 0..<20_000 {
      let octets = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      let code: UInt8 = [0x05, 0x0E, 0x0F, 0x13, 0x3E, 0x3E, 0x3E].randomElement(using: &generator) ?? 0x3E
      bench.host.receive(.event(code: code, parameters: ByteSlice(octets)), at: bench.now)
      bench.run()
    }
    #expect(bench.host.metrics.malformedEvents > 0)
  }
}
