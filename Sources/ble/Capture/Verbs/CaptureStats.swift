import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothTypes
import BluetoothWire
import Foundation

extension CaptureCommand {
  struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Counts packets, octets and losses, and describes the connections."
    )
    .examples("ble capture stats room.pcapng --interface air", "ble capture stats room.pcapng --plot room.svg")

    @Argument(
      help: ArgumentHelp("The capture; - is the standard input.", valueName: "file"), completion: .file())
    var file: String
    @Option(
      help: ArgumentHelp(
        "Draws the packets by channel, the throughput and the signal strength over time.", valueName: "file.svg"),
      completion: .file())
    var plot: String?
    @OptionGroup var filter: PacketFilterOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { try OutputOptions.requireName(plot, of: "--plot") }

    func run() throws {
      if let plot, OutputFile.isSame(file, plot) {
        throw Failure("\(plot) is the capture that is read; choose another name", status: ExitStatus.usage)
      }
      let report = try Interrupt.endsProgram { try CaptureReport(file, PacketFilter(filter), plots: plot != nil) }
      if let plot { try report.plot?.write(to: OutputFile(plot), title: (file as NSString).lastPathComponent) }
      try put(output.json ? report.records.map { $0.line + "\n" }.joined() : report.text(output.style))
      report.dissector.complainOfNotes()
      if report.statistics.omittedConnections > 0 {
        complain("note: \(report.statistics.omittedConnections) further connections are not described")
      }
      if let cut = report.cut { throw cut }
      try report.dissector.checkReadable(file)
    }
  }
}

/// The statistics of a capture, and the data of its picture.
struct CaptureReport {
  let path: String
  let format: CaptureDecoder.Format?
  let statistics: CaptureStatistics
  /// nil: it was not requested. It holds a part of each packet.
  let plot: CapturePlot?
  /// The reader of the packets, with its notes.
  let dissector: Dissector
  /// The failure of a capture that ends within a packet; nil: it is complete.
  let cut: Failure?

  /// Reads the packets of a capture that pass a filter.
  ///
  /// - Parameter plots: true to collect the data of the picture.
  init(_ path: String, _ filter: PacketFilter, plots: Bool = false) throws {
    let input = try CaptureInput(path: path)
    input.showProgress()
    var dissector = Dissector()
    var statistics = CaptureStatistics()
    var plot = plots ? CapturePlot() : nil
    while let element = try input.next() {
      switch element {
      case .interface(let interface): statistics.add(interface)
      case .dropped(let interface, let count): statistics.set(dropped: count, on: interface)
      case .unread(let kind): dissector.add(unread: kind)
      case .packet(let packet):
        let description = dissector.describe(packet)
        guard filter.admits(description) else { continue }
        let fate = statistics.add(packet, description)
        plot?.add(description, fate)
      }
    }
    plot?.failedLinks = statistics.failedLinks
    plot?.names = statistics.names
    try input.check(interfaces: filter.interfaces)
    guard statistics.packets > 0 else {
      dissector.complainOfNotes()
      throw input.cut ?? Failure("\(path): no packets", status: ExitStatus.notFound)
    }
    (self.path, format, self.statistics, self.plot) = (path, input.format, statistics, plot)
    self.dissector = dissector
    cut = input.cut
  }

  private var start: Double { Double(statistics.start ?? 0) / 1e9 }
  private var end: Double { Double(statistics.end) / 1e9 }

  /// The interfaces that have packets.
  private var used: [CaptureStatistics.Interface] {
    statistics.interfaces.filter { $0.packets > 0 || $0.dropped > 0 }
  }

  // MARK: Text

