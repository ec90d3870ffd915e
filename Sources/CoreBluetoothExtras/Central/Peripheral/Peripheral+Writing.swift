import CoreBluetooth

// Writes without response, which no callback answers.
extension Peripheral {
  func writeWithoutResponse(_ value: Data, to box: Unchecked<CBCharacteristic>) async throws {
    try Task.checkCancellation()
    let operation = PendingOperation<Void>()
    try with { state in
      let characteristic = box.value
      try check(characteristic, state)
      guard !characteristic.properties.isDisjoint(with: [.writeWithoutResponse, .authenticatedSignedWrites]) else {
        throw CBATTError(.writeNotPermitted)
      }
      guard value.count <= peer.maximumWriteValueLength(for: .withoutResponse) else {
        throw CBATTError(.invalidAttributeValueLength)
      }
      state.unsent.append(UnsentValue(operation: operation, characteristic: characteristic, value: value))
    }
    send()
    try await operation.value(onCancel: { [self] in
      with { state in state.unsent.removeAll { $0.operation === operation } }
    })
  }

  /// Sends the waiting values for which there is room. Asking for room requests the callback that calls this method
  /// again.
  func send() {
    let sent = with { state in
      var sent: [PendingOperation<Void>] = []
      while peer.state == .connected, let next = state.unsent.first, peer.canSendWriteWithoutResponse {
        peer.writeValue(next.value, for: next.characteristic, type: .withoutResponse)
        sent.append(next.operation)
        state.unsent.removeFirst()
      }
      return sent
    }
    for operation in sent { operation.finish(.success(())) }
  }
}
