import DequeModule
import Dispatch
import NIOConcurrencyHelpers

/// Writes a capture on a separate thread, from a bounded buffer: capturing never waits for a disk or a reader.
///
/// Each reader of a FIFO gets a complete capture, which begins with a section header and continues with the packets
/// from then on.
///
/// Unchecked, because only the queue uses the file, which its functions check, and because only `init` sets the dispatch
/// source; a lock protects everything else.
package final class CaptureQueue: @unchecked Sendable {
  /// Status reports for the owner of the capture.
  package enum Report: Hashable, Sendable {
    /// The file is a FIFO, and no program has opened it for reading.
    case waitingForReader
    /// A program has opened the FIFO for reading.
    case readerArrived
    /// No program reads the FIFO any more: the capture waits for the next one.
    case readerGone
    /// The capture has ended: the file can't be written.
    case failed(CaptureFile.Failure)
  }

  /// The fill state of the buffer.
  package enum Room: Hashable, Sendable {
    /// The buffer is empty.
    case idle
    /// The buffer has room.
    case some
    /// The buffer is full.
    case none
    /// A FIFO has no reader.
    case noReader
    /// Writing has failed.
    case failed
  }

  private struct State {
    var chunks: Deque<[UInt8]> = []
    /// The number of octets in the chunks, including the chunk that is being written.
    var count = 0
    /// True from the time at which `count` reaches the limit until half of that is written.
    var isFull = false
    /// True while a task of the queue writes chunks, or is scheduled to.
    var isWorking = false
    /// True if the file is open: always for other files than FIFOs.
    var hasReader = false
    /// True if a FIFO has had a reader.
    var hasBegun = false
    var isEnding = false
    /// The number of consecutive writes, each of `turn` milliseconds, in which the reader accepted nothing. `end`
    /// resets the number.
    var turnsWithoutProgress = 0
    var isAbandoned = false
    var failure: CaptureFile.Failure?
  }

  /// The default size of the buffer, in octets.
  package static let standardLimit = 8 << 20
  /// The time in milliseconds for which the thread waits for room in a pipe, or for a reader, before it checks if the
  /// capture has ended.
  private static let turn: Int32 = 100

  private let state = NIOLockedValueBox(State())
  private let queue = DispatchQueue(label: "CoreBluetooth capture")
  /// Used on the queue only.
  private let file: CaptureFile
  private var changes: (any DispatchSourceRead)?
  private let limit: Int
  private let stallLimit: Int
  private let begin: @Sendable (CaptureQueue) -> Void
  private let report: @Sendable (Report) -> Void

  /// Takes over `file`.
  ///
  /// - Parameters:
  ///   - limit: the size of the buffer, in octets.
  ///   - stallLimit: after `end`, the number of periods of 100 ms without progress after which the queue gives up.
  ///   - begin: a function that must call `restart` with the octets with which a capture begins. Called on the queue's
  ///     thread, for each reader that opens a FIFO after this call.
  ///   - report: a function that gets status reports. Called on the queue's thread.
  package init(
    _ file: CaptureFile, limit: Int = standardLimit, stallLimit: Int = 20,
    begin: @escaping @Sendable (CaptureQueue) -> Void,
    report: @escaping @Sendable (Report) -> Void
  ) {
    (self.file, self.limit, self.stallLimit, self.begin, self.report) = (file, limit, stallLimit, begin, report)
    let isOpen = file.isOpen
    state.withLockedValue { ($0.hasReader, $0.hasBegun) = (isOpen, isOpen) }
    watchReader()
    guard !isOpen else { return }
    report(.waitingForReader)
    queue.async { [weak self] in self?.lookForReader() }
  }

  deinit { changes?.cancel() }

  private func watchReader() {
    guard let descriptor = file.changeDescriptor else { return }
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [weak self] in self?.followReader() }
    // The descriptor must outlive the source.
    source.setCancelHandler { [file] in withExtendedLifetime(file) {} }
    source.activate()
    changes = source
  }

  /// The state of the buffer. Once the buffer is full, the state is `none` until half of the buffer is written.
  package var room: Room {
    state.withLockedValue { state in
      if state.failure != nil { return .failed }
      guard state.hasReader else { return .noReader }
      return state.isFull ? .none : state.count == 0 ? .idle : .some
    }
  }

  /// Queues `bytes` for writing. After a failure, they are dropped.
  package func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    state.withLockedValue { state in
      guard state.failure == nil else { return }
      state.chunks.append(bytes)
      state.count += bytes.count
      if state.count >= limit { state.isFull = true }
    }
    work()
  }

  /// Replaces all pending octets by `bytes`. Called for a new reader, to which the pending octets do not belong.
  package func restart(with bytes: [UInt8]) {
    state.withLockedValue { state in
      state.chunks = [bytes]
      (state.count, state.isFull) = (bytes.count, false)
    }
  }

  /// Waits until the queue has written all pending octets, or has found that there is no reader.
  package func waitForPause() { queue.sync {} }

  // MARK: The end

  /// Writes `bytes` last, and closes the file. Gives up if a reader accepts no more octets.
  ///
  /// - Parameter done: called on the queue's thread, with the failure if something was not written.
  package func end(with bytes: [UInt8], _ done: @escaping @Sendable (CaptureFile.Failure?) -> Void) {
    state.withLockedValue { ($0.isEnding, $0.turnsWithoutProgress) = (true, 0) }
    queue.async { [self] in
      // Appended here, because a reader that arrives now restarts the capture, which drops what waits.
      append(bytes)
      openForFirstReader()
      writeAll()
      if !state.withLockedValue({ $0.hasBegun || $0.failure != nil }) {
        fail(
          CaptureFile.Failure(path: file.path, reason: "no program opened the file for reading; nothing was captured"))
      }
      file.close()
      done(state.withLockedValue { $0.failure })
    }
  }

  /// Writes `bytes` last, closes the file, and waits for that.
  ///
  /// - Returns: the failure if something was not written.
  package func endAndWait(with bytes: [UInt8]) -> CaptureFile.Failure? {
    let done = DispatchSemaphore(value: 0)
    let failure = NIOLockedValueBox<CaptureFile.Failure?>(nil)
    end(with: bytes) { result in
      failure.withLockedValue { $0 = result }
      done.signal()
    }
    done.wait()
    return failure.withLockedValue { $0 }
  }

  /// Gives up the pending octets as soon as the reader does not accept any for `turn` milliseconds. Called when the
  /// capture is no longer needed.
  package func abandon() { state.withLockedValue { $0.isAbandoned = true } }

  // MARK: On the queue

  private func work() {
    let isFirst = state.withLockedValue { state in
      guard state.hasReader, !state.isWorking else { return false }
      state.isWorking = true
      return true
    }
    if isFirst { queue.async { self.writeAll() } }
  }

  /// Opens a FIFO if it has a reader; otherwise tries again later.
  private func lookForReader() {
    dispatchPrecondition(condition: .onQueue(queue))
    let isWanted = state.withLockedValue { !$0.hasReader && $0.failure == nil && !$0.isEnding && !$0.isAbandoned }
    guard isWanted else { return }
    do throws(CaptureFile.Failure) {
      guard try file.openIfRead() else {
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(Self.turn))) { [weak self] in self?.lookForReader() }
        return
      }
      begin(self)
      state.withLockedValue { ($0.hasReader, $0.hasBegun) = (true, true) }
      report(.readerArrived)
      writeAll()
    } catch {
      fail(error)
    }
  }

  /// Opens a FIFO that has never had a reader, at the end of the capture: a program that has just opened it gets the
  /// pending octets, which begin with the start of the capture.
  private func openForFirstReader() {
    dispatchPrecondition(condition: .onQueue(queue))
    let isWanted = state.withLockedValue { !$0.hasBegun && $0.failure == nil }
    guard isWanted else { return }
    do throws(CaptureFile.Failure) {
      guard try file.openIfRead() else { return }
      state.withLockedValue { ($0.hasReader, $0.hasBegun) = (true, true) }
      report(.readerArrived)
    } catch {
      fail(error)
    }
  }

  private func followReader() {
    dispatchPrecondition(condition: .onQueue(queue))
    take(file.takeReaderChange())
    writeAll()
  }

  private func take(_ change: CaptureFile.ReaderChange) {
    switch change {
    case .none: break
    case .gone: loseReader()
    case .replaced: begin(self)
    }
  }

  private func loseReader() {
    restart(with: [])
    state.withLockedValue { $0.hasReader = false }
    report(.readerGone)
    queue.async { [weak self] in self?.lookForReader() }
  }

  private func writeAll() {
    dispatchPrecondition(condition: .onQueue(queue))
    do throws(CaptureFile.Failure) {
      while let chunk = nextChunk() {
        let change = try write(chunk)
        guard case .none = change else {
          take(change)
          continue
        }
        state.withLockedValue { state in
          state.count -= chunk.count
          if state.count <= limit / 2 { state.isFull = false }
        }
      }
    } catch {
      let isEnding = state.withLockedValue { $0.isEnding }
      if error.isReaderGone, !isEnding, file.closeForReaders() { return loseReader() }
      fail(error)
    }
  }

  private func nextChunk() -> [UInt8]? {
    state.withLockedValue { state in
      guard state.hasReader, state.failure == nil, let chunk = state.chunks.popFirst() else {
        state.isWorking = false
        return nil
      }
      return chunk
    }
  }

  /// Writes all of `chunk`, unless the reader changes during the write.
  private func write(_ chunk: [UInt8]) throws(CaptureFile.Failure) -> CaptureFile.ReaderChange {
    var rest = chunk[...]
    while !rest.isEmpty {
      let change = file.takeReaderChange()
      guard case .none = change else { return change }
      let count = try file.write(rest, waiting: Self.turn)
      rest = rest.dropFirst(count)
      if shouldAbandon(progress: count) {
        throw CaptureFile.Failure(path: file.path, reason: "the reader did not read the end of the capture")
      }
    }
    return .none
  }

  /// Records the progress of a write. Returns true if the queue must give up: the reader has accepted nothing in this
  /// write and `abandon` was called, or nothing in `stallLimit` writes since `end`.
  private func shouldAbandon(progress count: Int) -> Bool {
    state.withLockedValue { state in
      guard count == 0 else {
        state.turnsWithoutProgress = 0
        return false
      }
      state.turnsWithoutProgress += 1
      return state.isAbandoned || state.isEnding && state.turnsWithoutProgress >= stallLimit
    }
  }

  private func fail(_ failure: CaptureFile.Failure) {
    state.withLockedValue { state in
      state.failure = failure
      state.chunks.removeAll()
      state.count = 0
      state.isWorking = false
    }
    file.close()
    report(.failed(failure))
  }
}
