import BluetoothWire

/// A session's scan, from one scan command to the next.
struct ActiveScan {
  let request: ScanRequest
  /// The content last reported to the session for each peer since the scan began.
  private var reported: [PeerHandle: ReportedState] = [:]

  private struct ReportedState: Equatable {
    var content: AdvertisingFields
    /// The services of the overflow area that the session requested. The area itself is never reported.
    var overflow: [BluetoothUUID]

    init(_ content: AdvertisingFields, overflow: [BluetoothUUID]) {
      self.content = content
      self.content.hideOverflowArea()
      self.overflow = overflow
    }
  }

  init(_ request: ScanRequest) { self.request = request }

  /// Returns the requested services in the advertiser's overflow area; nil if the advertiser does not match the scan.
  func match(_ content: AdvertisingFields) -> [BluetoothUUID]? {
    guard request.packets == nil else { return nil }
    var overflow: [BluetoothUUID] = []
    if let area = content.overflowArea, let requested = request.services {
      overflow = requested.filter { area.mayContain($0) && !content.services.contains($0) }
    }
    guard let requested = request.services, !(requested.isEmpty && request.solicitedServices.isEmpty) else {
      return overflow
    }
    let isWanted =
      !overflow.isEmpty || content.services.contains { requested.contains($0) }
      || content.solicitedServices.contains { request.solicitedServices.contains($0) }
    return isWanted ? overflow : nil
  }

  /// Returns true if the session gets an event for `peer` now: for each packet if duplicates are allowed, otherwise the
  /// first time and whenever the reported content has changed.
  /// An app in the background gets no duplicates.
  mutating func reports(
    _ peer: PeerHandle, _ content: AdvertisingFields, overflow: [BluetoothUUID] = [], isInBackground: Bool = false
  ) -> Bool {
    if request.allowsDuplicates, !isInBackground { return true }
    let state = ReportedState(content, overflow: overflow)
    guard reported[peer] != state else { return false }
    reported[peer] = state
    return true
  }
}
