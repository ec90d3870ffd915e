import BluetoothWire

/// A session's scan, from one scan command to the next.
struct ActiveScan {
  let request: ScanRequest
  /// The fingerprints of the latest contents of each peer since the scan began. A fingerprint takes 8 octets where the
  /// content takes 400, for each of thousands of peers.
  private var reported: [PeerHandle: Fingerprints] = [:]

  /// The fingerprints of a peer's contents; 0: none yet.
  private struct Fingerprints {
    private var advertisement = 0
    private var scanResponse = 0
    private var latest = 0

    /// Records the content of a packet. Returns true if it differs from that of the latest packet and that of the
    /// latest packet of its kind: an advertisement and a scan response that differ are each reported once.
    mutating func take(_ fingerprint: Int, isScanResponse: Bool) -> Bool {
      let former = isScanResponse ? scanResponse : advertisement
      if isScanResponse { scanResponse = fingerprint } else { advertisement = fingerprint }
      defer { latest = fingerprint }
      return fingerprint != former && fingerprint != latest
    }
  }

  /// Returns the fingerprint of a report: a hash with a key that advertisers do not know, of 64 bits, so that two
  /// contents never share one in practice.
  ///
  /// - Parameter overflow: The services of the overflow area that the session requested. The area itself is never
  ///   reported.
  private static func fingerprint(of content: AdvertisingFields, overflow: [BluetoothUUID]) -> Int {
    var content = content
    content.hideOverflowArea()
    var hasher = Hasher()
    hasher.combine(content)
    hasher.combine(overflow)
    return hasher.finalize()
  }

  init(_ request: ScanRequest) { self.request = request }

  /// Forgets what has been reported of these peers.
  mutating func forget(_ peers: Set<PeerHandle>) { reported = reported.filter { !peers.contains($0.key) } }

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
    _ peer: PeerHandle, _ content: AdvertisingFields, isScanResponse: Bool = false, overflow: [BluetoothUUID] = [],
    isInBackground: Bool = false
  ) -> Bool {
    if request.allowsDuplicates, !isInBackground { return true }
    let fingerprint = Self.fingerprint(of: content, overflow: overflow)
    return reported[peer, default: Fingerprints()].take(fingerprint, isScanResponse: isScanResponse)
  }
}
