import CoreBluetooth

/// Writes data without response as fast as the link takes them, in parts of the maximum length.
///
/// Back-pressure: the writer stops when `canSendWriteWithoutResponse` is false, and goes on when the peripheral is
/// ready. Use it on the manager's queue, as the delegate of the peripheral.
final class HighThroughputWriter: NSObject, CBPeripheralDelegate {
  private let peripheral: CBPeripheral
  private let characteristic: CBCharacteristic
  private var rest = Data()
  /// The number of octets that the system has accepted.
  private var accepted = 0
  /// The completions of the calls whose data wait. `end` is the value of `accepted` at which one is called.
  private var completions: [(end: Int, call: () -> Void)] = []

  /// The number of times that the writer had to wait.
  private(set) var pauses = 0

  /// Creates a writer for a characteristic that has the property `writeWithoutResponse`.
  init(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
    (self.characteristic, self.peripheral) = (characteristic, peripheral)
  }

  /// Appends data to those that wait. Calls `completion` once, when the system has accepted all of `data`.
  func send(_ data: Data, completion: @escaping () -> Void = {}) {
    rest += data
    completions.append((accepted + rest.count, completion))
    sendParts()
  }

  private func sendParts() {
    while true {
      while let next = completions.first, next.end <= accepted { completions.removeFirst().call() }
      guard !rest.isEmpty else { return }
      guard peripheral.canSendWriteWithoutResponse else {
        pauses += 1
        return
      }
      // The length is read for each part, because it grows when the peers have agreed on a longer MTU.
      let part = rest.prefix(peripheral.maximumWriteValueLength(for: .withoutResponse))
      peripheral.writeValue(Data(part), for: characteristic, type: .withoutResponse)
      rest = rest.dropFirst(part.count)
      accepted += part.count
    }
  }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { sendParts() }
}
