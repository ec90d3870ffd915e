import CoreBluetooth
import DequeModule

extension LocalPeripheral {
  /// Publishes an L2CAP channel with a free PSM, which centrals can open any number of times.
  ///
  /// - Parameters:
  ///   - requiresEncryption: true if centrals can open the channel only over an encrypted link; a central without a
  ///     bond then has to pair.
  ///   - limit: the time limit; nil: none.
  /// - Returns: the listener, which the app must retain.
  public func publishL2CAPChannel(
    requiresEncryption: Bool = false, within limit: TimeLimit? = nil
  ) async throws -> L2CAPListener {
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let operation = PendingOperation<L2CAPListener>()
      try with { state in
        let manager = try manager(state)
        state.publications.append(operation)
        manager.publishL2CAPChannel(withEncryption: requiresEncryption)
      }
      // The answer arrives later; the listener is then released, which unpublishes the channel.
      return try await operation.value(onCancel: {})
    }
  }

  func published(_ psm: CBL2CAPPSM, _ error: (any Error)?) {
    guard let operation = with({ $0.publications.popFirst() }) else { return }
    if let error { return operation.fail(error) }
    let queue = ChannelQueue()
    let number = with { state in
      state.listenerCount += 1
      state.listeners[psm] = Listener(number: state.listenerCount, queue: queue)
      return state.listenerCount
    }
    operation.finish(.success(L2CAPListener(psm, number, queue, of: self)))
  }

  /// Unpublishes a channel, which closes all that centrals have opened. Does nothing if it was unpublished before.
  func unpublish(_ psm: CBL2CAPPSM, _ number: Int) {
    let listener = with { state -> Listener? in
      guard state.listeners[psm]?.number == number else { return nil }
      if let manager = try? manager(state) { manager.unpublishL2CAPChannel(psm) }
      return state.listeners.removeValue(forKey: psm)
    }
    listener?.queue.finish()
  }

  func opened(_ channel: CBL2CAPChannel) {
    // Without a listener, no reference to the channel remains, so it closes.
    with { $0.listeners[channel.psm] }?.queue.add(L2CAPChannel(channel))
  }
}

/// A published L2CAP channel. It is unpublished, and its channels close, when the last reference to the listener is
/// released, or with `close`.
public final class L2CAPListener: Sendable {
  /// The PSM, which the app tells centrals.
  public let psm: CBL2CAPPSM
  private let number: Int
  private let queue: ChannelQueue
  private let owner: LocalPeripheral

  init(_ psm: CBL2CAPPSM, _ number: Int, _ queue: ChannelQueue, of owner: LocalPeripheral) {
    self.psm = psm
    self.number = number
    self.queue = queue
    self.owner = owner
  }

  deinit { owner.unpublish(psm, number) }

  /// The channels that centrals open. Each channel goes to one iteration. Channels that no iteration takes wait for the
  /// next one, at most 16; others are closed. After an iteration that was cancelled or whose time limit has ended,
  /// another one goes on. The sequence ends with `close`, and throws `CBError.operationCancelled` if Bluetooth is turned
  /// off.
  public var channels: ThrowingEventSequence<L2CAPChannel> {
    ThrowingEventSequence(owner: self) { [queue] in AsyncThrowingStream(unfolding: { try await queue.next() }) }
  }

  /// Unpublishes the channel, and closes all that centrals have opened.
  public func close() { owner.unpublish(psm, number) }
}
