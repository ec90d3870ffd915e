import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// The recovery of controllers that fail or stop answering · Vol 4, Part E, 4.4, 7.3.2, 7.7.16.
struct ControllerRecoveryTests {
  /// Returns a bench that is on.
  private func bench() -> HostHarness {
    var bench = HostHarness()
    bench.powerOn()
    return bench
  }

  private static func resetting(_ attempt: Int, after seconds: Int64) -> HostDiagnostic {
    .resetting(attempt: attempt, of: 5, after: .seconds(seconds))
  }

  @Test("A controller that fails repeatedly is reset five times with growing pauses and then abandoned")
  func backOff() {
    var bench = bench()
    for pause: Int64 in [0, 1, 2, 4, 8] {
      let start = bench.now
      bench.receive(.hardwareError(0x42))
      #expect(bench.powerChanges.last == (pause == 0 ? .on : .starting))
      if pause > 0 { bench.passToDeadline() }
      #expect(bench.powerChanges.last == .on)
      #expect(bench.now - start == .seconds(pause))
    }
    #expect(bench.commands.filter { $0 == .reset }.count == 5)
    bench.receive(.hardwareError(0x42))
    #expect(bench.powerChanges.suffix(2) == [.starting, .unsupported])
    #expect(bench.host.deadline == nil)
    #expect(bench.troubles.filter { $0 == .hardwareError(0x42) }.count == 6)
    #expect(bench.troubles.filter { $0 == .recovered }.count == 5)
    #expect(bench.troubles.last == .failed)
    bench.forget()
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges == [.starting, .on])
  }

  @Test("A controller that has worked for ten seconds gets all its attempts again")
  func trialTime() {
    var bench = bench()
    for _ in 0..<20 {
      bench.forget()
      bench.receive(.hardwareError(1))
      #expect(bench.troubles == [.hardwareError(1), Self.resetting(1, after: 0), .recovered])
      #expect(bench.powerChanges == [.starting, .on])
      bench.now = bench.now + .seconds(10)
    }
  }

  @Test("A controller that stays silent gets five resets within 25 seconds, with a log line for each")
  func neverBack() {
    var bench = bench()
    bench.answers[.readRSSI] = .noAnswer
    bench.answers[.reset] = .noAnswer
    let handle = bench.link(.peripheral)
    bench.forget()
    bench.perform { host, now in host.readRSSI(handle, at: now) }
    let start = bench.now
    while bench.host.deadline != nil { bench.passToDeadline() }
    let attempts = [0, 1, 2, 4, 8].enumerated().flatMap { number, pause in
      [Self.resetting(number + 1, after: pause), .unanswered(.reset)]
    }
    #expect(bench.troubles == [.unanswered(.readRSSI)] + attempts + [.failed])
    // Two seconds for the first timeout and for each attempt, and the pauses between them.
    #expect(bench.now - start == .seconds(2 + 5 * 2 + 15))
    #expect(bench.powerChanges == [.starting, .unsupported])
    #expect(bench.commands.filter { $0 == .reset }.count == 5)
    #expect(bench.levels == [.failure(.commandTimeout)])
    #expect(bench.disconnections == [.hardwareFailure])
  }

  @Test("A silent controller whose transport can be opened again is unreachable, and works on a new transport")
  func reopening() {
    var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
    configuration.canReopenTransport = true
    var bench = HostHarness(configuration: configuration)
    bench.answers[.reset] = .noAnswer
    bench.perform { host, now in host.setPower(true, at: now) }
    for _ in 0..<3 {
      #expect(!bench.host.needsNewTransport)
      let start = bench.now
      while bench.host.deadline != nil { bench.passToDeadline() }
      #expect(bench.now - start == .seconds(4))
      #expect(bench.host.needsNewTransport)
      #expect(bench.powerChanges == [.starting, .unreachable])
      #expect(bench.commands == [.reset, .reset])
      #expect(bench.troubles.last == .unanswered(.reset))
      bench.perform { host, now in host.setTransport(.lost, at: now) }
      #expect(!bench.host.needsNewTransport)
      bench.forget()
      bench.perform { host, now in host.setTransport(.ready, at: now) }
    }
    bench.answers = [:]
    bench.passToDeadline()
    #expect(bench.powerChanges == [.starting, .on])
  }

  @Test("Switching off during a pause ends the attempts, and switching on starts again")
  func offInPause() {
    var bench = bench()
    bench.receive(.hardwareError(1))
    bench.receive(.hardwareError(1))
    bench.forget()
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.events.isEmpty && bench.commands.isEmpty)
    bench.perform { host, now in host.setPower(false, at: now) }
    #expect(bench.powerChanges == [.off])
    #expect(bench.host.deadline == nil)
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges == [.off, .starting, .on])
  }

  @Test("Switching off a silent controller takes no longer with many links")
  func offWithoutAnswers() {
    var bench = bench()
    for number in UInt16(0)..<6 {
      bench.link(.peripheral, handle: 0x60 + number, to: DeviceAddress(0xC000_0000_0200 + UInt64(number), .random))
    }
    bench.forget()
    bench.answers[.disconnect] = .noAnswer
    bench.answers[.reset] = .noAnswer
    let start = bench.now
    bench.perform { host, now in host.setPower(false, at: now) }
    while bench.host.deadline != nil, bench.commands.count < 20 { bench.passToDeadline() }
    #expect(bench.commands.map(\.opcode) == [.disconnect, .reset])
    #expect(bench.now == start + .seconds(4))
    #expect(bench.powerChanges == [.off])
  }

  @Test("Switching off sends nothing without command credits, and results of earlier commands are not reported")
  func offWithoutCredits() {
    for isAsked in [true, false] {
      var bench = bench()
      let handle = bench.link(.peripheral, handle: 0x60, to: DeviceAddress(0xC000_0000_0200, .random))
      bench.answers[.readRSSI] = .noAnswer
      if isAsked {
        bench.perform { host, now in host.readRSSI(handle, at: now) }
      } else {
        bench.receive(.commandComplete(credits: 0, .none, .unknown([])))
      }
      bench.forget()
      bench.perform { host, now in host.setPower(false, at: now) }
      #expect(bench.commands.isEmpty)
      let answer = HCI.ReturnParameters.rssi(handle, -40)
      bench.receive(.commandComplete(credits: 1, isAsked ? .readRSSI : .none, isAsked ? answer : .unknown([])))
      #expect(bench.commands.first?.opcode == .disconnect)
      #expect(bench.levels.isEmpty)
    }
  }

  @Test("After a reset, advertising, scanning, connecting, links and services work again")
  func everythingAgain() throws {
    var bench = bench()
    let published = bench.host.addService(
      GATTServiceDefinition(
        uuid: 0x180D, isPrimary: true, includes: [],
        characteristics: [
          GATTCharacteristicDefinition(uuid: 0x2A38, properties: .read, permissions: .readable, value: [7])
        ]), at: .zero)
    let value = try #require(try published.get().values.first)
    let wanted = DeviceAddress(0xC000_0000_0042, .random)
    for isSecondRound in [false, true] {
      bench.forget()
      bench.perform { host, now in
        host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now)
        host.setScanning(ScanParameters(isActive: true, filterDuplicates: true), at: now)
        host.connect(to: wanted, at: now)
      }
      #expect(bench.advertisingAnswers == [nil])
      #expect(bench.commands.contains(.leSetAdvertisingEnable(true)))
      #expect(bench.commands.contains(.leSetScanEnable(true, filterDuplicates: true)))
      #expect(bench.commands.map(\.opcode).contains(.leCreateConnection))
      let handle = bench.link(.peripheral)
      bench.completeAll()
      let number = value
      bench.receive(.attribute, [0x0A, UInt8(truncatingIfNeeded: number), UInt8(number >> 8)], on: handle)
      #expect(try bench.payloads(on: handle, .attribute).last == [0x0B, 7])
      guard !isSecondRound else { break }
      bench.receive(.hardwareError(9))
      #expect(bench.failures == [.hardwareFailure])
      #expect(bench.disconnections == [.hardwareFailure])
      #expect(bench.powerChanges == [.starting, .on])
    }
    try bench.expectWorking(secondLink: nil)
  }

  @Test("A Hardware Error from before Reset does not restart it; one after Reset does")
  func lateHardwareError() {
    var bench = bench()
    bench.forget()
    bench.answers[.reset] = .noAnswer
    bench.receive(.hardwareError(1))
    bench.receive(.hardwareError(2))
    #expect(bench.commands == [.reset])
    bench.answers[.setEventMask] = .noAnswer
    bench.receive(.commandComplete(credits: 1, .reset, .status(.success)))
    bench.receive(.hardwareError(3))
    #expect(
      bench.troubles == [
        .hardwareError(1), Self.resetting(1, after: 0), .hardwareError(3), Self.resetting(2, after: 1),
      ])
    bench.answers = [:]
    bench.passToDeadline()
    #expect(bench.powerChanges == [.starting, .on])
  }

  @Test("Any three consecutive commands without an answer cause a reset")
  func silentInRow() {
    var bench = bench()
    bench.answers[.leSetDataLength] = .noAnswer
    bench.answers[.leLongTermKeyRequestNegativeReply] = .noAnswer
    let handle = bench.link(.central)
    bench.forget()
    for _ in 0..<2 { bench.receive(.leLongTermKeyRequest(handle, random: 0, encryptedDiversifier: 0)) }
    while bench.powerChanges.isEmpty, bench.now < .zero + .seconds(20) { bench.passToDeadline() }
    #expect(bench.now == .zero + .seconds(6))
    #expect(
      bench.troubles == [
        .unanswered(.leSetDataLength), .unanswered(.leLongTermKeyRequestNegativeReply),
        .unanswered(.leLongTermKeyRequestNegativeReply), Self.resetting(1, after: 0), .recovered,
      ])
    #expect(bench.disconnections == [.hardwareFailure])
  }

  @Test("A controller's Data Buffer Overflow is reported")
  func overflow() {
    var bench = bench()
    bench.receive(.dataBufferOverflow(linkType: 1))
    #expect(bench.troubles == [.dataBufferOverflow])
    #expect(bench.powerChanges.isEmpty)
  }

  @Test("Each problem gives a log line that describes it")
  func lines() {
    let lines: [(HostDiagnostic, String)] = [
      (.unanswered(.leSetPHY), "The controller did not answer LE Set PHY within 2 s."),
      (.noCommandsTaken, "The controller has not accepted a command for 2 s."),
      (.hardwareError(0x42), "The controller reports Hardware Error 0x42."),
      (.synchronizationLost, "Lost synchronization: the data from the controller is not valid HCI."),
      (Self.resetting(1, after: 0), "Resetting the controller, attempt 1 of 5."),
      (Self.resetting(3, after: 2), "Resetting the controller in 2 s, attempt 3 of 5."),
      (.recovered, "The controller works again."),
      (
        .linkNotEnded(HCI.ConnectionHandle(rawValue: 0x40)),
        "The controller did not report the end of connection 0x0040; the connection is considered closed."
      ),
    ]
    for (trouble, line) in lines { #expect(trouble.description == line) }
    #expect(HostDiagnostic.failed.isFatal && !HostDiagnostic.recovered.isFatal)
  }
}
