import NIOConcurrencyHelpers

/// Answers one call, once. If the last reference goes without an answer, the caller gets an error.
package final class DBusResponder: Sendable {
  private let connection: DBusConnection
  private let sender: String
  private let serial: UInt32
  private let expectsReply: Bool
  /// The signature of the results; nil: any.
  private let signature: NIOLockedValueBox<String?>
  private let isAnswered = NIOLockedValueBox(false)

  init(_ connection: DBusConnection, to message: IncomingMessage) {
    self.connection = connection
    sender = message.sender
    serial = message.serial
    expectsReply = !message.header.expectsNoReply
    signature = NIOLockedValueBox(nil)
  }

  deinit { fail(DBusError(DBusError.Name.failed, "the service has not answered")) }

  /// Sets the signature of the results.
  func expect(_ signature: String) { self.signature.withLockedValue { $0 = signature } }

  /// Answers with results.
  package func reply(_ body: [DBusValue] = []) {
    let found = body.map(\.signature).joined()
    if let expected = signature.withLockedValue({ $0 }), found != expected {
      assertionFailure("the reply is \(found) instead of \(expected)")
      return fail(DBusError(DBusError.Name.failed, "the service has an answer of the wrong type"))
    }
    var header = MessageHeader(.reply)
    header.destination = sender
    header.replySerial = serial
    answer(header, body)
  }

  /// Answers with an error.
  package func fail(_ error: DBusError) {
    var header = MessageHeader(.error)
    header.destination = sender
    header.replySerial = serial
    header.errorName = error.name
    answer(header, [.string(error.message)])
  }

  private func answer(_ header: MessageHeader, _ body: [DBusValue]) {
    let isFirst = isAnswered.withLockedValue { isAnswered in
      defer { isAnswered = true }
      return !isAnswered
    }
    guard isFirst else { return }
    connection.finishCall(of: sender)
    guard expectsReply else { return }
    do throws(DBusError) { try connection.post(header, body) } catch {
      // The results can't be sent: the caller must not wait for them.
      var header = header
      header.kind = .error
      header.errorName = DBusError.Name.failed
      _ = try? connection.post(header, [.string("the answer can't be sent: \(error.message)")])
    }
  }
}
