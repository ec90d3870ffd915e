import BluetoothDaemon
import Foundation
import NIOConcurrencyHelpers

/// One of the two streams of a channel: what its app was told, and where it wants to be told more.
final class StreamSide: Sendable {
  enum Direction { case input, output }

  fileprivate struct State {
    weak var stream: Stream?
    weak var delegate: (any StreamDelegate)?
    var hasDelegate = false
    var sources: [RunLoopSource] = []
    var isOpen = false
    var isClosed = false
    /// The app has written to what had ended.
    var isBroken = false
    // What was told.
    var isOpenTold = false
    /// Until the app reads, or writes, it is not told again that it can.
    var isReadyTold = false
    var isEndTold = false
  }

  private let direction: Direction
  private let pipe: ChannelPipe
  /// The other stream, of the output: it ends no sooner than what the app can read is read.
  private let input: StreamSide?
  /// The pipe's lock is taken inside of this one's, and the input's inside of the output's.
  private let state = NIOLockedValueBox(AppBox(value: State()))

  init(_ direction: Direction, _ pipe: ChannelPipe, after input: StreamSide? = nil) {
    self.direction = direction
    self.pipe = pipe
    self.input = input
  }

  deinit { for source in with({ $0.sources }) { source.cancel() } }

  private func with<R>(_ body: (inout State) -> R) -> R { state.withLockedValue { body(&$0.value) } }

  // MARK: What apps read

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

  /// Whether there is something to read, or room to write.
  var isReady: Bool { with { $0.isUsable && isPipeReady } }

  var isClosed: Bool { with { $0.isClosed } }

  /// Whether the app has something to read, and may.
  private var hasUnread: Bool { with { $0.isUsable && pipe.available > 0 } }

  private var isPipeReady: Bool {
    switch direction {
    case .input: pipe.available > 0
    case .output: pipe.room > 0
    }
  }

  /// The end, once there is nothing before it any more.
  private var ending: ChannelEnd? {
    switch direction {
    case .input: pipe.end.flatMap { pipe.available > 0 ? nil : $0 }
    case .output: pipe.end
    }
  }

  // MARK: What apps do

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

  /// How much was read; 0: nothing is there, or nothing will come; −1: the stream is not open, or has failed.
  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    with { state in
      guard state.isUsable else { return -1 }
      let count = pipe.read(into: buffer)
      state.isReadyTold = false
      if count == 0, case .lost? = ending { return -1 }
      return count
    }
  }

  /// How much was taken; 0: there is no room; −1: the stream is not open, or has ended.
  func write(_ octets: UnsafeRawBufferPointer) -> Int {
    with { state in
      guard state.isUsable else { return -1 }
      guard pipe.end == nil else {
        state.isBroken = true
        return -1
      }
      state.isReadyTold = false
      return pipe.write(octets)
    }
  }

  // MARK: Events

  private func pendingEvent(_ state: State) -> Stream.Event? {
    guard state.isUsable, state.hasDelegate else { return nil }
    if !state.isOpenTold { return .openCompleted }
    if let ending {
      // An app that lets the channel go at the end of one stream loses nothing of the other. That the link is lost is told
      // at once.
      if ending == .closed, let input, input.hasUnread { return nil }
      return state.isEndTold ? nil : ending == .closed ? .endEncountered : .errorOccurred
    }
    guard !state.isReadyTold, isPipeReady else { return nil }
    return direction == .input ? .hasBytesAvailable : .hasSpaceAvailable
  }

  var hasPendingEvent: Bool { with { !$0.sources.isEmpty && pendingEvent($0) != nil } }

  /// The run loops that are to be used, if there is anything to tell.
  func pendingSources() -> [RunLoopSource] { with { pendingEvent($0) == nil ? [] : $0.sources } }

  /// Has the run loops tell what there is to be told.
  func signal() {
    for source in pendingSources() { source.signal() }
  }

  /// Tells one event, in the run loop of `source`, which may have been removed since it was signalled. False: there was none.
  func serve(_ source: RunLoopSource) -> Bool {
    // Objects of the app are let go of without the lock.
    let (stream, delegate) = with { ($0.stream, $0.delegate) }
    guard let stream, let delegate, let event = takeEvent(source) else { return false }
    delegate.stream(stream, handle: event)
    return true
  }

  private func takeEvent(_ source: RunLoopSource) -> Stream.Event? {
    with { state in
      guard state.sources.contains(where: { $0 === source }), let event = pendingEvent(state) else { return nil }
      switch event {
      case .openCompleted: state.isOpenTold = true
      case .hasBytesAvailable, .hasSpaceAvailable: state.isReadyTold = true
      default: state.isEndTold = true
      }
      return event
    }
  }
}

extension StreamSide.State {
  fileprivate var isUsable: Bool { isOpen && !isClosed }
}
