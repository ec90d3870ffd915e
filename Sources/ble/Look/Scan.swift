import ArgumentParser
import BeaconLocation
import BluetoothAir
import BluetoothDissection
import BluetoothNumbers
import BluetoothTypes
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

/// The verb that shows advertisers.
struct Scan: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the devices that advertise nearby.",
    discussion: """
      On a terminal, a table of the devices is kept up to date, the strongest first. In a pipe or with NO_COLOR, each \
      received packet is a line of fields separated by tabs: seconds, address, type of packet, signal strength, name, \
      services, company, estimated distance. A name or a service is shown as soon as a packet has told it. Beside BlueZ, \
      a line is the merged data of a device instead, without a type of packet.
      """
  )
  .examples("ble scan --world gym --for 5", "ble scan --service heart-rate --rssi -70 --json")

  enum Mode: String, EnumerableFlag, Sendable {
    case active, passive

    static func help(for mode: Mode) -> ArgumentHelp? {
      mode == .active
        ? "Asks scannable devices for their scan responses." : "Only listens: transmits nothing."
    }
  }

  @Option(help: ArgumentHelp("Shows only devices with this text in their name.", valueName: "text"))
  var name: String?

  @Option(
    help: ArgumentHelp(
      "Shows only devices that advertise this service, a UUID or a name; several times: one of them.",
      valueName: "service"))
  var service: [String] = []

  @Option(
    help: ArgumentHelp(
      "Shows only devices with data of this company, a number or a part of its name.", valueName: "company"))
  var company: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Shows only devices with at least this smoothed signal strength.", valueName: "dBm"))
  var rssi: Int?

  @OptionGroup var duration: DurationOption

  @Option(parsing: .unconditional, help: "Ends after this number of packets.")
  var count: Int?

  @Flag(exclusivity: .exclusive)
  var mode = Mode.active

  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be at least 1, not \(count)") }
    if count == nil { try duration.requireEnd(adapter, or: "--count") }
  }

  func run() throws {
    let filter = ScanFilter(
      name: name, services: try service.map { try KnownNames.service($0) },
      companies: try company.map { try KnownNames.companies($0) }, rssi: rssi)
    try Stage(adapter).run(isEndless: duration.seconds == nil && count == nil) { try await scan($0, filter) }
  }

  private func scan(_ stage: Stage, _ filter: ScanFilter) async throws {
    guard !stage.isOfBlueZ || mode == .active else {
      throw Failure("BlueZ has no passive scan for all devices: leave --passive out", status: ExitStatus.noAdapter)
    }
    let central = try await stage.makeCentral()
    let log = NIOLockedValueBox(SightingLog(filter: filter, model: stage.distanceModel, start: stage.now))
    let isLive = Screen.isLive && stage.isReal && !output.json
    do {
      let isComplete = try await duration.run(on: stage) { try await receive(from: central, stage, log, isLive) }
      if !isComplete { try check(log.withLockedValue { $0.shown }) }
    } catch let error as CBError {
      throw Failure("the scan has ended: \(error.localizedDescription.endless)", status: ExitStatus.noAdapter)
    }
    central.close()
  }

  /// Throws if the scan has ended before it has shown as many packets as it should.
  private func check(_ shown: Int) throws {
    guard let count, shown < count, let seconds = duration.seconds else { return }
    throw Failure(
      "\(shown == 1 ? "1 packet" : "\(shown) packets") of \(count) within \(seconds.short) s",
      status: shown == 0 ? ExitStatus.notFound : ExitStatus.timeLimit)
  }

  private func receive(
    from central: Central, _ stage: Stage, _ log: NIOLockedValueBox<SightingLog>, _ isLive: Bool
  ) async throws {
    guard isLive else { return try await print(central, stage, log) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await print(central, stage, log, isSilent: true) }
      group.addTask {
        var picture = LivePicture()
        defer { picture.end() }
        var isRunning = true
        while isRunning {
          do { try await stage.sleep(0.25) } catch { isRunning = false }
          let (now, columns) = (stage.now, Screen.size.columns - 1)
          let (lines, count) = log.withLockedValue { log in
            (log.table(at: now, columns: columns, style: output.style), log.summary(at: now))
          }
          if isRunning {
            try picture.show(lines, footer: output.style.dim("\(count); Ctrl-C ends the scan"))
          } else {
            // Lines above the terminal can be scrolled to, so that the last table is complete.
            try picture.finish(lines + [output.style.dim(count)])
          }
        }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Receives packets until enough were shown. Prints them unless a table shows them.
  private func print(
    _ central: Central, _ stage: Stage, _ log: NIOLockedValueBox<SightingLog>, isSilent: Bool = false
  ) async throws {
    func show(_ sighting: AdvertiserReport) throws -> Bool {
      guard let (device, time, shown) = log.withLockedValue({ $0.add(sighting, at: stage.now) }) else { return false }
      if !isSilent {
        let model = stage.distanceModel
        try put((output.json ? record(sighting, device, time, model).line : line(sighting, device, time, model)) + "\n")
      }
      return shown == count
    }
    if stage.isOfBlueZ {
      for try await discovery in central.scan(allowsDuplicates: true) {
        if let sighting = AdvertiserReport(discovery), try show(sighting) { return }
      }
    } else {
      for try await packet in central.packets(isActive: mode == .active) where try show(AdvertiserReport(packet)) {
        return
      }
    }
  }

  // MARK: Text

  private func line(
    _ sighting: AdvertiserReport, _ device: SightedDevice, _ time: Duration, _ model: DistanceModel
  ) -> String {
    let fields = [
      time.seconds.fixed(3), device.address.digits, sighting.packet?.pduType.rawValue ?? "-",
      sighting.rssi.map { "\($0) dBm" } ?? "-", device.name ?? "-",
      device.services.isEmpty ? "-" : device.serviceNames.joined(separator: ", "), device.companyText ?? "-",
      device.distanceText(model) ?? "-",
    ]
    return fields.map(\.printable).joined(separator: "\t")
  }

  private func record(
    _ sighting: AdvertiserReport, _ device: SightedDevice, _ time: Duration, _ model: DistanceModel
  ) -> JSONRecord {
    let distance = device.distance(model)
    var record = JSONRecord("sighting")
    record.add("time", .decimal(time.seconds, places: 6))
    record.add("date", sighting.date)
    record.add("address", device.address.digits)
    record.add("addressKind", device.address.kind == .public ? "public" : "random")
    record.add("identifier", device.peripheral.id.uuidString)
    record.add("pdu", sighting.packet?.pduType.rawValue)
    record.add("connectable", device.isConnectable.map { .flag($0) })
    record.add("rssi", sighting.rssi)
    record.add("smoothedRSSI", device.level.map { .decimal($0, places: 1) })
    record.add("name", device.name)
    record.add("services", .list(device.services.map { .text("\($0)") }))
    record.add("serviceNames", .list(device.serviceNames.map { .text($0) }))
    record.add("company", device.company.map { Int($0) })
    record.add("companyName", device.company.flatMap { AssignedNumbers.companyName($0) })
    record.add("manufacturerData", device.manufacturerData)
    record.add("serviceData", device.serviceData)
    record.add("txPower", device.fields.txPowerLevel.map { Int($0) } ?? sighting.packet?.txPower)
    record.add("distance", distance.map { .decimal($0.estimate.metres, places: 2) })
    record.add(
      "distanceInterval",
      distance.map { distance in
        let interval = distance.estimate.interval
        return .list([interval.lowerBound, interval.upperBound].map { .decimal($0, places: 2) })
      })
    record.add("distanceBasis", distance?.basis.rawValue)
    record.add("ibeacon", sighting.ibeacon?.json)
    record.add("eddystone", sighting.eddystone.map(\.json))
    record.add("data", sighting.packet.map { "0x" + $0.data.digits })
    return record
  }
}

/// The packets that a scan has received.
struct SightingLog: Sendable {
  let filter: ScanFilter
  let model: DistanceModel
  let start: Duration
  private var devices: [DeviceAddress: SightedDevice] = [:]
  /// The number of packets that the filter has admitted.
  private(set) var shown = 0

  init(filter: ScanFilter, model: DistanceModel, start: Duration) {
    self.filter = filter
    self.model = model
    self.start = start
  }

  /// Adds a report. Returns its device, its time since the beginning and the number of reports shown so far; nil: the
  /// filter does not admit the device.
  mutating func add(_ sighting: AdvertiserReport, at now: Duration) -> (SightedDevice, Duration, Int)? {
    var device = devices[sighting.address] ?? SightedDevice(sighting)
    device.add(sighting, at: now - start)
    devices[sighting.address] = device
    guard filter.admits(device) else { return nil }
    shown += 1
    return (device, now - start, shown)
  }

  /// The devices that the filter admits.
  private var admitted: [SightedDevice] { devices.values.filter { filter.admits($0) } }

  /// The number of devices and the time of the scan: "8 devices in 6 s".
  func summary(at now: Duration) -> String {
    let count = admitted.count
    return "\(count == 1 ? "1 device" : "\(count) devices") in \(Int((now - start).seconds)) s"
  }

  /// The titles of the columns of the live table.
  private static let titles = ["RSSI", "distance", "seen", "address", "name", "services", "company"]

  /// The least widths of the columns for the name, the services and the company, in the order in which the table is
  /// narrowed.
  private static let steps = [[4: 12, 5: 12], [6: 12], [4: 8, 5: 8], [6: 8], [4: 4, 5: 4], [6: 4]]

  /// Returns the lines of the live table, the strongest device first.
  ///
  /// - Parameter columns: the number of columns of the terminal for a line.
  func table(at now: Duration, columns: Int, style: Style) -> [String] {
    let shown = admitted.sorted { one, other in
      let levels = (one.level?.rounded() ?? -200, other.level?.rounded() ?? -200)
      return levels.0 == levels.1 ? one.address.digits < other.address.digits : levels.0 > levels.1
    }
    var table = TextTable(Self.titles)
    for device in shown {
      let age = (now - start - device.lastSeen).seconds
      table.add([
        device.level.map { "\(Int($0.rounded())) dBm" } ?? "-", device.distanceText(model) ?? "-",
        age < 2 ? "now" : "\(Int(age)) s ago", device.address.digits, device.name?.shortened(to: 24) ?? "-",
        device.services.isEmpty ? "-" : device.serviceNames.joined(separator: ", ").shortened(to: 32),
        device.companyText ?? "-",
      ])
    }
    var lines = table.lines(fitting: columns, narrowing: Self.steps)
    lines[0] = style.bold(lines[0])
    return lines
  }
}

extension Duration {
  /// The duration in seconds.
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