  func text(_ style: Style) -> String {
    var parts = [
      "\(path.printable): \(format?.rawValue ?? ""), \(statistics.packets) packets, \(statistics.octets) octets, "
        + "\((end - start).fixed(3)) s from \(start.fixed(6)) to \(end.fixed(6))"
    ]
    var interfaces = TextTable(["interface", "packets", "octets", "not captured"])
    for entry in used {
      interfaces.add([entry.interface.title, "\(entry.packets)", "\(entry.octets)", "\(entry.dropped)"])
    }
    parts.append(interfaces.text)
    if !statistics.channels.isEmpty {
      var table = TextTable(["channel", "advertising", "data", "octets", "air time", "retransmitted", "lost"])
      for (number, channel) in statistics.channels.sorted(by: { $0.key < $1.key }) {
        table.add([
          "\(number)", "\(channel.advertising)", "\(channel.data)", "\(channel.octets)",
          (Double(channel.airTime) / 1e6).fixed(3) + " ms", "\(channel.retransmissions)", "\(channel.lost)",
        ])
      }
      parts.append(table.text)
    }
    let attempts = statistics.attempts.filter { $0.failed > 0 }
    if !attempts.isEmpty {
      var table = TextTable(["attempts that failed", "of", "request not received", "no answer", "devices"])
      for pair in attempts {
        table.add([
          "\(pair.failed)", "\(pair.count)", "\(pair.lostRequests)", "\(pair.unanswered)", devices(pair.addresses),
        ])
      }
      parts.append(table.text)
    }
    for connection in statistics.connections { parts.append(lines(connection).joined(separator: "\n")) }
    var sections = parts[0] + "\n"
    for part in parts.dropFirst() { sections += "\n" + part + "\n" }
    return sections
  }

  /// Returns the names of devices with their addresses, or only the addresses: "phone (C0:…) → strap (D8:…)".
  private func devices(_ addresses: [DeviceAddress]) -> String {
    addresses.map { address in
      statistics.names[address].map { "\($0.printable) (\(address.digits))" } ?? "\(address)"
    }.joined(separator: " → ")
  }

  private func lines(_ connection: CaptureStatistics.Connection) -> [String] {
    let isAir = connection.interface.link.isAir
    let number = isAir ? connection.number.hexadecimal : UInt16(truncatingIfNeeded: connection.number).hexadecimal
    let devices = devices(connection.addresses)
    var lines = [
      "connection 0x\(number) of \(connection.interface.title.printable)" + (devices.isEmpty ? "" : ": \(devices)")
    ]
    let from = (Double(connection.start) / 1e9).fixed(6)
    let to = (Double(connection.end) / 1e9).fixed(6)
    lines.append(
      "  \(connection.duration.fixed(3)) s from \(from) to \(to)"
        + (connection.endReason.map { ", ended: \(SpecificationNames.title(of: $0))" } ?? ""))
    var parameters: [String] = []
    if !connection.intervals.isEmpty {
      parameters.append("interval " + connection.intervals.map(\.intervalText).joined(separator: ", then "))
    }
    if let latency = connection.latency { parameters.append("latency \(latency)") }
    if let timeout = connection.timeout { parameters.append("timeout \(timeout.timeoutText)") }
    if !connection.phys.isEmpty { parameters.append(connection.phys.joined(separator: ", then ")) }
    if connection.isEncrypted { parameters.append("encrypted") }
    if !parameters.isEmpty { lines.append("  " + parameters.joined(separator: ", ")) }
    if isAir {
      lines.append(
        "  \(connection.events) connection events, \(connection.skipped) skipped, \(connection.unanswered) unanswered")
    }
    let ways =
      isAir
      ? [("to peripheral", connection.toPeripheral), ("to central", connection.toCentral)]
      : [("to controller", connection.toPeripheral), ("to host", connection.toCentral)]
    for (name, way) in ways {
      var line = "  \(name): \(way.packets) packets, \(way.octets) octets"
      if isAir { line += ", \(way.retransmissions) retransmitted, \(way.lost) lost" }
      lines.append(line + ", \(Int(connection.throughput(way).rounded())) bit/s")
    }
    return lines
  }

