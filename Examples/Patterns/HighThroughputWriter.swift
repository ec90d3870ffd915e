import CoreBluetooth

/// Writes data without response as fast as the link takes them, in parts of the maximum length.
///
/// Back-pressure: the writer stops when `canSendWriteWithoutResponse` is false, and goes on when the peripheral is
/// ready. Use it on the manager's queue, as the delegate of the peripheral.
final class HighThroughputWriter: NSObject, CBPeripheralDelegate {
  private let peripheral: CBPeripheral
  private let characteristic: CBCharacteristic
  private var rest = Data()
  private var completion: (() -> Void)?

  /// The number of times that the writer had to wait.
  private(set) var pauses = 0

  /// Creates a writer for a characteristic that has the property `writeWithoutResponse`.
  init(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
    (self.characteristic, self.peripheral) = (characteristic, peripheral)
  }

  /// Appends data to those that wait. Calls `completion` when the system has accepted all of them.
  func send(_ data: Data, completion: @escaping () -> Void = {}) {
    rest += data
    self.completion = completion
    sendParts()
  }

  private func sendParts() {
    // The length is read for each part, because it grows when the peers have agreed on a longer MTU.
    while !rest.isEmpty {
      guard peripheral.canSendWriteWithoutResponse else {
        pauses += 1
        return
      }
      let part = rest.prefix(peripheral.maximumWriteValueLength(for: .withoutResponse))
      peripheral.writeValue(Data(part), for: characteristic, type: .withoutResponse)
      rest = rest.dropFirst(part.count)
    }
    let completion = completion
    self.completion = nil
    completion?()
  }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { sendParts() }
}
