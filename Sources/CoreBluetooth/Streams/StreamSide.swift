import BluetoothDaemon
import Foundation
import NIOConcurrencyHelpers

/// The state of one of a channel's two streams: the events that the app has received, and the run loops that deliver
/// further events.
final class StreamSide: Sendable {
  enum Direction { case input, output }

  fileprivate struct State {
    weak var stream: Stream?
    weak var delegate: (any StreamDelegate)?
    var hasDelegate = false
    var sources: [RunLoopSource] = []
    var isOpen = false
    var isClosed = false
    /// True once the app has written after the end of the stream.
    var isBroken = false
    // Events that have been delivered.
    var isOpenReported = false
    /// True from a readiness event until the app reads or writes. Readiness is not reported again in this time.
    var isReadyReported = false
    var isEndReported = false
  }

  private let direction: Direction
  private let pipe: ChannelPipe
  /// The input stream, for the output stream only: the output reports its end only after the app has read the available
  /// input.
  private let input: StreamSide?
  /// Lock order: the output's lock, then the input's lock, then the pipe's lock.
  private let state = NIOLockedValueBox(AppBox(value: State()))

  init(_ direction: Direction, _ pipe: ChannelPipe, after input: StreamSide? = nil) {
    self.direction = direction
    self.pipe = pipe
    self.input = input
  }

  deinit { for source in with({ $0.sources }) { source.cancel() } }

  private func with<R>(_ body: (inout State) -> R) -> R { state.withLockedValue { body(&$0.value) } }

  // MARK: State for apps

  func setStream(_ stream: Stream) { with { $0.stream = stream } }

  var delegate: (any StreamDelegate)? {
    get { with { $0.delegate } }
    set {
      with { state in
        state.delegate = newValue
        state.hasDelegate = newValue != nil
      }
    }
  }

  var status: Stream.Status {
    with { state in
      if state.isClosed { return .closed }
      guard state.isOpen else { return .notOpen }
      if state.isBroken { return .error }
      return ending.map { $0 == .closed ? .atEnd : .error } ?? .open
    }
  }

  var error: (any Error)? {
    with { state in
      if state.isOpen, case .lost(let error)? = ending { return error.appError() }
      return state.isBroken ? POSIXError(.EPIPE) : nil
    }
  }

  /// True if there is something to read, or room to write.
  var isReady: Bool { with { $0.isUsable && isPipeReady } }

  var isClosed: Bool { with { $0.isClosed } }

  /// True if the app has something to read, and the stream is open.
  private var hasUnread: Bool { with { $0.isUsable && pipe.available > 0 } }

  private var isPipeReady: Bool {
    switch direction {
    case .input: pipe.available > 0
    case .output: pipe.room > 0
    }
  }

  /// The end of the channel; for the input, only after all octets have been read.
  private var ending: ChannelEnd? {
    switch direction {
    case .input: pipe.end.flatMap { pipe.available > 0 ? nil : $0 }
    case .output: pipe.end
    }
  }

  // MARK: Calls by apps

  func open() { with { $0.isOpen = true } }

  func close() {
    let sources = with { state in
      state.isClosed = true
      defer { state.sources = [] }
      return state.sources
    }
    for source in sources { source.cancel() }
  }

  func add(_ source: RunLoopSource) {
    let isWanted = with { state in
      guard !state.isClosed, !state.sources.contains(where: { $0.isSame(as: source) }) else { return false }
      state.sources.append(source)
      return true
    }
    if !isWanted { source.cancel() }
  }

  func remove(_ loop: RunLoop, _ mode: RunLoop.Mode) {
    let removed = with { state in
      let removed = state.sources.filter { $0.serves(loop, mode) }
      state.sources.removeAll { $0.serves(loop, mode) }
      return removed
    }
    for source in removed { source.cancel() }
  }

  /// Returns the number of octets read; 0 if there are none, now or ever; −1 if the stream is not open or has failed.
  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    with { state in
      guard state.isUsable else { return -1 }
      let count = pipe.read(into: buffer)
      state.isReadyReported = false
      if count == 0, case .lost? = ending { return -1 }
      return count
    }
  }

  /// Returns the number of octets accepted; 0 if there is no room; −1 if the stream is not open or has ended.
  func write(_ octets: UnsafeRawBufferPointer) -> Int {
    with { state in
      guard state.isUsable else { return -1 }
      guard pipe.end == nil else {
        state.isBroken = true
        return -1
      }
      state.isReadyReported = false
      return pipe.write(octets)
    }
  }

  // MARK: Events

  private func pendingEvent(_ state: State) -> Stream.Event? {
    guard state.isUsable, state.hasDelegate else { return nil }
    if !state.isOpenReported { return .openCompleted }
    if let ending {
      // The output's end waits until the input has been read, so that an app that releases the channel at the first end
      // event loses no input. The loss of the link is reported immediately.
      if ending == .closed, let input, input.hasUnread { return nil }
      return state.isEndReported ? nil : ending == .closed ? .endEncountered : .errorOccurred
    }
    guard !state.isReadyReported, isPipeReady else { return nil }
    return direction == .input ? .hasBytesAvailable : .hasSpaceAvailable
  }

  var hasPendingEvent: Bool { with { !$0.sources.isEmpty && pendingEvent($0) != nil } }

  /// Returns the run loops in which an event is pending.
  func pendingSources() -> [RunLoopSource] { with { pendingEvent($0) == nil ? [] : $0.sources } }

  /// Signals the run loops in which an event is pending.
  func signal() {
    for source in pendingSources() { source.signal() }
  }

  /// Delivers one event in the run loop of `source`, which may have been removed since it was signalled. Returns
  /// false if there was none.
  func serve(_ source: RunLoopSource) -> Bool {
    // References to the app's objects are released outside the lock.
    let (stream, delegate) = with { ($0.stream, $0.delegate) }
    guard let stream, let delegate, let event = takeEvent(source) else { return false }
    delegate.stream(stream, handle: event)
    return true
  }

  private func takeEvent(_ source: RunLoopSource) -> Stream.Event? {
    with { state in
      guard state.sources.contains(where: { $0 === source }), let event = pendingEvent(state) else { return nil }
      switch event {
      case .openCompleted: state.isOpenReported = true
      case .hasBytesAvailable, .hasSpaceAvailable: state.isReadyReported = true
      default: state.isEndReported = true
      }
      return event
    }
  }
}

extension StreamSide.State {
  fileprivate var isUsable: Bool { isOpen && !isClosed }
}
