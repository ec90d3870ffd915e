import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

/// The octets of a transfer, in both directions.
protocol TransferChannel: Sendable {
  /// Waits for octets. Returns nil when the other side has ended the transfer.
  ///
  /// - Parameter limit: the time limit; nil: none.
  func octets(within limit: TimeLimit?) async throws -> Data?
  /// Writes all octets. Returns when there was room for the last one among those that wait to be sent.
  func write(_ octets: Data, within limit: TimeLimit?) async throws
  /// Ends the transfer.
  func close()
}

extension L2CAPChannel: TransferChannel {
  func octets(within limit: TimeLimit?) async throws -> Data? { try await read(within: limit) }
}

/// Pieces that have arrived, and wait to be taken. Unchecked: only `next` uses the iterator, and a transfer calls it again
/// only after the call before has returned, which waits for the task that it has started.
final class PieceQueue: @unchecked Sendable {
  private let continuation: AsyncStream<Data>.Continuation
  private var iterator: AsyncStream<Data>.Iterator
  private let hasOverflowed = NIOLockedValueBox(false)

  /// Creates an empty queue.
  ///
  /// - Parameter maximumCount: the maximum number of waiting pieces, each with the octets of a write or a notification.
  init(maximumCount: Int = 65_536) {
    let (stream, continuation) = AsyncStream.makeStream(of: Data.self, bufferingPolicy: .bufferingOldest(maximumCount))
    (self.continuation, iterator) = (continuation, stream.makeAsyncIterator())
  }

  /// Adds a piece. A piece for which there is no room ends the queue, because the transfer can't succeed without it.
  func add(_ piece: Data) {
    guard case .dropped = continuation.yield(piece) else { return }
    hasOverflowed.withLockedValue { $0 = true }
    end()
  }

  func end() { continuation.finish() }

  func next(within limit: TimeLimit?) async throws -> Data? {
    guard let limit else { return try await next() }
    return try await withTimeLimit(limit) { [self] in try await next() }
  }

  private func next() async throws -> Data? {
    if let piece = await iterator.next() { return piece }
    // A cancelled iteration looks like the end.
    try Task.checkCancellation()
    guard !hasOverflowed.withLockedValue({ $0 }) else {
      throw Failure("the other side sends faster than its octets are taken", status: ExitStatus.linkLost)
    }
    return nil
  }
}

/// The sender's side of a transfer over a characteristic: it writes without response, and gets notifications.
final class RemoteTransfer: TransferChannel {
  private let characteristic: RemoteCharacteristic
  private let queue = PieceQueue()
  private let subscription: Task<Void, Never>

  /// Subscribes to the characteristic.
  init(_ characteristic: RemoteCharacteristic, _ stage: Stage) async throws {
    self.characteristic = characteristic
    let values = try await characteristic.subscribe(within: stage.stepLimit)
    let queue = queue
    subscription = Task(executorPreference: stage.taskExecutor) {
      do { for try await value in values { queue.add(value) } } catch {
        // The end of the link is that of the transfer, which then tells the reason.
      }
      queue.end()
    }
  }

  func octets(within limit: TimeLimit?) async throws -> Data? { try await queue.next(within: limit) }

  func write(_ octets: Data, within limit: TimeLimit?) async throws {
    var rest = octets
    while !rest.isEmpty {
      let maximum = max(1, characteristic.service.peripheral.maximumWriteLength(for: .withoutResponse))
      try await characteristic.writeWithoutResponse(Data(rest.prefix(maximum)), within: limit)
      rest = rest.dropFirst(maximum)
    }
  }

  func close() { subscription.cancel() }
}

/// The receiver's side of a transfer over a characteristic, with the first central that writes.
final class LocalTransfer: TransferChannel {
  /// The characteristic to be published.
  let characteristic: LocalCharacteristic
  private let peripheral: LocalPeripheral
  private let queue: PieceQueue
  private let central: NIOLockedValueBox<RemoteCentral?>
  private let begun: AsyncStream<Void>

  init(by peripheral: LocalPeripheral) {
    let (queue, central) = (PieceQueue(), NIOLockedValueBox<RemoteCentral?>(nil))
    let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
    characteristic = LocalCharacteristic(
      FileTransfer.data, [.writeWithoutResponse, .notify],
      write: { request in
        let isFirst = try central.withLockedValue { central in
          guard let known = central else {
            central = request.central
            return true
          }
          guard known == request.central else { throw CBATTError(.unlikelyError) }
          return false
        }
        queue.add(request.value)
        if isFirst { beginning.yield() }
      })
    (self.peripheral, self.queue, self.central, self.begun) = (peripheral, queue, central, begun)
  }

  /// Waits for the first octets. Throws if the task is cancelled.
  func waitForBeginning() async throws {
    for await _ in begun { return }
    throw CancellationError()
  }

  /// Waits until the central has unsubscribed or left, and then ends the transfer.
  func watch() async {
    guard let central = central.withLockedValue({ $0 }) else { return }
    for await subscribers in characteristic.subscriptions where !subscribers.contains(central) { break }
    queue.end()
  }

  func octets(within limit: TimeLimit?) async throws -> Data? { try await queue.next(within: limit) }

  func write(_ octets: Data, within limit: TimeLimit?) async throws {
    guard let central = central.withLockedValue({ $0 }) else { return }
    var rest = octets
    while !rest.isEmpty {
      let maximum = max(1, central.maximumUpdateLength)
      try await peripheral.update(characteristic, to: Data(rest.prefix(maximum)), for: [central], within: limit)
      rest = rest.dropFirst(maximum)
    }
  }

  func close() { queue.end() }
}
