import BluetoothAir
import BluetoothTypes
import BluetoothWire
import CoreBluetoothExtras
import Foundation

/// The advertising of a device as its packets have shown it, in the fields of a world file.
struct RecordedAdvertising: Sendable {
  private var kind: String?
  private var payload: [UInt8] = []
  private var response: [UInt8] = []
  private var times: [Duration] = []
  /// The advertising data with the times from which on they were advertised.
  private var changes: [(time: Duration, payload: [UInt8], response: [UInt8])] = []

  /// The packets on the three primary channels that are one advertising event are sent within 10 ms each ·
  /// Vol 6, Part B, 4.4.2. Events are at least 20 ms apart.
  private static let eventLength = Duration.milliseconds(15)
  /// The most changes that are kept.
  private static let maximumChanges = 10_000

  /// True if the advertiser has used extended PDUs, which a file can't describe.
  private(set) var isExtended = false

  init() {}

  /// Notes a packet.
  mutating func add(_ packet: AdvertisingPacket) {
    add(packet.pduType, Array(packet.data), isConnectable: packet.isConnectable, at: packet.time)
  }

  /// Notes a packet with these data.
  mutating func add(_ type: AdvertisingPacket.PDUType, _ data: [UInt8], isConnectable: Bool, at time: Duration) {
    switch type {
    case .scanRsp, .auxScanRsp:
      response = data
      if !changes.isEmpty { changes[changes.count - 1].response = data }
      return
    case .advInd: kind = "connectable"
    case .advDirectInd: kind = "directed"
    // A device that is connectable at times has attributes.
    case .advNonconnInd: kind = self.isConnectable ? kind : "broadcast"
    case .advScanInd: kind = self.isConnectable ? kind : "scannable"
    case .advExtInd:
      isExtended = true
      kind = isConnectable ? "connectable" : "broadcast"
    }
    if type != .advDirectInd { payload = data }
    if changes.last?.payload != payload, changes.count < Self.maximumChanges {
      changes.append((time, payload, response))
    }
    if let last = times.last, time - last < Self.eventLength { return }
    times.append(time)
  }

  /// A time in which the advertising data do not change.
  struct Frame: Hashable, Sendable {
    let duration: Duration
    let payload: [ADStructure]
    let scanResponse: [ADStructure]
  }

  /// The advertising data in their order, each up to 31 octets.
  var timeline: [Frame] {
    let interval = Duration.seconds(Self.interval(times) ?? 0.1)
    return changes.indices.map { index in
      let end = index + 1 < changes.count ? changes[index + 1].time : (times.last ?? changes[index].time) + interval
      return Frame(
        duration: max(.milliseconds(20), end - changes[index].time),
        payload: Self.structures(changes[index].payload), scanResponse: Self.structures(changes[index].response))
    }
  }

  /// True if there was a packet.
  var isHeard: Bool { kind != nil }
  var isConnectable: Bool { kind == "connectable" || kind == "directed" }

  /// The fields of `advertising`.
  var fields: JSONText {
    var fields: [(String, JSONText)] = [("kind", .text(kind ?? "connectable"))]
    if let interval = Self.interval(times) { fields.append(("interval", .number(interval.decimal(6)))) }
    fields.append(("payload", Self.fields(of: payload)))
    if !response.isEmpty { fields.append(("scanResponse", Self.fields(of: response))) }
    return .object(fields)
  }

  // MARK: The interval

  /// Intervals that devices use: those that Apple recommends, in seconds. Others are multiples of 10 ms.
  private static let usual = [0.1525, 0.21125, 0.31875, 0.4175, 0.54625, 0.8525, 1.0225, 1.285]

  /// Returns the advertising interval in seconds; nil: too few packets.
  ///
  /// The time between two packets is the interval and a random delay of 0 to 10 ms · Vol 6, Part B, 4.4.2.2. Packets can
  /// be missed, and reported late. A line through the packets' numbers and times gives the interval with an
  /// uncertainty, within which a usual interval is taken.
  static func interval(_ times: [Duration]) -> Double? {
    guard let first = times.first, times.count >= 3 else { return nil }
    let seconds = times.map { ($0 - first).seconds }
    let median = zip(seconds, seconds.dropFirst()).map { $1 - $0 }.sorted()[(times.count - 1) / 2]
    guard median > 0 else { return nil }
    var period = median
    let numbers = seconds.map { time in
      let number = (time / period).rounded()
      // The later a packet, the less does its own delay matter.
      if number >= 8 { period = time / number }
      return number
    }
    let count = Double(times.count)
    let (middle, mean) = (numbers.reduce(0, +) / count, seconds.reduce(0, +) / count)
    let points = zip(numbers, seconds).map { (number: $0 - middle, time: $1 - mean) }
    let spread = points.reduce(0) { $0 + $1.number * $1.number }
    guard spread > 0 else { return nil }
    let slope = points.reduce(0) { $0 + $1.number * $1.time } / spread
    let deviation = points.reduce(0) { $0 + ($1.time - slope * $1.number) * ($1.time - slope * $1.number) } / count
    // The mean of the delays, which are evenly distributed over 10 ms.
    let estimate = slope - 0.005
    let events = max(1, numbers.last ?? 1)
    // Three standard deviations: of the mean of the delays, and of the slope.
    let uncertainty = max(0.0005, 3 * (0.0001 / (12 * events) + deviation / spread).squareRoot())
    let candidates = usual + [(estimate * 100).rounded() / 100]
    let nearest = candidates.min { abs($0 - estimate) < abs($1 - estimate) } ?? estimate
    let interval =
      abs(nearest - estimate) <= uncertainty ? nearest : (estimate / 0.000625).rounded() * 0.000625
    return min(10.24, max(0.02, interval))
  }

