import CoreBluetooth
import DequeModule
import NIOConcurrencyHelpers

/// An L2CAP channel to a peripheral, or from a central: a stream of octets in each direction, with flow control in
/// both. The app must retain it: the channel closes when its last reference is released. Octets written before are
/// still sent.
///
/// ```swift
/// let channel = try await peripheral.openL2CAPChannel(psm)
/// try await channel.write(Data("hello".utf8))
/// for try await octets in channel.incoming { print(octets.count) }
/// ```
public final class L2CAPChannel: Sendable {
  private struct Reader {
    let operation: PendingOperation<Data?>
    let maximum: Int
  }

  private struct Writer {
    let operation: PendingOperation<Void>
    var rest: Data
  }

  private struct State {
    var readers: Deque<Reader> = []
    var writers: Deque<Writer> = []
    /// The calls that wait until the peer has all octets.
    var closers: [PendingOperation<Void>] = []
    var isClosed = false
  }

  /// Resumes the caller of an operation whose result has been decided, outside the lock.
  private typealias End = () -> Void

  private let box: Unchecked<CBL2CAPChannel>
  private let state = NIOLockedValueBox(State())

  init(_ channel: CBL2CAPChannel) {
    box = Unchecked(channel)
    channel.inputStream.open()
    channel.outputStream.open()
    channel.setObserver { [weak self] in self?.proceed() }
  }

  deinit { box.value.setObserver(nil) }

  /// The PSM of the channel.
  public var psm: CBL2CAPPSM { box.value.psm }

  /// The octets from the peer, in pieces of the sizes in which they arrive.
  ///
  /// An iterator reads from the channel only when the app requests the next piece, so that flow control stops the peer
  /// while the app is slow. The sequence ends when either side has closed the channel. It throws the `CBError` of the
  /// disconnection if the link was lost.
  public var incoming: Incoming { Incoming(channel: self) }

