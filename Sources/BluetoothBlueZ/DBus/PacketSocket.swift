import Dispatch
import NIOConcurrencyHelpers
import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One end of a pair of sockets with boundaries between packets, as BlueZ gives them to clients.
final class PacketSocket: BusSocket, @unchecked Sendable {
  // Unchecked: the source is changed under the lock of `state` only.
  private struct State {
    var isPaused = false
    var isClosed = false
  }

  private let descriptor: CInt
  private let source: any DispatchSourceRead
  private let state = NIOLockedValueBox(State())

  /// The longest packet: a value of an attribute.
  private static let maximumLength = 512

  private init(_ descriptor: CInt, on loop: any EventLoop, _ receive: @escaping @Sendable ([UInt8]?) -> Void) {
    self.descriptor = descriptor
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "bluez socket"))
    source.setEventHandler { [weak self] in
      // One packet for each event, so that a pause takes effect before the next one.
      guard let self, let packet = read() else { return }
      loop.execute { receive(packet.isEmpty ? nil : packet) }
      if packet.isEmpty { cancel() }
    }
    source.setCancelHandler { closeDescriptor(descriptor) }
    source.activate()
  }

  deinit { cancel() }

  /// Creates a pair; nil: there is no descriptor left. `other` is open, and belongs to the caller.
  static func makePair(
    on loop: any EventLoop, _ receive: @escaping @Sendable ([UInt8]?) -> Void
  ) -> (end: PacketSocket, other: CInt)? {
    guard let pair = makeSocketPair() else { return nil }
    return (PacketSocket(pair.0, on: loop, receive), pair.1)
  }

  /// Returns the next packet; empty: the other end is closed; nil: none has come.
  private func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: Self.maximumLength)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count > 0 { return Array(buffer.prefix(count)) }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? nil : []
  }

  func send(_ octets: [UInt8]) {
    state.withLockedValue { state in
      if !state.isClosed { sendPacket(octets, to: descriptor) }
    }
  }

  func setPaused(_ isPaused: Bool) {
    state.withLockedValue { state in
      guard !state.isClosed, state.isPaused != isPaused else { return }
      state.isPaused = isPaused
      isPaused ? source.suspend() : source.resume()
    }
  }

  func close() { cancel() }

  private func cancel() {
    state.withLockedValue { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      source.cancel()
      // A suspended source would not end.
      if state.isPaused { source.resume() }
      state.isPaused = false
    }
  }
}

// Outside the class, whose methods have the names of functions of the C library.

/// Creates a pair of sockets for packets; nil: there is no descriptor left, or the system has no such sockets.
private func makeSocketPair() -> (CInt, CInt)? {
  #if canImport(Glibc)
    let type = CInt(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
  #elseif canImport(Musl)
    let type = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC
  #else
    let type = SOCK_SEQPACKET
  #endif
  var pair: [CInt] = [-1, -1]
  return socketpair(AF_UNIX, type, 0, &pair) == 0 ? (pair[0], pair[1]) : nil
}

private func closeDescriptor(_ descriptor: CInt) { close(descriptor) }

private func sendPacket(_ octets: [UInt8], to descriptor: CInt) {
  #if os(Linux)
    _ = send(descriptor, octets, octets.count, CInt(MSG_NOSIGNAL))
  #else
    _ = send(descriptor, octets, octets.count, 0)
  #endif
}
