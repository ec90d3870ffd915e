import BluetoothAir
import BluetoothLab
import Foundation

/// The results of one run of a world. The fields are those of the records in `Documentation/Ble-reference.md`.
struct SimulationResult: Sendable {
  /// The sums over all devices.
  struct Summary: Codable, Hashable, Sendable {
    var seed: UInt64
    /// Seconds.
    var duration: Double
    var devices: Int
    /// The connections that the clients have established, and those that have ended.
    var connections: Int
    var disconnections: Int
    /// The attempts to connect that failed; nil: a former version of the program has not written it.
    var failedAttempts: Int?
    /// The number of links that have a record; nil: a former version of the program has not written it.
    var links: Int?
    /// The values that the clients have received by notifications and indications.
    var receivedValues: Int
    var packets: Int
    var crcErrors: Int
    var missedPackets: Int
    var retransmissions: Int
    /// The octets of all links, in both directions.
    var octets: Int
    /// Bits per second of the simulated time.
    var throughput: Double
    /// The behaviour of the clients; nil: a former version of the program has not written it.
    var clients: String?
    /// The seeds of the whole sweep to which the run belongs, as an argument; nil: the run is alone.
    var sweep: String?
    /// The shard of the sweep to which the run belongs, as an argument; nil: the sweep is not divided.
    var shard: String?
  }

  struct Device: Codable, Hashable, Sendable {
    var seed: UInt64
    var device: String
    var sent: Int
    var received: Int
    var crcErrors: Int
    var missedPackets: Int
    /// Seconds.
    var transmitting: Double
    var receiving: Double
    /// Milliamperes.
    var averageCurrent: Double
    var peakCurrent: Double
    /// The shares of the charge, 0 to 1.
    var advertisingShare: Double
    var scanningShare: Double
    var connectionShare: Double
    /// Days; nil: without limit.
    var batteryLife: Double?
    var warning: String?
  }

  /// The attempts of a central to connect to a peripheral.
  struct Attempts: Codable, Hashable, Sendable {
    var seed: UInt64
    var central: String
    var peripheral: String
    /// The connection requests that the central has sent.
    var attempts: Int
    /// The attempts that failed because the peripheral did not receive the request.
    var lostRequests: Int
    /// The other attempts that failed: the central received no packet of the peripheral.
    var unanswered: Int
  }

  struct Link: Codable, Hashable, Sendable {
    struct Direction: Codable, Hashable, Sendable {
      var packets: Int
      var octets: Int
      /// Bits per second from the first packet to the last.
      var throughput: Double
      var retransmissions: Int
    }

    var seed: UInt64
    var central: String
    var peripheral: String
    var connected: Bool
    /// Seconds from the first packet to the last.
    var duration: Double
    var toPeripheral: Direction
    var toCentral: Direction
    var crcErrors: Int
    /// The connection events in which the central used its radio, and those that it missed.
    var events: Int
    var missedEvents: Int
    /// The mean level of the packets from the peripheral, in dBm.
    var rssi: Double?
  }

  var summary: Summary
  var devices: [Device] = []
  var attempts: [Attempts] = []
  var links: [Link] = []

  init(_ summary: Summary) { self.summary = summary }

  init(seed: UInt64, statistics: WorldStatistics, phones: [SimulatedPhone]) {
    let energies = statistics.energy()
    for (device, energy) in zip(statistics.devices, energies) {
      devices.append(Device(seed, device, energy))
      attempts += device.attempts.map { pair in
        Attempts(
          seed: seed, central: device.name, peripheral: pair.peer, attempts: pair.count,
          lostRequests: pair.lostRequests, unanswered: pair.unanswered)
      }
      for link in device.links where link.isCentral {
        // The peripheral counts what it has retransmitted.
        let other = statistics.devices.lazy.flatMap(\.links).first { $0.number == link.number && !$0.isCentral }
        links.append(Link(seed, device.name, link, other))
      }
    }
    let octets = links.reduce(0) { $0 + $1.toPeripheral.octets + $1.toCentral.octets }
    let duration = statistics.time.seconds.rounded(places: 9)
    summary = Summary(
      seed: seed, duration: duration, devices: devices.count, connections: phones.reduce(0) { $0 + $1.connections },
      disconnections: phones.reduce(0) { $0 + $1.disconnections },
      failedAttempts: statistics.devices.reduce(0) { $0 + $1.failedAttempts }, links: links.count,
      receivedValues: phones.reduce(0) { $0 + $1.values },
      packets: devices.reduce(0) { $0 + $1.sent }, crcErrors: devices.reduce(0) { $0 + $1.crcErrors },
      missedPackets: devices.reduce(0) { $0 + $1.missedPackets },
      retransmissions: links.reduce(0) { $0 + $1.toPeripheral.retransmissions + $1.toCentral.retransmissions },
      octets: octets, throughput: duration > 0 ? (Double(8 * octets) / duration).rounded(places: 3) : 0)
  }
}

