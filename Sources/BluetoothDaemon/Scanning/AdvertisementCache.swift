import BluetoothHost
import BluetoothWire
import DequeModule

/// The latest data received from one advertiser.
struct Sighting {
  /// The merged content. If both packets have a value that can occur only once, such as manufacturer specific data, it
  /// is the advertisement's.
  fileprivate(set) var content = AdvertisingFields()
  /// The merged content with the scan response's values; nil: it does not differ.
  private var responseContent: AdvertisingFields?
  fileprivate(set) var isConnectable = false
  /// False as long as only scan responses have been received.
  fileprivate(set) var hasAdvertisement = false
  private var hasScanResponse = false
  /// True while the first advertisement is held back for its scan response.
  fileprivate var isHeld = false

  private var advertisement = ByteSlice()
  private var scanResponse = ByteSlice()

  fileprivate init() {}

  /// The merged content in which the values of one of the packets have priority.
  func content(ofScanResponse isScanResponse: Bool) -> AdvertisingFields {
    isScanResponse ? responseContent ?? content : content
  }

  /// Records `report`. Returns true if the content has changed.
  fileprivate mutating func take(_ report: AdvertisingReport) -> Bool {
    // Copies the data: the report's octets are in storage of the pool, which is reused for later packets.
    if report.isScanResponse {
      hasScanResponse = true
      guard scanResponse != report.data else { return false }
      scanResponse = ByteSlice(report.data.bytes)
    } else {
      hasAdvertisement = true
      isConnectable = report.isConnectable
      guard advertisement != report.data else { return false }
      advertisement = ByteSlice(report.data.bytes)
    }
    let own = AdvertisingFields(advertisement)
    var merged = own
    merged.merge(AdvertisingFields(scanResponse))
    var updated = merged
    updated.merge(own)
    responseContent = merged == updated ? nil : merged
    defer { content = updated }
    return content != updated
  }

  /// Returns true if `report` is the first advertisement of a scannable device that has not sent a scan response yet.
  fileprivate func shouldHold(_ report: AdvertisingReport) -> Bool {
    report.isScannable && !report.isScanResponse && !hasAdvertisement && !hasScanResponse
  }
}

/// A cache of the advertisers received during scanning, which merges each advertisement with its scan response.
struct AdvertisementCache {
  /// The maximum number of advertisers. A new advertiser then replaces the one that was received first.
  static let limit = 4_096

  /// The time for which the first advertisement of a scannable device is held back for its scan response. The response
  /// follows within 1 ms, unless the controller has sent no scan request. No device advertises again within 20 ms · Vol
  /// 6, Part B, 4.4.2.2.
  static let scanResponseWait = TimeSpan.milliseconds(20)

  /// The first advertisement of a scannable device, which waits for its scan response.
  struct Held {
    let address: DeviceAddress
    /// The signal strength of the advertisement in dBm.
    let rssi: Int8
    /// The end of the wait.
    let deadline: Instant
  }

  /// The outcome of one report.
  struct Outcome {
    /// The merged content of the advertiser.
    var sighting: Sighting
    /// True if the content has changed.
    var hasChanged: Bool
    /// True if the report is held back: it is reported later.
    var isHeld = false
    /// The advertisement that was held back until this report; nil: none.
    var released: Held?
  }

  private var sightings: [DeviceAddress: Sighting] = [:]
  private var order = Deque<DeviceAddress>()
  /// The advertisements held back, in the order of their deadlines.
  private var held = Deque<Held>()

  var count: Int { sightings.count }

  /// The time when `releaseHeld` has an advertisement to release; nil: none is held back.
  var deadline: Instant? { held.first?.deadline }

  /// Records `report` and returns its outcome.
  mutating func take(_ report: AdvertisingReport, at now: Instant) -> Outcome {
    guard let index = sightings.index(forKey: report.address) else { return insert(report, at: now) }
    let holds = sightings.values[index].shouldHold(report)
    let hasChanged = sightings.values[index].take(report)
    let released = sightings.values[index].isHeld ? remove(report.address) : nil
    sightings.values[index].isHeld = holds
    if holds { hold(report, at: now) }
    return Outcome(
      sighting: sightings.values[index], hasChanged: hasChanged, isHeld: holds, released: released)
  }

  /// Removes and returns an advertisement whose scan response has not come in time; nil if there is none.
  mutating func releaseHeld(at now: Instant) -> (held: Held, sighting: Sighting)? {
    while let first = held.first, first.deadline <= now {
      held.removeFirst()
      guard let index = sightings.index(forKey: first.address) else { continue }
      sightings.values[index].isHeld = false
      return (first, sightings.values[index])
    }
    return nil
  }

  private mutating func insert(_ report: AdvertisingReport, at now: Instant) -> Outcome {
    if order.count == Self.limit, let oldest = order.popFirst() { sightings[oldest] = nil }
    order.append(report.address)
    var sighting = Sighting()
    sighting.isHeld = sighting.shouldHold(report)
    if sighting.isHeld { hold(report, at: now) }
    _ = sighting.take(report)
    sightings[report.address] = sighting
    return Outcome(sighting: sighting, hasChanged: true, isHeld: sighting.isHeld)
  }

  private mutating func hold(_ report: AdvertisingReport, at now: Instant) {
    held.append(Held(address: report.address, rssi: report.rssi, deadline: now + Self.scanResponseWait))
  }

  private mutating func remove(_ address: DeviceAddress) -> Held? {
    // The scan response usually belongs to the latest advertisement.
    held.lastIndex { $0.address == address }.map { held.remove(at: $0) }
  }

  mutating func removeAll() {
    sightings.removeAll(keepingCapacity: true)
    order.removeAll(keepingCapacity: true)
    held.removeAll(keepingCapacity: true)
  }
}
