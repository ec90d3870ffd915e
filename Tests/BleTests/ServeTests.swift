import BluetoothAir
import BluetoothDissection
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ble

/// `ble serve` and `ble clone`, with a central in the same world, in virtual time.
@Suite struct ServeTests {
  private static func value(_ uuid: String, of peripheral: Peripheral, _ stage: Stage) async throws -> String {
    let characteristic = try await AttributePath(uuid).characteristic(on: peripheral, stage)
    return String(decoding: try await characteristic.read(within: stage.stepLimit), as: UTF8.self)
  }

  @Test("A verb that serves ends the links of its centrals before it ends, and they see no timeout")
  func ending() throws {
    try Meeting.run { _, central, stage in
      let (found, beginning) = try await stage.withLocalPeripheral { device in
        try await device.withAdvertising(localName: "Thing") { () -> (DeviceChoice.Candidate, Duration) in
          let found = try await Meeting.find("Thing", central, stage)
          try await found.peripheral.connect(within: stage.stepLimit)
          return (found, stage.now)
        }
      }
      #expect(stage.now - beginning < .seconds(0.5))
      // The central may get the end one connection interval later.
      try await stage.sleep(0.1)
      #expect(found.peripheral.state == .disconnected)
      #expect(found.peripheral.lastDisconnection?.reason == .remoteUserTerminatedConnection)
    }
  }

  @Test("An interrupted verb that serves ends the links of its centrals, too")
  func interruption() throws {
    try Meeting.run { _, central, stage in
      let serving = Task(executorPreference: stage.taskExecutor) {
        try await stage.withLocalPeripheral { device in try await device.advertise(localName: "Thing") }
      }
      let found = try await Meeting.find("Thing", central, stage)
      try await found.peripheral.connect(within: stage.stepLimit)
      serving.cancel()
      await #expect(throws: CancellationError.self) { try await serving.value }
      try await stage.sleep(0.1)
      #expect(found.peripheral.state == .disconnected)
      #expect(found.peripheral.lastDisconnection?.reason == .remoteUserTerminatedConnection)
    }
  }

