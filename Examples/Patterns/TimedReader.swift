import CoreBluetooth

/// Reads characteristics with a time limit. `readValue` has none except the 30 s after which the link ends.
///
/// Use the reader on the manager's queue, as the delegate of the peripheral. An answer after the limit is ignored
/// unless the app reads the characteristic again.
///
/// Unchecked Sendable, because the timers carry a reference to it. The app must use it on one queue.
final class TimedReader: NSObject, CBPeripheralDelegate, @unchecked Sendable {
  /// The error of a read without an answer within the limit.
  struct TimeLimitReached: Error {}

  private struct Read {
    var number: Int
    var completion: (Result<Data, any Error>) -> Void
  }

  private let peripheral: CBPeripheral
  private let after: (TimeInterval, @escaping @Sendable () -> Void) -> Void
  /// The open reads of each characteristic, in the order of their calls.
  private var reads: [CBUUID: [Read]] = [:]
  private var count = 0

  /// Creates a reader for a peripheral.
  ///
  /// - Parameter after: calls a closure after a number of seconds.
  init(
    of peripheral: CBPeripheral,
    after: @escaping (TimeInterval, @escaping @Sendable () -> Void) -> Void = {
      DispatchQueue.main.asyncAfter(deadline: .now() + $0, execute: $1)
    }
  ) {
    (self.peripheral, self.after) = (peripheral, after)
  }

  /// Reads a characteristic. Calls `completion` once: with the value, the error, or `TimeLimitReached`.
  func read(
    _ characteristic: CBCharacteristic, timeLimit: TimeInterval = 5,
    completion: @escaping (Result<Data, any Error>) -> Void
  ) {
    count += 1
    let (uuid, number) = (characteristic.uuid, count)
    reads[uuid, default: []].append(Read(number: number, completion: completion))
    after(timeLimit) { [weak self] in self?.end(uuid, number, .failure(TimeLimitReached())) }
    peripheral.readValue(for: characteristic)
  }

  /// Ends the read with a number. Answers come in the order of the reads, so an answer (nil) ends the oldest one.
  private func end(_ uuid: CBUUID, _ number: Int?, _ result: Result<Data, any Error>) {
    guard let index = reads[uuid]?.firstIndex(where: { number == nil || $0.number == number }) else { return }
    let read = reads[uuid]?.remove(at: index)
    read?.completion(result)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    end(characteristic.uuid, nil, error.map { .failure($0) } ?? .success(characteristic.value ?? Data()))
  }
}
