import ArgumentParser
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ble

/// The protocol and the progress of `ble send` and `ble receive`.
@Suite struct TransferTests {
  @Test("The announcement of a file has its size and the length of its name")
  func header() {
    let header = FileTransfer.Header(name: "é.bin", size: 0x0102_0304_0506_0708)
    let prefix = FileTransfer.Header.prefix(Array(header.octets.prefix(FileTransfer.Header.prefixLength)))
    #expect(prefix?.size == 0x0102_0304_0506_0708)
    #expect(prefix?.nameLength == 6)
    #expect(Array(header.octets.suffix(6)) == Array("é.bin".utf8))
    #expect(FileTransfer.Header(name: String(repeating: "x", count: 300), size: 0).octets.count == 14 + 255)
    #expect(FileTransfer.Header.prefix([UInt8](repeating: 0, count: FileTransfer.Header.prefixLength)) == nil)
    #expect(FileTransfer.Header.prefix([]) == nil)
  }

  @Test("A refusal always has a reason of 1 to 255 octets")
  func answers() {
    #expect(FileTransfer.Answer.accepted.octets == [0])
    #expect(FileTransfer.Answer.refused("no").octets == [2, 0x6E, 0x6F])
    #expect(FileTransfer.Answer.refused("").octets == [1, 0x3F])
    #expect(FileTransfer.Answer.refused(String(repeating: "x", count: 300)).octets.count == 256)
  }

  @Test("A transfer over a characteristic carries octets in both directions, and ends with the subscription")
  func characteristic() throws {
    try Meeting.run { local, central, stage in
      let receiver = LocalTransfer(by: local)
      try await local.add(LocalService(FileTransfer.service, [receiver.characteristic]), within: stage.stepLimit)
      try await local.withAdvertising(localName: "Sink") {
        let found = try await Meeting.find("Sink", central, stage)
        try await stage.withLink(to: found) { peripheral in
          let path = try AttributePath(FileTransfer.data.uuidString)
          let sender = try await RemoteTransfer(path.characteristic(on: peripheral, stage), stage)
          let octets = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
          try await sender.write(Data(octets), within: stage.stepLimit)
          try await receiver.waitForBeginning()
          let watch = Task(executorPreference: stage.taskExecutor) { await receiver.watch() }
          var incoming = ChannelReader(receiver, stage)
          let received = try await incoming.exactly(5_000)
          #expect(received == octets)
          var answers = ChannelReader(sender, stage)
          try await receiver.write(Data(FileTransfer.Answer.accepted.octets), within: stage.stepLimit)
          let first = try await answers.answer()
          #expect(first == .accepted)
          let reason = String(repeating: "full ", count: 40)
          try await receiver.write(Data(FileTransfer.Answer.refused(reason).octets), within: stage.stepLimit)
          let second = try await answers.answer()
          #expect(second == .refused(reason))
          sender.close()
          #expect(try await receiver.octets(within: stage.stepLimit) == nil)
          await watch.value
        }
      }
    }
  }