  @Test("A served device has the values of its file, takes written ones, and refuses those that are too long")
  func values() throws {
    let lines = try Meeting.play(
      Meeting.file(
        """
        - uuid: 180F
          characteristics: [{uuid: 2A19, properties: [read], value: 57}]
        - uuid: 1815
          characteristics:
            - {uuid: 2A58, properties: [read, write], text: old, maximumLength: 300}
            - {uuid: 2A56, properties: [read], text: "\(String(repeating: "long ", count: 60))"}
        """)
    ) { _, found, stage in
      try await stage.withLink(to: found) { peripheral in
        // A service that belongs to the system on Apple's platforms.
        #expect(try await Self.value("2A19", of: peripheral, stage) == "W")
        #expect(try await Self.value("2A58", of: peripheral, stage) == "old")
        #expect(try await Self.value("2A56", of: peripheral, stage) == String(repeating: "long ", count: 60))
        let characteristic = try await AttributePath("2A58").characteristic(on: peripheral, stage)
        try await characteristic.write(Data("new".utf8), within: stage.stepLimit)
        #expect(try await Self.value("2A58", of: peripheral, stage) == "new")
        await #expect(throws: CBATTError.self) {
          try await characteristic.write(Data(repeating: 1, count: 301), within: stage.stepLimit)
        }
        #expect(try await Self.value("2A58", of: peripheral, stage) == "new")
      }
    }
    #expect(lines.first == "serving \"Thing\"")
    #expect(lines.contains("read Battery Level (2A19) 0x57 87 %"))
    let writes = lines.filter { $0.hasPrefix("write ") }
    #expect(writes.count == 2)
    #expect(writes.last?.contains(" 0x" + String(repeating: "01", count: 301) + " ") == true)
    #expect(writes.last?.hasSuffix(" rejected: Invalid Attribute Value Length (0x0D)") == true)
  }

  @Test("A served device sends what is written, what is echoed, and the values of a sequence")
  func notifications() throws {
    let lines = try Meeting.play(
      Meeting.file(
        """
        - uuid: 1815
          characteristics:
            - {uuid: 2A56, properties: [write]}
            - {uuid: 2A57, properties: [read, notify], echo: 2A56}
            - {uuid: 2A58, properties: [indicate], values: ["01", "02", "03"], notifyPeriod: 0.5}
        """)
    ) { _, found, stage in
      try await stage.withLink(to: found) { peripheral in
        let echo = try await AttributePath("2A57").characteristic(on: peripheral, stage)
        let written = try await AttributePath("2A56").characteristic(on: peripheral, stage)
        let echoes = try await echo.subscribe(within: stage.stepLimit)
        try await written.write(Data("a".utf8), within: stage.stepLimit)
        try await written.write(Data("b".utf8), within: stage.stepLimit)
        var received: [Data] = []
        for try await value in echoes {
          received.append(value)
          if received.count == 2 { break }
        }
        #expect(received == [Data("a".utf8), Data("b".utf8)])
        #expect(try await Self.value("2A57", of: peripheral, stage) == "b")
        let sequence = try await AttributePath("2A58").characteristic(on: peripheral, stage)
        let values = try await sequence.subscribe(within: stage.stepLimit)
        let start = stage.now
        received = []
        for try await value in values {
          received.append(value)
          if received.count == 4 { break }
        }
        #expect(received.map { $0.first } == [2, 3, 1, 2])
        let time = stage.now - start
        #expect(time > .seconds(1.9) && time < .seconds(2.5))
      }
    }
    #expect(lines.contains { $0.hasPrefix("subscribe ") && $0.hasSuffix("(2A57)") })
    #expect(lines.contains { $0.hasPrefix("unsubscribe ") && $0.hasSuffix("(2A57)") })
  }

  @Test("Written values that can't be sent in time are left out, except the latest one")
  func writtenValues() throws {
    try Meeting.play(
      Meeting.file(
        """
        - uuid: 1815
          characteristics: [{uuid: 2A58, properties: [write-without-response, indicate]}]
        """)
    ) { _, found, stage in
      try await stage.withLink(to: found) { peripheral in
        let characteristic = try await AttributePath("2A58").characteristic(on: peripheral, stage)
        let values = try await characteristic.subscribe(within: stage.stepLimit)
        let received = NIOLockedValueBox<[Data]>([])
        let receiver = Task(executorPreference: stage.taskExecutor) {
          for try await value in values { received.withLockedValue { $0.append(value) } }
        }
        for number in 1...2_000 {
          let value = Data([UInt8(number >> 8), UInt8(truncatingIfNeeded: number)])
          try await characteristic.writeWithoutResponse(value, within: stage.stepLimit)
        }
        // Time for 2,000 indications.
        try await stage.sleep(300)
        receiver.cancel()
        _ = await receiver.result
        let all = received.withLockedValue { $0 }
        #expect(all.count < 1_000 && all.last == Data([0x07, 0xD0]))
      }
    }
  }

  @Test("A served value comes from a command, for each read and for each period; a failing command rejects the read")
  func commands() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // The command counts its runs.
    let count = "echo x >> '\(folder)/n'; wc -l < '\(folder)/n' | tr -d ' '"
    let lines = try Meeting.play(
      Meeting.file(
        """
        - uuid: 1815
          characteristics:
            - {uuid: 2A56, properties: [read, notify], command: "\(count)", notifyPeriod: 1}
            - {uuid: 2A57, properties: [read], command: "echo u16:513", output: value}
            - {uuid: 2A58, properties: [read], command: exit 1}
        """)
    ) { _, found, stage in
      try await stage.withLink(to: found) { peripheral in
        #expect(try await Self.value("2A56", of: peripheral, stage) == "1")
        #expect(try await Self.value("2A56", of: peripheral, stage) == "2")
        #expect(try await Self.value("2A57", of: peripheral, stage) == "\u{1}\u{2}")
        await #expect(throws: CBATTError.self) { _ = try await Self.value("2A58", of: peripheral, stage) }
        let characteristic = try await AttributePath("2A56").characteristic(on: peripheral, stage)
        for try await value in try await characteristic.subscribe(within: stage.stepLimit) {
          #expect(value == Data("3".utf8))
          break
        }
      }
    }
    #expect(lines.contains { $0.hasPrefix("read ") && $0.hasSuffix("(2A58) rejected: Unlikely Error (0x0E)") })
  }

  /// A FIFO whose other end a program opens.
  private final class ProgramFIFO {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    private let descriptor: Int32

    init() throws {
      try #require(mkfifo(path, 0o600) == 0)
      descriptor = open(path, O_RDONLY | O_NONBLOCK)
      try #require(descriptor >= 0)
    }

    deinit {
      close(descriptor)
      unlink(path)
    }

    /// Waits for an event of the FIFO. Returns false after a time that only a hang reaches.
    func wait(for event: Int32) -> Bool {
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&request, 1, 60_000) == 1 && request.revents & Int16(event) != 0
    }
  }

  /// Runs a program on a thread of its own, and stops it when `isReady` has returned.
  ///
  /// - Returns: the reason why it has no output.
  private func stop(_ program: ShellProgram, when isReady: () throws -> Void) throws -> String? {
    let reason = NIOLockedValueBox<String?>(nil)
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { _ = try program.output(within: 3_600) } catch {
        reason.withLockedValue { $0 = (error as? ShellProgram.NoValue)?.reason }
      }
      ended.signal()
    }
    defer { program.stop() }
    try isReady()
    program.stop()
    #expect(ended.wait(timeout: .now() + 60) == .success)
    return reason.withLockedValue { $0 }
  }

  @Test("A command that does not end is stopped after its time")
  func timeLimit() {
    #expect(throws: ShellProgram.NoValue.self) { try ShellProgram("exec sleep 3600").output(within: 0.01) }
  }

  @Test("A command that leaves a program behind, which keeps its output open, is stopped after its time")
  func leftBehind() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: file) }
    let program = ShellProgram("setsid sleep 60 & echo $! > '\(file)'")
    #expect(throws: ShellProgram.NoValue.self) { try program.output(within: 0.5) }
    // The program still runs, so nobody has waited for it.
    let text = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    let process = try #require(pid_t(text))
    #expect(kill(process, SIGKILL) == 0)
  }

  @Test("The stop of a command that has ended stops the programs that it has left in its group")
  func leftInGroup() throws {
    let (shell, program) = (try ProgramFIFO(), try ProgramFIFO())
    // The program has one FIFO open until it ends, and the shell the other one.
    let command = "exec 3> '\(program.path)' 4> '\(shell.path)'; sleep 3600 4>&- &"
    let reason = try stop(ShellProgram(command)) { try #require(shell.wait(for: POLLHUP)) }
    #expect(reason == "has not ended within 3600 s")
    #expect(program.wait(for: POLLHUP))
  }

  @Test("The clone of a served clone is the same file, also with a protected value")
  func roundTrip() throws {
    let original = Meeting.file(
      """
      - uuid: 180A
        characteristics: [{uuid: 2A29, properties: [read], text: Example & Sons}]
      - uuid: 6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001
        includes: [180A]
        characteristics:
          - uuid: 6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C002
            properties: [read, write-without-response, notify]
            value: 7D 00
            userDescription: "Volts: now"
            presentationFormat: {format: 6, exponent: -1, unit: 0x2728}
          - uuid: 6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C003
            properties: [read, indicate]
            protection: encrypted
            value: "01"
      """)
    var text = original
    var clones: [String] = []
    for _ in 0..<2 {
      let clone = NIOLockedValueBox("")
      try Meeting.play(text) { central, found, stage in
        let advertising = NIOLockedValueBox(RecordedAdvertising())
        do {
          try await withTimeLimit(stage.limit(3)) {
            for try await packet in central.packets() { advertising.withLockedValue { $0.add(packet) } }
          }
        } catch is TimeLimitExceeded {}
        let tree = try await stage.withLink(to: found) { try await GATTTree(of: $0, readsValues: true, stage) }
        let recording = RecordingFile(named: "Thing", advertising.withLockedValue { $0 }, tree)
        #expect(recording.notes == [])
        clone.withLockedValue { $0 = recording.yaml }
      }
      text = clone.withLockedValue { $0 }
      clones.append(text)
    }
    #expect(clones[0] == clones[1])
    // The file plays what the original file plays.
    let first = try #require(try WorldFile(text: original).members.first?.description)
    let second = try #require(try WorldFile(text: clones[0]).members.first?.description)
    #expect(first == second)
  }

  @Test("The clone of a bonded device has a note that the values that need encryption are unknown")
  func bondedClone() throws {
    let file = Meeting.file(
      """
      - uuid: 6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001
        characteristics:
          - uuid: 6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C002
            properties: [read]
            protection: encrypted
            value: "01"
      """)
    try Meeting.play(file) { _, found, stage in
      var advertising = RecordedAdvertising()
      advertising.add(.advInd, [2, 1, 6], isConnectable: true, at: .zero)
      for isBonded in [false, true] {
        #expect((found.peripheral.bond != nil) == isBonded)
        let tree = try await stage.withLink(to: found) { try await GATTTree(of: $0, readsValues: true, stage) }
        let recording = RecordingFile(named: "Thing", advertising, tree)
        #expect(recording.counts.values == 1)
        #expect(recording.yaml.contains("protection: encrypted") == !isBonded)
        #expect(recording.notes.count == (isBonded ? 1 : 0), "\(recording.notes)")
        let isNoted = recording.notes.contains { $0.contains("which values need encryption is unknown") }
        #expect(isNoted == isBonded)
      }
      // Without values there is nothing to protect.
      let tree = try await stage.withLink(to: found) { try await GATTTree(of: $0, readsValues: false, stage) }
      #expect(RecordingFile(named: "Thing", advertising, tree).notes == [])
    }
  }
}