extension SimulationResult.Device {
  fileprivate init(_ seed: UInt64, _ device: DeviceStatistics, _ energy: EnergyReport) {
    let life = energy.batteryLifeInDays
    self.init(
      seed: seed, device: device.name, sent: device.transmitted.packets, received: device.receivedPackets,
      crcErrors: device.crcErrors, missedPackets: device.missedPackets,
      transmitting: device.transmitting.seconds.rounded(places: 9),
      receiving: device.receiving.seconds.rounded(places: 9),
      averageCurrent: energy.averageMilliamperes.rounded(places: 6),
      peakCurrent: energy.peakMilliamperes.rounded(places: 3),
      advertisingShare: energy.share(of: .advertising).rounded(places: 4),
      scanningShare: energy.share(of: .scanning).rounded(places: 4),
      connectionShare: energy.share(of: .connections).rounded(places: 4),
      batteryLife: life.isFinite ? life.rounded(places: 2) : nil, warning: energy.warning)
  }
}

extension SimulationResult.Link {
  fileprivate init(_ seed: UInt64, _ central: String, _ link: LinkStatistics, _ other: LinkStatistics?) {
    self.init(
      seed: seed, central: central, peripheral: link.peer, connected: link.isConnected,
      duration: link.time.seconds.rounded(places: 9),
      toPeripheral: Direction(
        packets: link.sent.packets, octets: link.sent.octets, throughput: link.throughputSent.rounded(places: 3),
        retransmissions: link.retransmissions),
      toCentral: Direction(
        packets: link.received.packets, octets: link.received.octets,
        throughput: link.throughputReceived.rounded(places: 3),
        retransmissions: other?.retransmissions ?? 0), crcErrors: link.crcErrors + (other?.crcErrors ?? 0),
      events: link.attendedEvents, missedEvents: link.missedEvents, rssi: link.meanRSSI?.rounded(places: 2))
  }
}

extension Double {
  /// The nearest number with this number of decimals. Results have the precision of their records, so that joined
  /// records give what the runs themselves give.
  fileprivate func rounded(places: Int) -> Double {
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    return (self * scale).rounded() / scale
  }
}

// MARK: Records

extension SimulationResult {
  /// The result as records: the summary, then devices, attempts to connect and links.
  var records: [JSONRecord] {
    [summary.record] + devices.map(\.record) + attempts.map(\.record) + links.map(\.record)
  }
}

extension SimulationResult.Summary {
  fileprivate var record: JSONRecord {
    var record = JSONRecord("simulation")
    record.add("seed", .number("\(seed)"))
    record.add("duration", .decimal(duration, places: 9))
    record.add("devices", devices)
    record.add("connections", connections)
    record.add("disconnections", disconnections)
    record.add("failedAttempts", failedAttempts)
    record.add("links", links)
    record.add("receivedValues", receivedValues)
    record.add("packets", packets)
    record.add("crcErrors", crcErrors)
    record.add("missedPackets", missedPackets)
    record.add("retransmissions", retransmissions)
    record.add("octets", octets)
    record.add("throughput", .decimal(throughput, places: 3))
    record.add("clients", clients)
    record.add("sweep", sweep)
    record.add("shard", shard)
    return record
  }
}

extension SimulationResult.Device {
  fileprivate var record: JSONRecord {
    var record = JSONRecord("simulatedDevice")
    record.add("seed", .number("\(seed)"))
    record.add("device", device)
    record.add("sent", sent)
    record.add("received", received)
    record.add("crcErrors", crcErrors)
    record.add("missedPackets", missedPackets)
    record.add("transmitting", .decimal(transmitting, places: 9))
    record.add("receiving", .decimal(receiving, places: 9))
    record.add("averageCurrent", .decimal(averageCurrent, places: 6))
    record.add("peakCurrent", .decimal(peakCurrent, places: 3))
    record.add("advertisingShare", .decimal(advertisingShare, places: 4))
    record.add("scanningShare", .decimal(scanningShare, places: 4))
    record.add("connectionShare", .decimal(connectionShare, places: 4))
    record.add("batteryLife", batteryLife.map { .decimal($0, places: 2) })
    record.add("warning", warning)
    return record
  }
}