  /// Waits for octets and returns them. Concurrent calls get octets in the order of the calls. A cancelled call or one
  /// whose time limit ends takes no octets from the channel; a call that has taken octets returns them.
  ///
  /// - Parameters:
  ///   - maximum: the maximum number of octets, at least 1. The call does not wait for this number: it returns what has
  ///     arrived.
  ///   - limit: the time limit; nil: the call has none.
  /// - Returns: at least one octet; nil: a side has closed the channel.
  /// - Throws: the `CBError` of the disconnection if the link was lost.
  public func read(upTo maximum: Int = 65_536, within limit: TimeLimit? = nil) async throws -> Data? {
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let operation = PendingOperation<Data?>()
      state.withLockedValue { $0.readers.append(Reader(operation: operation, maximum: max(1, maximum))) }
      proceed()
      return try await operation.value(onCancel: { [self] in
        state.withLockedValue { state in state.readers.removeAll { $0.operation === operation } }
      })
    }
  }

  /// Writes all octets. Returns when the last octet is in the channel's send buffer. Concurrent calls write one after
  /// the other.
  ///
  /// If the task is cancelled, the octets up to any position may have been sent.
  ///
  /// - Throws: `CBError.notConnected` if the channel has ended.
  public func write(_ octets: Data, within limit: TimeLimit? = nil) async throws {
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let operation = PendingOperation<Void>()
      state.withLockedValue { $0.writers.append(Writer(operation: operation, rest: octets)) }
      proceed()
      try await operation.value(onCancel: { [self] in
        state.withLockedValue { state in state.writers.removeAll { $0.operation === operation } }
      })
    }
  }

  /// Closes the channel. Pending reads return nil, pending writes throw `CBError.notConnected`. Octets written before
  /// are still sent.
  public func close() {
    state.withLockedValue { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      box.value.inputStream.close()
      box.value.outputStream.close()
    }
    proceed()
  }

  /// Closes the channel, and waits until the peer has all octets that were written before. The end of the link would
  /// discard those that it does not have yet. A cancelled task closes the channel, too, and does not wait.
  ///
  /// - Parameter limit: the time limit; nil: none but that of the system, which waits 30 s for the peer.
  /// - Throws: a `CBError` if the channel or the link ended before the peer had all octets; `operationCancelled` if one
  ///   side has ended it on purpose; `CancellationError` if the task is cancelled first.
  package func closeWhenSent(within limit: TimeLimit? = nil) async throws {
    try await limited(limit) { [self] in
      let operation = PendingOperation<Void>()
      state.withLockedValue { $0.closers.append(operation) }
      close()
      try await operation.value(onCancel: { [self] in
        state.withLockedValue { state in state.closers.removeAll { $0 === operation } }
      })
    }
  }

  /// The number of calls that wait; for tests.
  package var pendingCount: Int {
    state.withLockedValue { $0.readers.count + $0.writers.count + $0.closers.count }
  }

  /// Moves octets, and ends the operations that have got their octets or can't get any more.
  private func proceed() {
    let ends = state.withLockedValue { state in read(&state) + write(&state) + finish(&state) }
    for end in ends { end() }
  }

  private func read(_ state: inout State) -> [End] {
    var ends: [End] = []
    while let reader = state.readers.first, let result = takeOctets(reader.maximum, state.isClosed) {
      state.readers.removeFirst()
      // A cancellation removes the reader before it ends the operation, so the operation of a queued reader has not
      // ended: the octets always have a reader.
      if let end = reader.operation.decide(result) { ends.append(end) }
    }
    return ends
  }

  /// Returns the next received octets, or `.success(nil)` at the end of the channel; nil if none have arrived yet.
  private func takeOctets(_ maximum: Int, _ isClosed: Bool) -> Result<Data?, any Error>? {
    guard !isClosed, let input = box.value.inputStream else { return .success(nil) }
    if input.hasBytesAvailable {
      var octets = Data(count: min(maximum, box.value.availableCount))
      let count = octets.withUnsafeMutableBytes { buffer in
        buffer.bindMemory(to: UInt8.self).baseAddress.map { input.read($0, maxLength: buffer.count) } ?? 0
      }
      // A slice would retain the storage of all octets.
      if count > 0 { return .success(count == octets.count ? octets : Data(octets.prefix(count))) }
    }
    switch input.streamStatus {
    case .atEnd, .closed: return .success(nil)
    case .error: return .failure(input.streamError ?? CBError.isNotConnected)
    default: return nil
    }
  }

  /// Returns the ends of the calls that wait until the peer has all octets, if the channel has ended.
  private func finish(_ state: inout State) -> [End] {
    guard !state.closers.isEmpty, let result = box.value.closeResult else { return [] }
    defer { state.closers = [] }
    return state.closers.compactMap { $0.decide(result) }
  }

  private func write(_ state: inout State) -> [End] {
    var ends: [End] = []
    while let writer = state.writers.first {
      guard !state.isClosed, let output = box.value.outputStream, output.streamStatus == .open else {
        let error = box.value.outputStream?.streamError as? CBError ?? CBError.isNotConnected
        ends += state.writers.compactMap { $0.operation.decide(.failure(error)) }
        state.writers = []
        break
      }
      let count = writer.rest.withUnsafeBytes { buffer in
        buffer.bindMemory(to: UInt8.self).baseAddress.map { output.write($0, maxLength: buffer.count) } ?? 0
      }
      guard count >= writer.rest.count else {
        // The stream reports free space with an event, which calls this function again. After an error the stream is
        // no longer open, so the next pass of the loop ends all writers.
        if count < 0 { continue }
        state.writers[0].rest = writer.rest.dropFirst(count)
        break
      }
      state.writers.removeFirst()
      if let end = writer.operation.decide(.success(())) { ends.append(end) }
    }
    return ends
  }
}

extension L2CAPChannel {
  /// The octets from the peer, in pieces of the sizes in which they arrive.
  public struct Incoming: AsyncSequence, Sendable {
    public typealias Element = Data
    public typealias Failure = any Error

    let channel: L2CAPChannel

    /// Creates an iterator. Each octet goes to only one of the iterators of a channel.
    public func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }

    /// An iteration over the octets.
    public struct Iterator: AsyncIteratorProtocol {
      let channel: L2CAPChannel

      /// Waits for octets. Returns nil when a side has closed the channel.
      public mutating func next() async throws -> Data? { try await channel.read() }
    }
  }
}
