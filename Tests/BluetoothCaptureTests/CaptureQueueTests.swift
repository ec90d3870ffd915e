import BluetoothCapture
import Foundation
import NIOConcurrencyHelpers
import Testing

/// The reports of a queue.
private final class Reports: Sendable {
  private let box = NIOLockedValueBox<[CaptureQueue.Report]>([])
  private let added = DispatchSemaphore(value: 0)

  var all: [CaptureQueue.Report] { box.withLockedValue { $0 } }

  func add(_ report: CaptureQueue.Report) {
    box.withLockedValue { $0.append(report) }
    added.signal()
  }

  /// Waits until the queue's thread has sent `report` `count` times.
  func wait(for report: CaptureQueue.Report, count: Int = 1) {
    while all.count(where: { $0 == report }) < count { added.wait() }
  }
}

@Suite(.timeLimit(.minutes(10))) struct CaptureQueueTests {
  private let reports = Reports()

  private func queue(_ file: CaptureFile, limit: Int = CaptureQueue.standardLimit) -> CaptureQueue {
    CaptureQueue(file, limit: limit, stallLimit: 1) {
      $0.restart(with: Self.beginning)
    } report: { [reports] in
      reports.add($0)
    }
  }

  private static let beginning: [UInt8] = [200, 201]

  /// Calls `body` with the path of a FIFO.
  private func withFIFO(_ body: (String) throws -> Void) throws {
    let path = "/tmp/queue-\(UUID().uuidString)"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    try body(path)
  }

  @Test("The queue writes everything in order, and its end waits for the last write")
  func order() throws {
    let path = "/tmp/queue-\(UUID().uuidString)"
    defer { unlink(path) }
    let queue = queue(try CaptureFile(path: path))
    for number: UInt8 in 0..<200 { queue.append([number]) }
    #expect(queue.endAndWait(with: [255]) == nil)
    #expect(FileManager.default.contents(atPath: path) == Data((0..<200) + [255]))
    #expect(reports.all.isEmpty)
  }

  @Test("A paused reader fills the buffer without blocking the writer, and reading makes room again")
  func paused() throws {
    let pipes = try Pipes()
    let queue = queue(pipes.file, limit: 300_000)
    #expect(queue.room == .idle)
    var sent = 0
    while queue.room != .none {
      queue.append([UInt8](repeating: UInt8(sent / 10_000 % 256), count: 10_000))
      sent += 10_000
    }
    // The system buffers one part in the pipe, and the queue another part.
    #expect(sent >= 300_000)
    let octets = pipes.read(sent)
    queue.waitForPause()
    #expect(queue.room == .idle)
    #expect(octets.count == sent)
    #expect(octets.indices.allSatisfy { octets[$0] == UInt8($0 / 10_000 % 256) })
  }

  @Test("The end gives up on a reader that takes nothing, and reports the failure")
  func stuckEnd() throws {
    let pipes = try Pipes()
    let queue = queue(pipes.file)
    queue.append([UInt8](repeating: 0, count: 1 << 20))
    let failure = queue.endAndWait(with: [1])
    #expect(failure?.reason == "the reader did not read the end of the capture")
    #expect(failure.map { [.failed($0)] } == reports.all)
  }

  @Test("A reader that leaves ends the capture, and later data are dropped")
  func readerGone() throws {
    let pipes = try Pipes()
    let queue = queue(pipes.file)
    pipes.closeReader()
    // A process that another test starts at this moment has a copy of the reader for a short time.
    repeat {
      queue.append([1])
      queue.waitForPause()
    } while queue.room != .failed
    queue.append([2])
    #expect(queue.endAndWait(with: [3])?.isReaderGone == true)
    #expect(reports.all.count == 1)
  }

  @Test("A FIFO without a reader has no room, and the end reports that nothing was captured")
  func noReader() throws {
    try withFIFO { path in
      let queue = queue(try CaptureFile(path: path))
      #expect(queue.room == .noReader)
      #expect(queue.endAndWait(with: [1])?.reason == "no program opened the file for reading; nothing was captured")
      #expect(reports.all.first == .waitingForReader)
    }
  }

  @Test("A program that opens the FIFO later reads the beginning and everything after it")
  func lateReader() throws {
    try withFIFO { path in
      let queue = queue(try CaptureFile(path: path))
      // Returns once the queue has opened the other end.
      let reader = try #require(FileHandle(forReadingAtPath: path))
      reports.wait(for: .readerArrived)
      queue.end(with: [1, 2, 3]) { _ in }
      #expect(reader.readDataToEndOfFile() == Data(Self.beginning + [1, 2, 3]))
      #expect(reports.all == [.waitingForReader, .readerArrived])
    }
  }

  @Test(
    "The queue notices a reader that leaves while nothing is written, and sends the next one the beginning"
  )
  func readersInTurn() throws {
    try withFIFO { path in
      let queue = queue(try CaptureFile(path: path))
      for turn in 1...3 {
        var reader = FileHandle(forReadingAtPath: path)
        #expect(try reader?.read(upToCount: 2) == Data(Self.beginning))
        reader = nil
        reports.wait(for: .readerGone, count: turn)
      }
      #expect(queue.room == .noReader)
      #expect(queue.endAndWait(with: [1]) == nil)
      #expect(
        reports.all == [.waitingForReader] + (1...3).flatMap { _ in [CaptureQueue.Report.readerArrived, .readerGone] })
    }
  }

  @Test(
    "A reader that replaces another one at once gets the beginning first, and no partial packet")
  func replacedReader() throws {
    try withFIFO { path in
      let queue = queue(try CaptureFile(path: path))
      var first = FileHandle(forReadingAtPath: path)
      #expect(try first?.read(upToCount: 2) == Data(Self.beginning))
      // More than the system buffers: one part is in the pipe, and the rest waits.
      queue.append([UInt8](repeating: 1, count: 100_000))
      #expect(try first?.read(upToCount: 1) == Data([1]))
      let second = open(path, O_RDONLY | O_NONBLOCK)
      try #require(second >= 0)
      first = nil
      // The second reader has seen nothing yet: it reads after the queue has noticed the change.
      queue.waitForPause()
      queue.append([2])
      let reader = FileHandle(fileDescriptor: second, closeOnDealloc: true)
      _ = fcntl(second, F_SETFL, 0)
      queue.end(with: [3]) { _ in }
      #expect(reader.readDataToEndOfFile() == Data(Self.beginning + [2, 3]))
      #expect(reports.all == [.waitingForReader, .readerArrived])
    }
  }

  @Test("A reader of the FIFO that reads only after the end still gets the whole capture")
  func readerAtTheEnd() throws {
    try withFIFO { path in
      let file = try CaptureFile(path: path)
      let reader = open(path, O_RDONLY | O_NONBLOCK)
      try #require(reader >= 0)
      defer { close(reader) }
      let queue = queue(file)
      #expect(queue.endAndWait(with: [1, 2, 3]) == nil)
      var octets = [UInt8](repeating: 0, count: 16)
      let count = read(reader, &octets, octets.count)
      #expect(octets.prefix(max(count, 0)).suffix(3) == [1, 2, 3])
    }
  }
}
