import BluetoothTransport
import Foundation
import NIOCore
import NIOEmbedded

/// The connection of a host to the air of a lockstep. It reads and writes its socket when the air has the turn, without
/// waiting.
final class LockstepLink {
  private let descriptor: CInt
  private let channel: EmbeddedChannel
  /// Octets that the host's socket has not accepted.
  private var unsent = ByteBuffer()
  private var isClosed = false

  /// The number of octets that are read at a time.
  private static let chunk = 65_536
  /// The number of waiting octets above which the link is not writable.
  private static let limit = 65_536

  /// - Parameter descriptor: a connected socket that does not wait. The link closes it.
  init(_ descriptor: CInt, handler: H4Handler, loop: EmbeddedEventLoop) throws {
    self.descriptor = descriptor
    channel = EmbeddedChannel(handler: handler, loop: loop)
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "host")).wait()
  }

  var isOpen: Bool { !isClosed }

  /// Processes the octets that have arrived. Returns false if there were none.
  func receive() -> Bool {
    guard !isClosed else { return false }
    // A host that does not read its events must not send more commands.
    guard channel.isWritable else { return false }
    var buffer = channel.allocator.buffer(capacity: Self.chunk)
    let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.chunk) { octets in
      max(0, recv(descriptor, octets.baseAddress, Self.chunk, 0))
    }
    if count > 0 {
      channel.pipeline.fireChannelRead(buffer)
      channel.pipeline.fireChannelReadComplete()
      return true
    }
    if isEnded { close() }
    return isClosed
  }

  /// True if the host has closed the connection, or the system has.
  private var isEnded: Bool {
    var octet: UInt8 = 0
    let result = recv(descriptor, &octet, 1, CInt(MSG_PEEK))
    return result == 0 || (result < 0 && errno != EAGAIN && errno != EINTR)
  }

  /// Sends what the air has for the host. Returns true if the host gets something to read.
  func send() -> Bool {
    guard !isClosed else { return false }
    while let part = try? channel.readOutbound(as: ByteBuffer.self) { unsent.writeImmutableBuffer(part) }
    var hasSent = false
    while unsent.readableBytes > 0 {
      let count = unsent.withUnsafeReadableBytes { octets in
        Foundation.send(descriptor, octets.baseAddress, octets.count, CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else { break }
      unsent.moveReaderIndex(forwardBy: count)
      hasSent = true
    }
    if unsent.readableBytes == 0 { unsent.clear() }
    let isWritable = unsent.readableBytes <= Self.limit
    if isWritable != channel.isWritable {
      channel.isWritable = isWritable
      channel.pipeline.fireChannelWritabilityChanged()
    }
    if !channel.isActive {
      close()
      hasSent = true
    }
    return hasSent
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    if channel.isActive { channel.close(promise: nil) }
    channel.embeddedEventLoop.run()
    Foundation.close(descriptor)
  }
}
