import CoreBluetooth
import NIOConcurrencyHelpers

/// A request of a central for a characteristic without a handler.
public enum AttributeRequest: Sendable {
  /// The central reads the value.
  case read(ReadRequest)
  /// The central writes one or more values.
  case write(WriteRequest)
}

/// The answer to a request of a central, which is given exactly once. Later answers have no effect, and the
/// deinitializer rejects a request without an answer with `unlikelyError`: a central makes no other request before it
/// has the answer, and ends its link after 30 s.
final class Answer: Sendable {
  private let request: Unchecked<CBATTRequest>
  private let manager: Unchecked<WeakManager>
  private let isGiven = NIOLockedValueBox(false)

  /// A weak reference to the manager, because a request that an app keeps must not keep the manager alive.
  final class WeakManager {
    weak let manager: CBPeripheralManager?
    init(_ manager: CBPeripheralManager) { self.manager = manager }
  }

  init(_ request: CBATTRequest, of manager: CBPeripheralManager) {
    self.request = Unchecked(request)
    self.manager = Unchecked(WeakManager(manager))
  }

  deinit { give(.unlikelyError) }

  /// Answers the request. Returns false if it was answered before.
  @discardableResult
  func give(_ code: CBATTError.Code, _ value: Data? = nil) -> Bool {
    let isFirst = isGiven.withLockedValue { isGiven in
      defer { isGiven = true }
      return !isGiven
    }
    guard isFirst else { return false }
    if let value { request.value.value = value }
    // With Bluetooth off, the link and the request are gone.
    if request.value.needsResponse, let manager = manager.value.manager, manager.state == .poweredOn {
      manager.respond(to: request.value, withResult: code)
    }
    return true
  }
}

/// A central's request for the value of a characteristic.
public final class ReadRequest: Sendable {
  /// The characteristic.
  public let characteristic: LocalCharacteristic
  /// The central.
  public let central: RemoteCentral
  /// The offset of the first requested octet in the value.
  public let offset: Int
  private let answer: Answer

  init(_ request: CBATTRequest, _ characteristic: LocalCharacteristic, of manager: CBPeripheralManager) {
    self.characteristic = characteristic
    central = RemoteCentral(request.central)
    offset = request.offset
    answer = Answer(request, of: manager)
  }

  /// Answers with the complete value, of which the central gets the octets from `offset` on. If the value is shorter
  /// than `offset`, the request is rejected with `invalidOffset`.
  ///
  /// - Returns: false if the request was answered before; this answer then has no effect.
  @discardableResult
  public func respond(with value: Data) -> Bool {
    guard offset <= value.count else { return answer.give(.invalidOffset) }
    return answer.give(.success, value.dropFirst(offset))
  }

  /// Rejects the request.
  ///
  /// - Returns: false if the request was answered before; this answer then has no effect.
  @discardableResult
  public func reject(_ code: CBATTError.Code) -> Bool { answer.give(code) }
}

/// A central's request to write one or more values, all or none of them.
public final class WriteRequest: Sendable {
  /// One part of a write.
  public struct Part: Sendable {
    /// The characteristic.
    public let characteristic: LocalCharacteristic
    /// The offset of the octets in the value.
    public let offset: Int
    /// The octets.
    public let octets: Data
  }

  /// The central.
  public let central: RemoteCentral
  /// The parts: one for a value that fits into a packet, several for a long value or for several values.
  public let parts: [Part]
  private let answer: Answer

  /// Creates a request.
  ///
  /// - Parameter first: the first of the requests of one callback, which stands for all of them.
  init(_ first: CBATTRequest, _ parts: [Part], of manager: CBPeripheralManager) {
    central = RemoteCentral(first.central)
    self.parts = parts
    answer = Answer(first, of: manager)
  }

  /// The characteristic of the first part.
  public var characteristic: LocalCharacteristic { parts[0].characteristic }

  /// The octets of the first part and of the parts that continue it.
  public var value: Data {
    var value = parts[0].octets
    for part in parts.dropFirst() {
      guard part.characteristic === characteristic, part.offset == parts[0].offset + value.count else { break }
      value += part.octets
    }
    return value
  }

  /// Accepts the write. A write without response needs no answer; the call then has no effect.
  ///
  /// - Returns: false if the request was answered before; this answer then has no effect.
  @discardableResult
  public func accept() -> Bool { answer.give(.success) }

  /// Rejects all parts.
  ///
  /// - Returns: false if the request was answered before; this answer then has no effect.
  @discardableResult
  public func reject(_ code: CBATTError.Code) -> Bool { answer.give(code) }
}