extension SimulationResult.Attempts {
  fileprivate var record: JSONRecord {
    var record = JSONRecord("simulatedAttempts")
    record.add("seed", .number("\(seed)"))
    record.add("central", central)
    record.add("peripheral", peripheral)
    record.add("attempts", attempts)
    record.add("lostRequests", lostRequests)
    record.add("unanswered", unanswered)
    return record
  }
}

extension SimulationResult.Link {
  fileprivate var record: JSONRecord {
    func way(_ direction: Direction) -> JSONText {
      .object([
        ("packets", .integer(direction.packets)), ("octets", .integer(direction.octets)),
        ("throughput", .decimal(direction.throughput, places: 3)),
        ("retransmissions", .integer(direction.retransmissions)),
      ])
    }
    var record = JSONRecord("simulatedLink")
    record.add("seed", .number("\(seed)"))
    record.add("central", central)
    record.add("peripheral", peripheral)
    record.add("connected", .flag(connected))
    record.add("duration", .decimal(duration, places: 9))
    record.add("toPeripheral", way(toPeripheral))
    record.add("toCentral", way(toCentral))
    record.add("crcErrors", crcErrors)
    record.add("events", events)
    record.add("missedEvents", missedEvents)
    record.add("rssi", rssi.map { .decimal($0, places: 2) })
    return record
  }
}

/// The fields that every record has.
private struct RecordHead: Decodable {
  let version: Int
  let record: String
}

extension SimulationResult {
  /// Reads the results of a text with one record on each line.
  ///
  /// - Parameter name: the name of the text in messages.
  /// - Throws: `Failure` with the line that is no record of a simulation.
  static func read(_ text: some StringProtocol, named name: String) throws -> [SimulationResult] {
    let decoder = JSONDecoder()
    var results: [SimulationResult] = []
    // A line may end with CR and LF, which are one `Character`, but two octets.
    let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
      .map { $0.last == 0x0D ? $0.dropLast() : $0 }
    for (index, line) in lines.enumerated() where !line.isEmpty {
      func fail(_ reason: String) -> Failure {
        Failure("\(name):\(index + 1): \(reason)", status: ExitStatus.ambiguous)
      }
      let data = Data(line)
      do {
        let head = try decoder.decode(RecordHead.self, from: data)
        guard head.version == JSONRecord.version else { throw fail("version \(head.version) is not known") }
        switch head.record {
        case "simulation": results.append(SimulationResult(try decoder.decode(Summary.self, from: data)))
        case "simulatedDevice":
          let device = try decoder.decode(Device.self, from: data)
          guard results.last?.summary.seed == device.seed else { throw fail("a device before the record of its run") }
          results[results.count - 1].devices.append(device)
        case "simulatedAttempts":
          let attempts = try decoder.decode(Attempts.self, from: data)
          guard results.last?.summary.seed == attempts.seed else {
            throw fail("attempts before the record of their run")
          }
          results[results.count - 1].attempts.append(attempts)
        case "simulatedLink":
          let link = try decoder.decode(Link.self, from: data)
          guard results.last?.summary.seed == link.seed else { throw fail("a link before the record of its run") }
          results[results.count - 1].links.append(link)
        default: throw fail("expected a record of ble simulate, not \"\(head.record)\"")
        }
      } catch let error as DecodingError {
        throw fail("expected a record of ble simulate\(error.field)")
      }
    }
    for result in results {
      let summary = result.summary
      guard result.devices.count == summary.devices, Set(result.devices.map(\.device)).count == summary.devices else {
        throw Failure(
          "\(name): the run with seed \(summary.seed) has \(result.devices.count) of \(summary.devices) devices",
          status: ExitStatus.ambiguous)
      }
      let links = result.links
      // Numbers of a file may be of any size.
      let octets = links.reduce(0) { $0 &+ $1.toPeripheral.octets &+ $1.toCentral.octets }
      guard links.count == summary.links ?? links.count, octets == summary.octets else {
        throw Failure(
          "\(name): the run with seed \(summary.seed) has \(links.count) links of \(octets) octets; expected "
            + (summary.links.map { "\($0) links of " } ?? "") + "\(summary.octets) octets",
          status: ExitStatus.ambiguous)
      }
    }
    return results
  }
}

extension DecodingError {
  /// The field that is missing or wrong, as words that continue a message.
  fileprivate var field: String {
    switch self {
    case .keyNotFound(let key, _): ": the field \"\(key.stringValue)\" is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      context.codingPath.last.map { ": the field \"\($0.stringValue)\" is wrong" } ?? ""
    default: ": this is no JSON object"
    }
  }
}
