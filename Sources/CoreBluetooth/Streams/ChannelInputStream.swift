import Foundation

/// The stream of octets from the peer on a channel.
final class ChannelInputStream: InputStream {
  private let streams: ChannelStreams

  init(_ streams: ChannelStreams) {
    self.streams = streams
    super.init(data: Data())
    streams.input.setStream(self)
  }

  override var delegate: (any StreamDelegate)? {
    get { streams.input.delegate }
    set {
      streams.input.delegate = newValue
      streams.changed(streams.input)
    }
  }

  override var streamStatus: Stream.Status { streams.input.status }
  override var streamError: (any Error)? { streams.input.error }
  override var hasBytesAvailable: Bool { streams.input.isReady }

  override func open() { streams.open(streams.input) }
  override func close() { streams.close(streams.input) }

  override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
    streams.read(UnsafeMutableRawBufferPointer(start: buffer, count: max(0, len)))
  }

  /// Returns false, because octets can't be read without a copy.
  override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
  ) -> Bool { false }

  override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
    streams.schedule(streams.input, in: aRunLoop, mode)
  }

  override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { streams.input.remove(aRunLoop, mode) }

  override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
  override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
