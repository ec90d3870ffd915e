/// A message of libdbus.
///
/// A message is changed only while it has one owner; then it is given to the thread that sends it.
final class RawMessage: @unchecked Sendable {
  // Unchecked: see above.

  enum Kind: CInt {
    case call = 1
    case reply, error, signal
  }

  let library: LibDBus
  let object: LibDBus.Object

  /// Takes over a reference to a message.
  init(_ library: LibDBus, owning object: LibDBus.Object) {
    self.library = library
    self.object = object
  }

  deinit { library.unrefMessage(object) }

  // MARK: Writing

  /// Creates a message. libdbus ends the program if a name is not valid, so all names are checked first.
  ///
  /// - Throws: `DBusError` for an invalid name or value, and for a message above the limit.
  init(_ header: MessageHeader, _ body: [DBusValue], limit: Int, _ library: LibDBus) throws(DBusError) {
    guard let object = library.newMessage(header.kind.rawValue) else { throw Self.noMemory }
    self.library = library
    self.object = object
    let fields = [
      (header.path, library.validatePath, library.setPath),
      (header.interface, library.validateInterface, library.setInterface),
      (header.member, library.validateMember, library.setMember),
      (header.errorName, library.validateErrorName, library.setErrorName),
      (header.destination, library.validateBusName, library.setDestination),
    ]
    for case (let text?, let isValid, let set) in fields {
      guard !text.utf8.contains(0), text.withCString({ isValid($0, nil) }) != 0 else {
        throw DBusError(DBusError.Name.invalidArguments, "invalid name \"\(text)\"")
      }
      guard text.withCString({ set(object, $0) }) != 0 else { throw Self.noMemory }
    }
    if header.replySerial != 0 { _ = library.setReplySerial(object, header.replySerial) }
    if header.expectsNoReply { library.setNoReply(object, 1) }
    if !header.startsService { library.setAutoStart(object, 0) }
    var size = 0
    for value in body { try value.check(library, depth: 0, size: &size) }
    guard size <= limit else {
      throw DBusError(DBusError.Name.limitsExceeded, "the message has more than \(limit) octets")
    }
    guard !body.isEmpty else { return }
    let isWritten = withIterator { iterator in
      library.iterateAppend(object, iterator)
      return body.allSatisfy { $0.append(to: iterator, library) }
    }
    guard isWritten else { throw Self.noMemory }
  }

  private static let noMemory = DBusError("org.freedesktop.DBus.Error.NoMemory", "libdbus can't make the message")

  // MARK: Reading

  /// Reads octets that are one message; nil: they are none.
  convenience init?(_ octets: [UInt8], _ library: LibDBus) {
    guard let count = CInt(exactly: octets.count), count > 0 else { return nil }
    let object = withFailure(library) { failure in
      octets.withUnsafeBytes { buffer in
        buffer.withMemoryRebound(to: CChar.self) { library.demarshal($0.baseAddress!, count, failure) }
      }
    }
    guard let object = object.0 else { return nil }
    self.init(library, owning: object)
  }

  /// Returns the header and the body.
  func read() -> IncomingMessage? {
    guard let kind = Kind(rawValue: library.messageType(object)) else { return nil }
    func text(_ function: (LibDBus.Object) -> LibDBus.Text?) -> String? { function(object).map { String(cString: $0) } }
    var header = MessageHeader(kind)
    header.path = text(library.path)
    header.interface = text(library.interface)
    header.member = text(library.member)
    header.errorName = text(library.errorName)
    header.destination = text(library.destination)
    header.replySerial = library.replySerial(object)
    header.expectsNoReply = library.noReply(object) != 0
    var body: [DBusValue] = []
    withIterator { iterator in
      guard library.iterate(object, iterator) != 0 else { return }
      body = DBusValue.readAll(iterator, library)
    }
    return IncomingMessage(
      header: header, serial: library.serial(object), sender: text(library.sender) ?? "",
      signature: text(library.signature) ?? "", body: body)
  }
}

/// The header of a message · D-Bus Specification, "Header Fields".
struct MessageHeader: Sendable {
  var kind: RawMessage.Kind
  var path: String?
  var interface: String?
  var member: String?
  var errorName: String?
  var destination: String?
  var replySerial: UInt32 = 0
  var expectsNoReply = false
  var startsService = true

  init(_ kind: RawMessage.Kind) { self.kind = kind }
}

/// A message that has arrived.
struct IncomingMessage: Sendable {
  let header: MessageHeader
  let serial: UInt32
  let sender: String
  let signature: String
  let body: [DBusValue]
}

/// Calls `body` with the space of an iterator. `DBusMessageIter` has 72 octets.
func withIterator<Result>(_ body: (LibDBus.Iterator) -> Result) -> Result {
  withUnsafeTemporaryAllocation(byteCount: 128, alignment: 16) { body($0.baseAddress!) }
}

/// Calls `body` with the space of an error. `DBusError` of libdbus has 32 octets; its first two fields are texts.
func withFailure<Result>(_ library: LibDBus, _ body: (LibDBus.Failure) -> Result) -> (Result, DBusError) {
  withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { space in
    let failure = space.baseAddress!
    library.errorInit(failure)
    let result = body(failure)
    let texts = failure.assumingMemoryBound(to: LibDBus.Text?.self)
    let error = DBusError(
      texts[0].map { String(cString: $0) } ?? DBusError.Name.failed, texts[1].map { String(cString: $0) } ?? "")
    library.errorFree(failure)
    return (result, error)
  }
}

/// The reader and the writer of messages without a connection, for tests.
package enum DBusMessageBody {
  /// True if this machine has libdbus-1.
  package static var isAvailable: Bool { LibDBus.loaded != nil }

  /// Reads the body of a message from octets; nil: they are no message, or this machine has no libdbus-1.
  package static func read(_ octets: [UInt8]) -> [DBusValue]? {
    LibDBus.loaded.flatMap { RawMessage(octets, $0)?.read()?.body }
  }

  /// Writes values into a message, and reads them from it.
  ///
  /// - Throws: `DBusError` if the values can't be sent.
  package static func rewrite(_ body: [DBusValue]) throws(DBusError) -> [DBusValue] {
    var header = MessageHeader(.signal)
    (header.path, header.interface, header.member) = ("/a", "a.b", "C")
    return try RawMessage(header, body, limit: .max, LibDBus.load()).read()?.body ?? []
  }
}
