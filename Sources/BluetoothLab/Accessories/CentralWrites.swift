import BluetoothHost
import BluetoothProfiles
import BluetoothWire

/// The writes of an accessory to the GATT servers of its centrals: for each the discovery of the characteristic, unless
/// it is known on this link, and the write. The writes on one link are performed one after the other.
struct CentralWrites {
  /// The result of a step.
  enum Step {
    case request(GATTRequest)
    /// The write to this characteristic has ended; nil: successfully.
    case ended(CharacteristicPath, CentralWriteError?)
  }

  private struct Write {
    let token: GATTToken
    let link: HCI.ConnectionHandle
    let path: CharacteristicPath
    let octets: [UInt8]
    var hasBegun = false
  }

  private struct Found {
    let link: HCI.ConnectionHandle
    let path: CharacteristicPath
    let characteristic: GATTCharacteristic
  }

  private var writes: [Write] = []
  private var known: [Found] = []
  private var lastToken: GATTToken = 0

  /// Appends a write.
  mutating func append(_ octets: [UInt8], to path: CharacteristicPath, on link: HCI.ConnectionHandle) {
    lastToken += 1
    writes.append(Write(token: lastToken, link: link, path: path, octets: octets))
  }

  /// Begins the next write on a link. Returns its first request; nil: one is in progress, or there is none.
  mutating func next(on link: HCI.ConnectionHandle) -> (token: GATTToken, request: GATTRequest)? {
    guard let index = writes.firstIndex(where: { $0.link == link }), !writes[index].hasBegun else { return nil }
    writes[index].hasBegun = true
    let write = writes[index]
    if let found = known.first(where: { $0.link == link && $0.path == write.path }) {
      return (write.token, request(write, found.characteristic))
    }
    return (write.token, .discoverPrimaryService(write.path.service))
  }

  /// Returns the step after the result of a request of a write; nil: the request belongs to no write.
  mutating func advance(_ token: GATTToken, _ result: Result<GATTResponse, GATTError>) -> Step? {
    guard let index = writes.firstIndex(where: { $0.token == token }) else { return nil }
    let write = writes[index]
    switch result {
    case .success(.services(let services)):
      guard let service = services.first else { return end(index, .notFound) }
      return .request(.discoverCharacteristic(write.path.characteristic, in: service.range))
    case .success(.characteristics(let characteristics)):
      guard characteristics.indices.contains(write.path.instance) else { return end(index, .notFound) }
      let characteristic = characteristics[write.path.instance]
      guard !characteristic.properties.isDisjoint(with: [.write, .writeWithoutResponse]) else {
        return end(index, .notFound)
      }
      known.append(Found(link: write.link, path: write.path, characteristic: characteristic))
      return .request(request(write, characteristic))
    case .success(.done): return end(index, nil)
    case .success: return end(index, .noResponse)
    case .failure(let error):
      // The attributes may have changed.
      known.removeAll { $0.link == write.link && $0.path == write.path }
      if case .att(let code) = error { return end(index, .rejected(code)) }
      return end(index, .noResponse)
    }
  }

  /// Returns the request that writes the value: a command if the characteristic permits it.
  private func request(_ write: Write, _ characteristic: GATTCharacteristic) -> GATTRequest {
    let value = ByteSlice(write.octets)
    return characteristic.properties.contains(.writeWithoutResponse)
      ? .writeWithoutResponse(characteristic.value, value) : .write(characteristic.value, value)
  }

  private mutating func end(_ index: Int, _ error: CentralWriteError?) -> Step {
    .ended(writes.remove(at: index).path, error)
  }

  /// Forgets the characteristics in a range of handles, which has changed.
  mutating func attributesChanged(_ range: ClosedRange<AttributeHandle>, on link: HCI.ConnectionHandle) {
    known.removeAll { $0.link == link && range.contains($0.characteristic.value) }
  }

  /// Forgets a link that has ended. Returns the characteristics of its writes, which have failed.
  mutating func linkEnded(_ link: HCI.ConnectionHandle) -> [CharacteristicPath] {
    known.removeAll { $0.link == link }
    defer { writes.removeAll { $0.link == link } }
    return writes.filter { $0.link == link }.map(\.path)
  }
}
