import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A client's end of a connection to a message bus: authentication, messages, and the answers to calls. Confined to the
/// connection's event loop.
package final class DBusHandler: ChannelInboundHandler, @unchecked Sendable {
  // Unchecked: only code on the event loop uses the variables.
  package typealias InboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  private var octets: [UInt8] = []
  private var isAuthenticated = false
  private var context: ChannelHandlerContext?
  private var serial: UInt32 = 0
  private var answers: [UInt32: (DBusMessage) -> Void] = [:]
  /// Called when messages can be sent.
  package var onReady: () -> Void = {}
  package var onSignal: (DBusMessage) -> Void = { _ in }
  /// Called once, when the connection has ended.
  package var onEnd: () -> Void = {}

  package init() {}

  package func channelActive(context: ChannelHandlerContext) {
    self.context = context
    // EXTERNAL: the bus takes the user from the socket · D-Bus Specification, "Authentication Mechanisms".
    let user = Array("\(getuid())".utf8).map { String($0, radix: 16) }.joined()
    write(Array("\0AUTH EXTERNAL \(user)\r\n".utf8))
  }

  package func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    answers.removeAll()
    let end = onEnd
    onEnd = {}
    end()
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func write(_ octets: [UInt8]) {
    context?.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: octets)), promise: nil)
  }

  /// Calls a method; `answer` gets the reply or the error.
  package func call(_ message: DBusMessage, _ answer: @escaping (DBusMessage) -> Void = { _ in }) {
    context?.eventLoop.preconditionInEventLoop()
    serial &+= 1
    var message = message
    message.serial = serial
    answers[serial] = answer
    write(message.octets)
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    octets += Array(unwrapInboundIn(data).readableBytesView)
    do throws(DBusError) {
      if !isAuthenticated { try takeAuthentication() }
      while isAuthenticated, let length = try DBusMessage.length(octets[...]) {
        let message = try DBusMessage(octets[..<length])
        octets.removeFirst(length)
        switch message.kind {
        case .reply, .error: answers.removeValue(forKey: message.replySerial ?? 0)?(message)
        case .signal: onSignal(message)
        case .call: break
        }
      }
    } catch {
      context.close(promise: nil)
    }
  }

  private func takeAuthentication() throws(DBusError) {
    guard let end = octets.firstIndex(of: UInt8(ascii: "\n")) else {
      if octets.count > 4_096 { throw .malformed }
      return
    }
    guard octets.starts(with: Array("OK ".utf8)) else { throw .malformed }
    octets.removeSubrange(...end)
    isAuthenticated = true
    write(Array("BEGIN\r\n".utf8))
    let bus = "org.freedesktop.DBus"
    call(DBusMessage(calling: "Hello", of: bus, at: "/org/freedesktop/DBus", on: bus)) { [weak self] answer in
      if answer.kind == .reply { self?.onReady() } else { self?.context?.close(promise: nil) }
    }
  }
}