  @Test("A sender stops when the receiver refuses the file before it has all octets")
  func earlyRefusal() throws {
    try withFolder { folder in
      let path = folder + "/a"
      try Data(repeating: 7, count: 4_000_000).write(to: URL(fileURLWithPath: path))
      let count = NIOLockedValueBox(0)
      try Meeting.run { local, central, stage in
        let listener = try await local.publishL2CAPChannel(within: stage.stepLimit)
        let receiver = Task(executorPreference: stage.taskExecutor) {
          guard let channel = try await listener.channels.first(where: { _ in true }) else { return }
          var reader = ChannelReader(channel, stage)
          _ = try await reader.exactly(FileTransfer.Header.prefixLength + 1)
          try await channel.write(Data(FileTransfer.Answer.accepted.octets), within: stage.stepLimit)
          _ = try await reader.exactly(1)
          try await channel.write(Data(FileTransfer.Answer.refused("full").octets), within: stage.stepLimit)
          while let octets = try? await channel.octets(within: stage.stepLimit) {
            count.withLockedValue { $0 += octets.count }
          }
        }
        try await local.withAdvertising(localName: "Sink") {
          let found = try await Meeting.find("Sink", central, stage)
          try await stage.withLink(to: found) { peripheral in
            let channel = try await peripheral.openL2CAPChannel(listener.psm, within: stage.stepLimit)
            let failure = await #expect(throws: Failure.self) {
              try await Send.transfer(try SentFile(path), over: channel, stage)
            }
            #expect(failure?.status == ExitStatus.refused)
            #expect(failure?.description == "the receiver has refused the file: full")
            channel.close()
          }
        }
        try await receiver.value
      }
      #expect(count.withLockedValue { $0 } < 1_000_000)
    }
  }

  @Test("A receiver that has refused a file waits 5 s for a sender that does not stop")
  func endlessSender() throws {
    try withFolder { folder in
      let path = folder + "/a"
      try Data([1]).write(to: URL(fileURLWithPath: path))
      try Meeting.run { local, central, stage in
        let listener = try await local.publishL2CAPChannel(within: stage.stepLimit)
        let receiver = Task(executorPreference: stage.taskExecutor) { () -> (Failure?, Double) in
          guard let channel = try await listener.channels.first(where: { _ in true }) else { return (nil, 0) }
          let start = stage.now
          do {
            _ = try await Receive.parse(["-o", path]).transfer(from: channel, stage)
          } catch let failure as Failure { return (failure, (stage.now - start).seconds) }
          return (nil, 0)
        }
        try await local.withAdvertising(localName: "Sink") {
          let found = try await Meeting.find("Sink", central, stage)
          try await stage.withLink(to: found) { peripheral in
            let channel = try await peripheral.openL2CAPChannel(listener.psm, within: stage.stepLimit)
            let header = FileTransfer.Header(name: "a", size: 1 << 40)
            try await channel.write(Data(header.octets), within: stage.stepLimit)
            let sender = Task(executorPreference: stage.taskExecutor) {
              while true { try await channel.write(Data(repeating: 7, count: 1_000), within: stage.stepLimit) }
            }
            let (failure, time) = try await receiver.value
            #expect(failure?.status == ExitStatus.refused)
            #expect(4.9...6 ~= time)
            sender.cancel()
            _ = await sender.result
            channel.close()
          }
        }
      }
      #expect(FileManager.default.contents(atPath: path) == Data([1]))
    }
  }

  @Test("A queue of octets without room for more ends the transfer after those that it has")
  func overflow() async throws {
    let queue = PieceQueue(maximumCount: 2)
    for number: UInt8 in 1...4 { queue.add(Data([number])) }
    #expect(try await queue.next(within: nil) == Data([1]))
    #expect(try await queue.next(within: nil) == Data([2]))
    let failure = await #expect(throws: Failure.self) { try await queue.next(within: nil) }
    #expect(failure?.status == ExitStatus.linkLost)
  }

  @Test("The end of the link right after a channel was closed loses none of its octets")
  func closing() throws {
    let octets = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 8) })
    try Meeting.run { local, central, stage in
      let listener = try await local.publishL2CAPChannel(within: stage.stepLimit)
      let reader = Task(executorPreference: stage.taskExecutor) { () -> Data in
        var received = Data()
        guard let channel = try await listener.channels.first(where: { _ in true }) else { return received }
        for try await piece in channel.incoming { received += piece }
        return received
      }
      try await local.withAdvertising(localName: "Sink") {
        let found = try await Meeting.find("Sink", central, stage)
        try await stage.withLink(to: found) { peripheral in
          let channel = try await peripheral.openL2CAPChannel(listener.psm, within: stage.stepLimit)
          try await channel.write(octets, within: stage.stepLimit)
          try await channel.closeWhenSent(within: stage.stepLimit)
          #expect(channel.pendingCount == 0)
        }
      }
      let received = try await reader.value
      #expect(received == octets)
    }
  }

  /// Opens a channel whose other end reads nothing, and runs `ble l2cap` with it.
  ///
  /// - Parameters:
  ///   - pieces: the standard input.
  ///   - closesAfter: the time after which the other end is closed, in seconds; nil: at the end.
  /// - Returns: the failure, and the time that the verb took in seconds.
  private func pipe(_ pieces: [Data], endsInput: Bool, closesAfter: Double?) throws -> (Failure?, Double) {
    let result = NIOLockedValueBox<(Failure?, Double)>((nil, 0))
    try Meeting.run { local, central, stage in
      let listener = try await local.publishL2CAPChannel(within: stage.stepLimit)
      let other = Task(executorPreference: stage.taskExecutor) {
        guard let channel = try await listener.channels.first(where: { _ in true }) else { return }
        try await stage.sleep(closesAfter ?? 1_000)
        channel.close()
      }
      try await local.withAdvertising(localName: "Sink") {
        let found = try await Meeting.find("Sink", central, stage)
        try await stage.withLink(to: found) { peripheral in
          let channel = try await peripheral.openL2CAPChannel(listener.psm, within: stage.stepLimit)
          let (input, continuation) = AsyncStream.makeStream(of: Data.self)
          for piece in pieces { continuation.yield(piece) }
          if endsInput { continuation.finish() }
          let start = stage.now
          var failure: Failure?
          do {
            try await L2CAP.Pipe.parse([]).run(channel, input, stage) { _ in }
          } catch let error as Failure { failure = error }
          continuation.finish()
          let (end, time) = (failure, (stage.now - start).seconds)
          result.withLockedValue { $0 = (end, time) }
        }
      }
      other.cancel()
      _ = try? await other.value
    }
    return result.withLockedValue { $0 }
  }

  private static let pieces = Array(repeating: Data(repeating: 7, count: 16_384), count: 20)

  @Test("l2cap fails if the other side closes the channel before it has all octets", arguments: [1, 20])
  func cutPipe(count: Int) throws {
    // With more pieces, a write is pending. The other side's close returns its credits, which are not enough for the
    // rest of one piece.
    let pieces = count == 1 ? [Data(repeating: 7, count: 90_000)] : Self.pieces
    let (failure, time) = try pipe(pieces, endsInput: count == 1, closesAfter: 5)
    #expect(failure?.status == ExitStatus.linkLost)
    #expect(failure?.description == "the other side closed the channel before it had all octets")
    #expect(4...6 ~= time)
  }

  @Test("l2cap waits for a side that takes nothing for the time of --timeout")
  func stalledPipe() throws {
    let (failure, time) = try pipe(Self.pieces, endsInput: true, closesAfter: nil)
    #expect(failure?.status == ExitStatus.timeLimit)
    #expect(29...36 ~= time, "the limit is 30 s from the last progress")
  }

  @Test("l2cap ends without a failure if the other side closes the channel and nothing was left to send")
  func idlePipe() throws {
    let (failure, time) = try pipe([], endsInput: false, closesAfter: 5)
    #expect(failure == nil && 4...6 ~= time)
    let (other, _) = try pipe([Data([1, 2, 3])], endsInput: false, closesAfter: 5)
    #expect(other == nil)
  }

  @Test("Progress is octets, percentage, rate and remaining time")
  func progress() {
    #expect(TransferProgress.line(0, of: 10, after: 0) == "0 B of 10 B  0 %")
    #expect(
      TransferProgress.line(12_345_678, of: 40_000_000, after: 60)
        == "12.3 MB of 40.0 MB  30 %  205.8 kB/s  2:15 left")
    #expect(TransferProgress.line(0, of: 0, after: 1) == "0 B of 0 B  100 %")
    #expect(TransferProgress.amount(999) == "999 B")
    #expect(TransferProgress.amount(999_960) == "1.0 MB")
    #expect(TransferProgress.time(3_725) == "1:02:05")
    #expect(TransferProgress.time(-1) == "0:00")
    #expect(TransferProgress.time(.infinity) == "99:59:59")
  }

  /// Runs `body` with an empty folder.
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.path)
  }

  @Test("A received file appears when it is complete, and an incomplete one leaves nothing")
  func files() throws {
    try withFolder { folder in
      func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder) }
      do {
        let lost = try ReceivedFile(folder, named: "a", replaces: false)
        try lost.write([1])
        #expect(try names().count == 1 && names() != ["a"])
        lost.discard()
      }
      #expect(try names().isEmpty)
      let file = try ReceivedFile(folder + "/", named: "a", replaces: false)
      try file.write([1, 2])
      try file.keep()
      #expect(try names() == ["a"])
      #expect(FileManager.default.contents(atPath: folder + "/a") == Data([1, 2]))
      // The file stays, unless it is to be replaced.
      let failure = #expect(throws: Failure.self) { try ReceivedFile(folder + "/a", named: "b", replaces: false) }
      #expect(failure?.status == ExitStatus.refused)
      let other = try ReceivedFile(folder + "/a", named: "b", replaces: true)
      try other.keep()
      #expect(FileManager.default.contents(atPath: folder + "/a") == Data())
      #expect(try names() == ["a"])
    }
  }

  @Test("A file that gets another size while it is sent ends the transfer")
  func changes() throws {
    try withFolder { folder in
      let url = URL(fileURLWithPath: folder + "/a")
      try Data([1, 2, 3]).write(to: url)
      let whole = try SentFile(url.path)
      #expect(whole.size == 3 && whole.name == "a")
      #expect(try whole.next(after: 0) == Data([1, 2, 3]))
      #expect(try whole.next(after: 3) == nil)
      let grown = try SentFile(url.path)
      try Data([1, 2, 3, 4]).write(to: url)
      #expect(throws: Failure.self) { try grown.next(after: 0) }
      let cut = try SentFile(url.path)
      try Data([1]).write(to: url)
      #expect(try cut.next(after: 0) == Data([1]))
      #expect(throws: Failure.self) { try cut.next(after: 1) }
    }
  }

  @Test("A file that appears during a transfer is not replaced")
  func race() throws {
    try withFolder { folder in
      let file = try ReceivedFile(folder, named: "a", replaces: false)
      try Data([7]).write(to: URL(fileURLWithPath: folder + "/a"))
      #expect(throws: Failure.self) { try file.keep() }
      #expect(FileManager.default.contents(atPath: folder + "/a") == Data([7]))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
    }
  }

  @Test("A name of the sender may have 255 octets, and longer ones are cut", arguments: [255, 256, 765])
  func longNames(count: Int) throws {
    try withFolder { folder in
      let name = String(repeating: "\u{FFFD}", count: count / 3) + String(repeating: "x", count: count % 3)
      let file = try ReceivedFile(folder, named: name, replaces: false)
      try file.write([1])
      try file.keep()
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(names == [String(name.prefix(85))])
    }
  }

  @Test(
    "A name of the sender leads to no other folder, and does not control a terminal",
    arguments: ["", ".", "..", "../a", "a/b", ".profile", "a\0b", "a\u{1B}[2J", "a\nb", "a\u{9B}2J"])
  func names(name: String) throws {
    try withFolder { folder in
      let failure = #expect(throws: Failure.self) { try ReceivedFile(folder, named: name, replaces: true) }
      #expect(failure?.status == ExitStatus.refused)
      let rest = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(rest.isEmpty)
    }
  }
}
