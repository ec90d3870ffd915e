import BluetoothAir
import BluetoothDissection
import BluetoothWire
import Foundation

/// Reads a capture from a file, a FIFO or the standard input (`-`), piece by piece.
final class CaptureInput {
  let path: String
  private let file: FileHandle
  /// For a FIFO that another program writes: true when the reading must end; nil for other files.
  private let isOver: (() -> Bool)?
  private var decoder = CaptureDecoder()
  private var hasBegun = false
  private var hasEnded = false
  private var hasPackets = false
  /// The titles of the interfaces so far.
  private var interfaces: Set<String> = []
  /// The failure of a capture that has ended within a packet, after complete ones; nil: there is none so far.
  private(set) var cut: Failure?
  /// The progress of the reading; nil: none is shown.
  private(set) var progress: TransferProgress?
  /// The number of octets that have been read.
  private(set) var position: UInt64 = 0
  private let start = ContinuousClock.now

  /// The octets of one read.
  private static let pieceLength = 1 << 18

  /// Opens the file.
  ///
  /// - Throws: `Failure` with exit status 65 if it can't be opened.
  init(path: String) throws {
    self.path = path == "-" ? "standard input" : path
    isOver = nil
    if path == "-" {
      file = .standardInput
      return
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw Failure("\(path): \(String(cString: strerror(errno)))", status: ExitStatus.ambiguous)
    }
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Reads a FIFO that another program is about to open for writing.
  ///
  /// - Parameters:
  ///   - descriptor: the FIFO, open for reading without waiting.
  ///   - name: the name of the capture in messages.
  ///   - isOver: tells if the reading must end. Called at least ten times in a second.
  init(live descriptor: Int32, named name: String, until isOver: @escaping () -> Bool) {
    path = name
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    self.isOver = isOver
  }

  deinit { progress?.end() }

  /// Shows on a terminal how much of the file has been read, until its end. Does nothing if the capture is no regular
  /// file, such as a FIFO.
  ///
  /// Until the end, the caller must write nothing that can appear on the terminal, except by `complain`.
  func showProgress() {
    var status = stat()
    guard fstat(file.fileDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    progress = TransferProgress(total: UInt64(clamping: status.st_size), at: 0)
  }

  private func updateProgress() {
    guard let total = progress?.total else { return }
    // The file may grow meanwhile.
    progress?.show(min(position, total), at: (ContinuousClock.now - start).seconds)
  }

  private func endProgress() {
    progress?.end()
    progress = nil
  }

  /// The format; nil before the first element.
  var format: CaptureDecoder.Format? { decoder.format }

  /// Returns the next element; nil: the file has ended. If it has ended within a packet, `cut` tells it, so that the
  /// packets before can be used.
  ///
  /// - Throws: `Failure` with exit status 65 if the file can't be read, or is no capture.
  func next() throws -> CaptureElement? {
    do {
      while true {
        if let element = try decoder.next() {
          note(element)
          return element
        }
        if hasEnded { return nil }
        updateProgress()
        let piece = try read()
        guard piece.isEmpty else {
          position += UInt64(piece.count)
          decoder.append(piece)
          continue
        }
        hasEnded = true
        endProgress()
        // A live capture can end at any octet.
        if isOver == nil { try finish() }
      }
    } catch let problem as CaptureProblem {
      hasEnded = true
      endProgress()
      throw failure(problem)
    }
  }

  private func note(_ element: CaptureElement) {
    switch element {
    case .interface(let interface): interfaces.insert(interface.title)
    case .packet: hasPackets = true
    case .dropped, .unread: break
    }
  }

  /// Checks that the file has ended after a complete element.
  private func finish() throws(CaptureProblem) {
    do throws(CaptureProblem) { try decoder.finish() } catch {
      guard hasPackets else { throw error }
      cut = failure(error)
    }
  }

  private func failure(_ problem: CaptureProblem) -> Failure {
    Failure("\(path): \(problem)", status: ExitStatus.ambiguous)
  }

  /// Checks that the capture has interfaces with these names, after its end.
  ///
  /// - Throws: `Failure` with exit status 1 and the nearest name.
  func check(interfaces names: Set<String>) throws {
    if let failure = failure(ofMissing: names) { throw atEnd(failure) }
  }

  /// Returns the failure, with exit status 1 and the nearest name, if the capture has no interface with one of these
  /// names so far; nil: it has all.
  func failure(ofMissing names: Set<String>) -> Failure? {
    Self.failure(ofMissing: names, among: interfaces, in: path)
  }

  /// Returns the failure, with exit status 1 and the nearest name, if an interface with one of these names is missing.
  ///
  /// - Parameters:
  ///   - interfaces: the titles of the interfaces that there are.
  ///   - title: what has them, for the message.
  static func failure(ofMissing names: Set<String>, among interfaces: Set<String>, in title: String) -> Failure? {
    guard let missing = names.subtracting(interfaces).min() else { return nil }
    return Failure(
      "\(title) has no interface \"\(missing.printable)\""
        + SpellingSuggestion.suggestion(for: missing, among: interfaces.sorted()), status: ExitStatus.notFound)
  }

  /// Returns the failure of a verb that has not found what it looks for. In a capture that has ended within a packet, the
  /// rest may have it: then the failure is only told, and `cut` is returned.
  func atEnd(_ failure: Failure) -> Failure {
    guard let cut else { return failure }
    complain(failure.description)
    return cut
  }

  /// Throws `cut`, when the packets before have been used.
  func checkEnd() throws {
    if let cut { throw cut }
  }

  /// Returns the next octets; empty: the file has ended.
  private func read() throws -> Data {
    var octets = Data(count: Self.pieceLength)
    while true {
      if let isOver, isOver() { return Data() }
      // `FileHandle` waits until it has all octets, which a FIFO delivers late.
      let count = octets.withUnsafeMutableBytes { Foundation.read(file.fileDescriptor, $0.baseAddress, $0.count) }
      let code = errno
      if count > 0 {
        hasBegun = true
        return octets.prefix(count)
      }
      // A FIFO has no writer before the first octets, and none after the last ones.
      if count == 0, isOver == nil || hasBegun { return Data() }
      guard count == 0 || code == EINTR || isOver != nil && code == EAGAIN else {
        throw Failure("\(path): \(String(cString: strerror(code)))", status: ExitStatus.ambiguous)
      }
      if isOver != nil {
        var request = pollfd(fd: file.fileDescriptor, events: Int16(POLLIN), revents: 0)
        // Without a writer, poll returns at once with POLLHUP if there was one before. No descriptor tells of the next
        // writer, so this thread asks again after 10 ms, in place of a busy loop.
        if poll(&request, 1, 50) > 0, request.revents & Int16(POLLIN) == 0 { usleep(10_000) }
      }
    }
  }
}
