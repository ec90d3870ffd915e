import CoreBluetooth

/// A value that centrals read by offset and write in one part or in several, all or none.
///
/// Use the server on the manager's queue, as the delegate of a peripheral manager that has published `characteristic`.
final class ValueServer: NSObject, CBPeripheralManagerDelegate {
  /// The characteristic, to be added to a service.
  let characteristic: CBMutableCharacteristic
  /// The value.
  private(set) var value: Data
  /// The offsets of the reads, in their order.
  private(set) var readOffsets: [Int] = []
  private let maximumLength: Int

  /// Creates a server.
  ///
  /// - Parameter maximumLength: the maximum length of the value; no attribute has more than 512 octets.
  init(_ uuid: CBUUID, value: Data, maximumLength: Int = 512) {
    (self.value, self.maximumLength) = (value, maximumLength)
    characteristic = CBMutableCharacteristic(
      type: uuid, properties: [.read, .write], value: nil, permissions: [.readable, .writeable])
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    readOffsets.append(request.offset)
    guard request.offset <= value.count else { return peripheral.respond(to: request, withResult: .invalidOffset) }
    // The system sends as much of the rest as fits, and asks again with a higher offset.
    request.value = value.dropFirst(request.offset)
    peripheral.respond(to: request, withResult: .success)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    var changed = value
    for request in requests {
      let part = request.value ?? Data()
      if let error = write(part, at: request.offset, to: &changed) {
        // One response, to the first request, answers all of them: no part is written.
        return peripheral.respond(to: requests[0], withResult: error)
      }
    }
    value = changed
    peripheral.respond(to: requests[0], withResult: .success)
  }

  /// Writes a part. A part at offset 0 begins a new value.
  private func write(_ part: Data, at offset: Int, to value: inout Data) -> CBATTError.Code? {
    if offset == 0 { value = Data() }
    guard offset <= value.count else { return .invalidOffset }
    guard offset + part.count <= maximumLength else { return .invalidAttributeValueLength }
    value = value.prefix(offset) + part
    return nil
  }
}
