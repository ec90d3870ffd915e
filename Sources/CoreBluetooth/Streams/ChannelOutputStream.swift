import Foundation

/// The stream of octets to the peer on a channel.
final class ChannelOutputStream: OutputStream {
  /// The shared part of both streams; nil if Foundation's initializer created this stream, which then is not
  /// connected.
  private let streams: ChannelStreams?

  init(_ streams: ChannelStreams) {
    self.streams = streams
    super.init(toMemory: ())
    streams.output.setStream(self)
  }

  required init(toMemory: ()) {
    streams = nil
    super.init(toMemory: ())
  }

  override var delegate: (any StreamDelegate)? {
    get { streams?.output.delegate }
    set {
      guard let streams else { return }
      streams.output.delegate = newValue
      streams.changed(streams.output)
    }
  }

  override var streamStatus: Stream.Status { streams?.output.status ?? .notOpen }
  override var streamError: (any Error)? { streams?.output.error }
  override var hasSpaceAvailable: Bool { streams?.output.isReady ?? false }

  override func open() {
    if let streams { streams.open(streams.output) }
  }

  override func close() {
    if let streams { streams.close(streams.output) }
  }

  override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
    streams?.write(UnsafeRawBufferPointer(start: buffer, count: max(0, len))) ?? -1
  }

  override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
    if let streams { streams.schedule(streams.output, in: aRunLoop, mode) }
  }

  override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { streams?.output.remove(aRunLoop, mode) }

  override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
  override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
