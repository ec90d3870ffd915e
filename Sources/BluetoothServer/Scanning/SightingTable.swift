import BluetoothHost
import BluetoothWire
import DequeModule

/// What was last received from one advertiser.
struct Sighting {
  fileprivate(set) var content = AdvertisingFields()
  fileprivate(set) var isConnectable = false
  /// False as long as only scan responses came.
  fileprivate(set) var hasAdvertisement = false

  private var advertisement = ByteSlice()
  private var scanResponse = ByteSlice()

  fileprivate init() {}

  /// True: the content is another than before.
  fileprivate mutating func take(_ report: AdvertisingReport) -> Bool {
    // Copies: the report's octets are in the pool's storages, which come and go with the packets.
    if report.isScanResponse {
      guard scanResponse != report.data else { return false }
      scanResponse = ByteSlice(report.data.bytes)
    } else {
      hasAdvertisement = true
      isConnectable = report.isConnectable
      guard advertisement != report.data else { return false }
      advertisement = ByteSlice(report.data.bytes)
    }
    var updated = AdvertisingFields(advertisement)
    updated.add(scanResponse)
    defer { content = updated }
    return content != updated
  }
}

/// The advertisers heard while anybody scans: joins each one's advertisement with its scan response.
struct SightingTable {
  /// When there are more, those that came first are forgotten.
  static let limit = 4_096

  private var sightings: [DeviceAddress: Sighting] = [:]
  private var order = Deque<DeviceAddress>()

  var count: Int { sightings.count }

  /// Takes in `report`. The result is what is now known of the advertiser, and whether it is other than before.
  mutating func take(_ report: AdvertisingReport) -> (sighting: Sighting, hasChanged: Bool) {
    guard let index = sightings.index(forKey: report.address) else { return insert(report) }
    let hasChanged = sightings.values[index].take(report)
    return (sightings.values[index], hasChanged)
  }

  private mutating func insert(_ report: AdvertisingReport) -> (sighting: Sighting, hasChanged: Bool) {
    if order.count == Self.limit, let oldest = order.popFirst() { sightings[oldest] = nil }
    order.append(report.address)
    var sighting = Sighting()
    _ = sighting.take(report)
    sightings[report.address] = sighting
    return (sighting, true)
  }

  mutating func removeAll() {
    sightings.removeAll(keepingCapacity: true)
    order.removeAll(keepingCapacity: true)
  }
}
