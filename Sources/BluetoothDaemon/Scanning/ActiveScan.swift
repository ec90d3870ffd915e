import BluetoothWire

/// A session's scan, from one scan command to the next.
struct ActiveScan {
  let request: ScanRequest
  /// What the session was told of each peer since the scan began.
  private var reported: [PeerHandle: Told] = [:]

  private struct Told: Equatable {
    var content: AdvertisingFields
    /// The area itself is never told, only what of it was asked for.
    var overflow: [BluetoothUUID]

    init(_ content: AdvertisingFields, overflow: [BluetoothUUID]) {
      self.content = content
      self.content.hideOverflowArea()
      self.overflow = overflow
    }
  }

  init(_ request: ScanRequest) { self.request = request }

  /// nil: the session does not want this advertiser. Otherwise the services of its overflow area that the session asks
  /// for.
  func match(_ content: AdvertisingFields) -> [BluetoothUUID]? {
    var overflow: [BluetoothUUID] = []
    if let area = content.overflowArea, let wanted = request.services {
      overflow = wanted.filter { area.mayContain($0) && !content.services.contains($0) }
    }
    guard let wanted = request.services, !(wanted.isEmpty && request.solicitedServices.isEmpty) else { return overflow }
    let isWanted =
      !overflow.isEmpty || content.services.contains { wanted.contains($0) }
      || content.solicitedServices.contains { request.solicitedServices.contains($0) }
    return isWanted ? overflow : nil
  }

  /// Whether the session is to be told of `peer` now: for each packet, or the first time and when what it is told changed.
  mutating func reports(_ peer: PeerHandle, _ content: AdvertisingFields, overflow: [BluetoothUUID] = []) -> Bool {
    if request.allowsDuplicates { return true }
    let told = Told(content, overflow: overflow)
    guard reported[peer] != told else { return false }
    reported[peer] = told
    return true
  }
}
