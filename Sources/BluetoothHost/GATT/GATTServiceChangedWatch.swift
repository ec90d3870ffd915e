import BluetoothWire

/// How the client comes to be told of changes of the server's services: it subscribes to Service Changed as soon as
/// services have been asked for and nothing else is to be done · Vol 3, Part G, 2.5.2, 7.1.
struct GATTServiceChangedWatch {
  private enum State {
    /// Nobody has asked for services yet.
    case dormant
    case findService
    case findCharacteristic(ClosedRange<AttributeHandle>)
    case findConfiguration(value: AttributeHandle, in: ClosedRange<AttributeHandle>)
    case subscribe(value: AttributeHandle, configuration: AttributeHandle)
    case subscribed(value: AttributeHandle)
    /// The server has none, or refused.
    case unavailable
  }

  private var state = State.dormant

  /// The value handle of Service Changed, when it is known.
  var value: AttributeHandle? {
    switch state {
    case .findConfiguration(let value, _), .subscribe(let value, _), .subscribed(let value): return value
    default: return nil
    }
  }

  /// What has to be done next; nil: nothing.
  var nextRequest: GATTRequest? {
    switch state {
    case .dormant, .subscribed, .unavailable: return nil
    case .findService: return .discoverPrimaryService(GATTType.gattService)
    case .findCharacteristic(let range): return .discoverCharacteristics(in: range)
    case .findConfiguration(_, let range): return .discoverDescriptors(in: range)
    case .subscribe(_, let configuration):
      // Indications.
      return .write(configuration, [0x02, 0x00])
    }
  }

  /// Services have been discovered, these among them.
  mutating func discovered(_ services: [GATTService]) {
    guard case .dormant = state else { return }
    if let service = services.first(where: { $0.uuid == GATTType.gattService }) {
      state = .findCharacteristic(service.range)
    } else {
      state = .findService
    }
  }

  /// Goes on after the result of `nextRequest`.
  mutating func advance(_ result: Result<GATTResponse, GATTError>) {
    state = next(result)
  }

  private func next(_ result: Result<GATTResponse, GATTError>) -> State {
    guard case .success(let response) = result else { return .unavailable }
    switch (state, response) {
    case (.findService, .services(let services)):
      guard let service = services.first else { return .unavailable }
      return .findCharacteristic(service.range)
    case (.findCharacteristic(let range), .characteristics(let characteristics)):
      guard let index = characteristics.firstIndex(where: { $0.uuid == GATTType.serviceChanged }) else {
        return .unavailable
      }
      let value = characteristics[index].value
      // Its descriptors end where the next characteristic begins.
      let following = characteristics[(index + 1)...].first?.declaration
      let end = following.map { $0 - 1 } ?? range.upperBound
      guard value < end else { return .unavailable }
      return .findConfiguration(value: value, in: value + 1...end)
    case (.findConfiguration(let value, _), .descriptors(let descriptors)):
      let configuration = descriptors.first { $0.uuid == GATTType.clientCharacteristicConfiguration }
      guard let configuration else { return .unavailable }
      return .subscribe(value: value, configuration: configuration.handle)
    case (.subscribe(let value, _), .done): return .subscribed(value: value)
    default: return .unavailable
    }
  }

  /// The range of an indication of Service Changed; nil if it is malformed. Where it covers the characteristic itself,
  /// that is looked for anew.
  mutating func receive(_ octets: ByteSlice) -> ClosedRange<AttributeHandle>? {
    var reader = ByteReader(octets)
    guard let start = try? reader.uint16(), let end = try? reader.uint16(), reader.remaining == 0, start > 0,
      start <= end
    else { return nil }
    if let value, (start...end).contains(value) { state = .dormant }
    return start...end
  }
}