  // MARK: AD structures

  /// Returns the fields of a payload that stand for these octets.
  static func fields(of octets: [UInt8]) -> JSONText {
    let fitting = structures(octets)
    var fields: [(name: String, value: JSONText)] = []
    for run in runs(fitting) { fields.append(field(of: run)) }
    // A payload has each field at most once.
    if Set(fields.map(\.name)).count < fields.count { fields = [other(fitting)] }
    return .object(fields.map { ($0.name, $0.value) })
  }

  /// Returns the first structures, as far as legacy advertising has room for them.
  private static func structures(_ octets: [UInt8]) -> [ADStructure] {
    var room = 31
    return AdvertisingData(ByteSlice(octets)).map { ADStructure($0.type, $0.data.bytes) }.prefix { structure in
      room -= 2 + structure.data.count
      return room >= 0
    }
  }

  /// The kinds of fields that stand for several structures in a row.
  private enum Kind: Hashable {
    case services, serviceData, other
    case single(ADType)
  }

  private static func kind(of structure: ADStructure) -> Kind {
    let data = structure.data
    switch structure.type {
    case .completeServices16, .completeServices32, .completeServices128: return .services
    case .serviceData16, .serviceData32, .serviceData128: return .serviceData
    case .flags where data.count == 1: return .single(.flags)
    case .txPowerLevel where data.count == 1 && data[0] != 0x80: return .single(.txPowerLevel)
    case .appearance where data.count == 2: return .single(.appearance)
    case .manufacturerData where data.count >= 2: return .single(.manufacturerData)
    case .completeLocalName where String(validating: data, as: UTF8.self) != nil: return .single(.completeLocalName)
    case .shortenedLocalName where String(validating: data, as: UTF8.self) != nil: return .single(.shortenedLocalName)
    default: return .other
    }
  }

  /// Splits structures into runs of one kind, so that one field stands for each run.
  private static func runs(_ structures: [ADStructure]) -> [[ADStructure]] {
    var runs: [[ADStructure]] = []
    for structure in structures {
      let kind = kind(of: structure)
      if let last = runs.last?.last, Self.kind(of: last) == kind, [.services, .serviceData, .other].contains(kind) {
        runs[runs.count - 1].append(structure)
      } else {
        runs.append([structure])
      }
    }
    return runs
  }

  private static func field(of run: [ADStructure]) -> (name: String, value: JSONText) {
    let data = run[0].data
    let text = String(decoding: data, as: UTF8.self)
    switch kind(of: run[0]) {
    case .single(.flags): return ("flags", .integer(Int(data[0])))
    case .single(.txPowerLevel): return ("transmitPower", .integer(Int(Int8(bitPattern: data[0]))))
    case .single(.appearance): return ("appearance", .integer(Int(data[0]) | Int(data[1]) << 8))
    case .single(.completeLocalName): return ("name", .text(text))
    case .single(.shortenedLocalName): return ("shortenedName", .text(text))
    case .single:
      let company = Int(data[0]) | Int(data[1]) << 8
      return ("manufacturerData", .object([("company", .integer(company))] + dataField(data.dropFirst(2))))
    case .services:
      let uuids = run.flatMap { structure in
        AdvertisingData(ByteSlice(structure.octets)).flatMap { $0.services.map(Array.init) ?? [] }
      }
      guard !uuids.isEmpty, ADStructure.serviceLists(uuids) == run else { return other(run) }
      return ("services", .list(uuids.map { .text("\($0)") }))
    case .serviceData:
      let entries = run.compactMap { structure in
        AdvertisingData(ByteSlice(structure.octets)).first { _ in true }?.serviceData
      }
      let again = entries.map { ADStructure.serviceData(of: $0.service, $0.data.bytes) }
      guard again == run else { return other(run) }
      return (
        "serviceData",
        .list(entries.map { .object([("uuid", .text("\($0.service)"))] + dataField($0.data.bytes[...])) })
      )
    case .other: return other(run)
    }
  }

  private static func other(_ structures: [ADStructure]) -> (name: String, value: JSONText) {
    (
      "structures",
      .list(structures.map { .object([("type", .integer(Int($0.type.rawValue)))] + dataField($0.data[...])) })
    )
  }

  private static func dataField(_ octets: ArraySlice<UInt8>) -> [(String, JSONText)] {
    octets.isEmpty ? [] : [("data", .text(octets.digits))]
  }
}
