import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// The values that a peripheral notifies or indicates, decoded.
///
/// The first iteration subscribes when it begins, the end of the last one unsubscribes; see
/// `RemoteCharacteristic.notifications`. A malformed value throws `ProfileError.malformedValue`, which ends a `for` loop.
/// `results` has the malformed values as elements, so that a loop goes on.
public struct Measurements<Value: CharacteristicValue>: AsyncSequence, Sendable {
  public typealias Element = Value
  public typealias Failure = any Error

  private let characteristic: RemoteCharacteristic

  init(_ characteristic: RemoteCharacteristic) { self.characteristic = characteristic }

  /// The same values, each with the error of its decoding instead if it is malformed.
  public var results: some AsyncSequence<Result<Value, ProfileError>, any Error> & Sendable {
    characteristic.notifications.map { octets in
      Result { () throws(ProfileError) in try ProfileCharacteristic<Value>.decode(octets) }
    }
  }

  /// Begins an iteration.
  public func makeAsyncIterator() -> Iterator { Iterator(base: characteristic.notifications.makeAsyncIterator()) }

  /// An iteration over the values.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: ThrowingEventSequence<Data>.Iterator

    /// Waits for the next value.
    ///
    /// - Throws: `ProfileError.malformedValue`, after which the next call returns the value that follows; the error of
    ///   the subscription or of the end of the link; `CancellationError` if the task is cancelled.
    public mutating func next() async throws -> Value? { try await next(isolation: nil) }

    /// Waits for the next value, as `next()` does.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
      guard let octets = try await base.next(isolation: actor) else { return nil }
      return try ProfileCharacteristic<Value>.decode(octets)
    }
  }
}
