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
  private var reads: [CBUUID: Read] = [:]
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
    reads[uuid] = Read(number: number, completion: completion)
    after(timeLimit) { [weak self] in
      guard let self, self.reads[uuid]?.number == number else { return }
      self.end(uuid, .failure(TimeLimitReached()))
    }
    peripheral.readValue(for: characteristic)
  }

  private func end(_ uuid: CBUUID, _ result: Result<Data, any Error>) {
    reads.removeValue(forKey: uuid)?.completion(result)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    end(characteristic.uuid, error.map { .failure($0) } ?? .success(characteristic.value ?? Data()))
  }
}
