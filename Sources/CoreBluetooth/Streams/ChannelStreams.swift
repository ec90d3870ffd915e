import BluetoothDaemon
import Foundation

/// What the two streams of a channel share.
final class ChannelStreams: ChannelClient {
  let pipe: ChannelPipe
  let isInVirtualTime: Bool
  let input: StreamSide
  let output: StreamSide

  /// Where streams are served that are scheduled in the main run loop, whoever serves it: in programs that are asynchronous
  /// from the start it is not the main thread.
  private static let main = CallbackQueue(nil, inVirtualTime: true)

  init(_ pipe: ChannelPipe, isInVirtualTime: Bool) {
    self.pipe = pipe
    self.isInVirtualTime = isInVirtualTime
    input = StreamSide(.input, pipe)
    output = StreamSide(.output, pipe, after: input)
    pipe.setClient(self)
  }

  // MARK: Telling

  /// Something has happened to the channel.
  func channelChanged() {
    for side in [input, output] { tell(side) }
  }

  private func tell(_ side: StreamSide) {
    guard isInVirtualTime else { return side.signal() }
    // As for callbacks: what is told has been told when this returns, except on threads of the app's own.
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

  /// The app has done something after which there may be something to tell.
  func changed(_ side: StreamSide) {
    if isInVirtualTime {
      // In its turn, and when the world runs.
      if side.hasPendingEvent { pipe.requestAnnouncement() }
    } else {
      side.signal()
    }
    pipe.tellService()
  }

  // MARK: What apps call

  func schedule(_ side: StreamSide, in loop: RunLoop, _ mode: RunLoop.Mode) {
    side.add(RunLoopSource(loop, mode, side))
    changed(side)
  }

  func open(_ side: StreamSide) {
    side.open()
    changed(side)
  }

  /// The channel goes with the second one.
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
    // Its end may have waited for this.
    if pipe.end != nil { changed(output) }
    return count
  }

  func write(_ octets: UnsafeRawBufferPointer) -> Int {
    let count = output.write(octets)
    changed(output)
    return count
  }
}