  // MARK: Records

  var records: [JSONRecord] {
    var summary = JSONRecord("capture")
    summary.add("file", path)
    summary.add("format", format?.rawValue)
    summary.add("packets", statistics.packets)
    summary.add("octets", statistics.octets)
    summary.add("start", .decimal(start, places: 9))
    summary.add("end", .decimal(end, places: 9))
    let interfaces = used.map { entry in
      var record = JSONRecord("captureInterface")
      record.add("interface", entry.interface.title)
      record.add("transport", entry.interface.link.text)
      record.add("packets", entry.packets)
      record.add("octets", entry.octets)
      record.add("notCaptured", Int(clamping: entry.dropped))
      return record
    }
    let channels = statistics.channels.sorted { $0.key < $1.key }.map { number, channel in
      var record = JSONRecord("captureChannel")
      record.add("channel", Int(number))
      record.add("advertisingPackets", channel.advertising)
      record.add("dataPackets", channel.data)
      record.add("octets", channel.octets)
      record.add("airTime", .decimal(Double(channel.airTime) / 1e9, places: 9))
      record.add("retransmissions", channel.retransmissions)
      record.add("lost", channel.lost)
      return record
    }
    let attempts = statistics.attempts.map { pair in
      var record = JSONRecord("captureAttempts")
      record.add("interface", pair.interface.title)
      record.add("addresses", .list(pair.addresses.map { .text($0.digits) }))
      record.add("names", names(pair.addresses))
      record.add("attempts", pair.count)
      record.add("lostRequests", pair.lostRequests)
      record.add("unanswered", pair.unanswered)
      return record
    }
    return [summary] + interfaces + channels + attempts + statistics.connections.map { record($0) }
  }

  private func names(_ addresses: [DeviceAddress]) -> JSONText? {
    statistics.names(of: addresses).map { .list($0.map { .text($0) }) }
  }

  private func record(_ connection: CaptureStatistics.Connection) -> JSONRecord {
    let isAir = connection.interface.link.isAir
    func way(_ direction: CaptureStatistics.Direction) -> JSONText {
      var fields: [(String, JSONText)] = [
        ("packets", .integer(direction.packets)), ("octets", .integer(direction.octets)),
        ("throughput", .decimal(connection.throughput(direction), places: 1)),
      ]
      if isAir {
        fields += [
          ("retransmissions", .integer(direction.retransmissions)), ("lost", .integer(direction.lost)),
        ]
      }
      return .object(fields)
    }
    var record = JSONRecord("captureConnection")
    record.add("interface", connection.interface.title)
    record.add(
      "connection",
      "0x" + (isAir ? connection.number.hexadecimal : UInt16(truncatingIfNeeded: connection.number).hexadecimal))
    record.add("addresses", .list(connection.addresses.map { .text($0.digits) }))
    record.add("names", names(connection.addresses))
    record.add("start", .decimal(Double(connection.start) / 1e9, places: 9))
    record.add("end", .decimal(Double(connection.end) / 1e9, places: 9))
    record.add("endReason", connection.endReason.map { Int($0.rawValue) })
    record.add("intervals", .list(connection.intervals.map { .decimal(Double($0) * 0.00125, places: 5) }))
    record.add("latency", connection.latency.map { Int($0) })
    record.add("timeout", connection.timeout.map { .decimal(Double($0) / 100, places: 2) })
    record.add("phys", connection.phys.isEmpty ? nil : .list(connection.phys.map { .text($0) }))
    record.add("encrypted", .flag(connection.isEncrypted))
    if isAir {
      record.add("events", connection.events)
      record.add("skipped", connection.skipped)
      record.add("unanswered", connection.unanswered)
    }
    record.add(isAir ? "toPeripheral" : "toController", way(connection.toPeripheral))
    record.add(isAir ? "toCentral" : "toHost", way(connection.toCentral))
    return record
  }
}
