// Design: streams of channels
//
// - `ChannelInputStream` and `ChannelOutputStream` (floor 7) report one event in each turn of a run loop: that the app
//   can read, or write, once until the app does so. They wake run loops with a timer, and end the turn after an event
//   as a source would (`RunLoopSource`), because Foundation on Linux has no better means. The main queue serves streams
//   in the main run loop, too.
// - In virtual time, stream events are deliveries like others: they run in place on the thread in `run` and on the main
//   queue. Run loops of other threads are woken, and time continues: for these, a test holds the world (`hold`).

import BluetoothDaemon
import Foundation
import NIOConcurrencyHelpers

/// The state that both streams of a channel share.
final class ChannelStreams: ChannelClient {
  let pipe: ChannelPipe
  let isInVirtualTime: Bool
  let input: StreamSide
  let output: StreamSide
  /// Called after each change of the channel, in addition to the events of the streams; nil: no caller.
  let observer = NIOLockedValueBox<(@Sendable () -> Void)?>(nil)

  /// The queue that serves streams scheduled in the main run loop. In programs with an `async` main function, a thread
  /// other than the main thread serves this queue.
  private static let main = CallbackQueue(nil, inVirtualTime: true)

  init(_ pipe: ChannelPipe, isInVirtualTime: Bool) {
    self.pipe = pipe
    self.isInVirtualTime = isInVirtualTime
    input = StreamSide(.input, pipe)
    output = StreamSide(.output, pipe, after: input)
    pipe.setClient(self)
  }

  // MARK: Event delivery

  /// Delivers the events of a change of the channel.
  func channelChanged() {
    for side in [input, output] { tell(side) }
    observer.withLockedValue { $0 }?()
  }

  private func tell(_ side: StreamSide) {
    guard isInVirtualTime else { return side.signal() }
    // As with callbacks, events have been delivered when this method returns, except events for run loops of the app's
    // other threads.
    for source in side.pendingSources() {
      if source.isCurrent {
        tell(side, source)
      } else if source.isMain {
        Self.main.perform { tell(side, source) }
      } else {
        source.signal()
      }
    }
  }

  private func tell(_ side: StreamSide, _ source: RunLoopSource) {
    while side.serve(source) {}
  }

  /// Delivers events that follow from a call by the app.
  func changed(_ side: StreamSide) {
    if isInVirtualTime {
      // Delivered in order with the adapter's other callbacks, when the world runs.
      if side.hasPendingEvent { pipe.requestAnnouncement() }
    } else {
      side.signal()
    }
    pipe.tellDaemon()
  }

  // MARK: Calls by apps

  func schedule(_ side: StreamSide, in loop: RunLoop, _ mode: RunLoop.Mode) {
    side.add(RunLoopSource(loop, mode, side))
    changed(side)
  }

  func open(_ side: StreamSide) {
    side.open()
    changed(side)
  }

  /// Closes one stream. Closing both streams closes the channel.
  func close(_ side: StreamSide) {
    side.close()
    if input.isClosed, output.isClosed { return pipe.close() }
    guard input.isClosed else { return }
    pipe.discardInput()
    changed(output)
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = input.read(buffer)
    changed(input)
    // The output's end event may have waited until the input was read.
    if pipe.end != nil { changed(output) }
    return count
  }

  func write(_ octets: UnsafeRawBufferPointer) -> Int {
    let count = output.write(octets)
    changed(output)
    return count
  }
}
