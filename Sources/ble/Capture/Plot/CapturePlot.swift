import BluetoothDissection
import BluetoothTypes
import BluetoothWire
import Foundation

/// The packets of a capture as a picture: by channel, as throughput, and as signal strength over time.
struct CapturePlot {
  private enum Series: Hashable {
    /// A connection, by its number in the capture.
    case connection(Int)
    case advertiser(DeviceAddress)
  }

  private struct Packet {
    /// Seconds.
    let time: Double
    let channel: UInt8?
    let series: Series
    let octets: Int
    let level: Int?
    let isLost: Bool
    let isSkipped: Bool
    let isConnection: Bool
  }

  private var packets: [Packet] = []
  private var counts: [Series: Int] = [:]
  /// The connections in words, for titles, and the addresses of their devices.
  private var connections: [Series: (text: String, addresses: [DeviceAddress])] = [:]
  /// The numbers of the links that were not established: attempts to connect, of which the packets count as lost.
  var failedLinks: Set<Int> = []
  /// The names of devices, by their addresses.
  var names: [DeviceAddress: String] = [:]

  /// The largest number of connections, and of advertisers, that are drawn with pens of their own.
  private static let limit = 6

  /// Adds a packet.
  ///
  /// - Parameter fate: the result of its transmission.
  mutating func add(_ packet: PacketDescription, _ fate: CaptureStatistics.Fate) {
    let isAdvertising = packet.content == .advertising
    let series: Series
    if isAdvertising {
      guard let address = packet.addresses.first, packet.name.hasPrefix("ADV") || packet.name.hasPrefix("AUX") else {
        return
      }
      series = .advertiser(address)
    } else {
      guard let link = packet.link, packet.content != .command, packet.content != .event else { return }
      series = .connection(link)
      if connections[series] == nil {
        connections[series] = ("\(packet.interface.title) \(packet.connectionText ?? "")", packet.addresses)
      }
    }
    counts[series, default: 0] += 1
    packets.append(
      Packet(
        time: Double(packet.time) / 1e9, channel: packet.channel, series: series,
        octets: packet.isRetransmission || packet.content == .ll || isAdvertising ? 0 : packet.payloadLength,
        level: packet.level, isLost: fate == .lost || packet.repeatsData && fate != .skipped,
        isSkipped: fate == .skipped, isConnection: !isAdvertising))
  }

  /// The title of a series: the names of its devices if the capture tells them, or their addresses.
  private func title(_ series: Series) -> String {
    switch series {
    case .advertiser(let address): return names[address] ?? address.digits
    case .connection:
      guard let (text, addresses) = connections[series] else { return "" }
      if let pair = pair(addresses) {
        // The access address distinguishes several connections of two devices.
        let same = connections.filter { self.pair($0.value.addresses) == pair && !isFailedAttempt($0.key) }
        return same.count > 1 ? "\(pair), \(text)" : pair
      }
      // The peripheral's address is the last one; a capture that begins later has none.
      return text + (addresses.last.map { " with \(names[$0] ?? $0.digits)" } ?? "")
    }
  }

  /// Returns the names of the central and the peripheral; nil: the capture does not tell both.
  private func pair(_ addresses: [DeviceAddress]) -> String? {
    let known = addresses.compactMap { names[$0] }
    return known.count == 2 && addresses.count == 2 ? "\(known[0]) → \(known[1])" : nil
  }

  private func isFailedAttempt(_ series: Series) -> Bool {
    if case .connection(let link) = series { failedLinks.contains(link) } else { false }
  }

  /// Writes the picture.
  ///
  /// - Throws: `Failure` if the file can't be written.
  func write(to file: OutputFile, title: String) throws {
    try file.write(Array(svg(title).utf8))
    try file.finish()
  }

  /// The picture as a file.
  func svg(_ title: String) -> String { picture(title).svg }

  // MARK: Layout

  private static let left = 70.0
  private static let right = 975.0

  private struct Frame {
    let top: Double
    let bottom: Double
    let start: Double
    let end: Double
    let lowest: Double
    let highest: Double

    func x(_ time: Double) -> Double {
      CapturePlot.left + (time - start) / (end - start) * (CapturePlot.right - CapturePlot.left)
    }
    func y(_ value: Double) -> Double { bottom - (value - lowest) / (highest - lowest) * (bottom - top) }
  }

  private func picture(_ title: String) -> SVGPicture {
    // The hosts' side of connections on the air shows the same again.
    let hasAir = packets.contains { $0.channel != nil }
    let onAir = Set(packets.lazy.filter { $0.channel != nil }.map(\.series))
    func isShown(_ series: Series) -> Bool { !hasAir || onAir.contains(series) }
    func isConnection(_ series: Series) -> Bool {
      if case .connection = series { isShown(series) && !isFailedAttempt(series) } else { false }
    }
    let failed = counts.keys.filter { isShown($0) && isFailedAttempt($0) }.count
    let failedAttempts =
      failed == 0 ? nil : failed == 1 ? "1 failed attempt to connect" : "\(failed) failed attempts to connect"
    let connections = ranked(isConnection)
    let count = counts.keys.filter(isConnection).count - connections.count
    let others = count == 0 ? nil : count == 1 ? "1 other connection" : "\(count) other connections"
    func isAdvertiser(_ series: Series) -> Bool { if case .advertiser = series { true } else { false } }
    let advertisers = ranked(isAdvertiser)
    let hidden = counts.keys.filter(isAdvertiser).count - advertisers.count
    let otherAdvertisers =
      hidden == 0 ? nil : hidden == 1 ? "1 other advertiser" : "\(hidden) other advertisers"
    // The last entry is that of the symbols.
    let entries = connections.count + advertisers.count + (others == nil ? 1 : 2)
    let legendHeight = 18.0 * Double((entries + 2) / 3)
    var picture = SVGPicture(width: 1_000, height: 870 + legendHeight)
    let start = packets.map(\.time).min() ?? 0
    let end = max(packets.map(\.time).max() ?? 1, start + 1e-6)
    picture.text(title, Self.left, 26, size: 16, isBold: true)
    let channels = Frame(top: 60, bottom: 440, start: start, end: end, lowest: -0.7, highest: 39.7)
    drawChannels(in: channels, connections, &picture)
    if let failedAttempts { drawNote(failedAttempts, in: channels, &picture) }
    let throughput = Frame(top: 500, bottom: 640, start: start, end: end, lowest: 0, highest: 1)
    drawThroughput(in: throughput, connections, &picture)
    drawNote(about: [others], in: throughput, &picture)
    let levels = packets.compactMap(\.level)
    // Whole tens with room for the curves.
    let low = floor((Double(levels.min() ?? -97) - 3) / 10) * 10
    let high = ceil((Double(levels.max() ?? -33) + 3) / 10) * 10
    let strength = Frame(top: 700, bottom: 820, start: start, end: end, lowest: low, highest: high)
    drawLevels(in: strength, connections, advertisers, &picture)
    // A capture without signal strengths has no curve of any advertiser, which the title of the frame tells.
    drawNote(about: [others, levels.isEmpty ? nil : otherAdvertisers], in: strength, &picture)
    drawLegend(at: 868, connections, others, advertisers, &picture)
    return picture
  }

  /// The series with the most packets, in the order of their titles.
  private func ranked(_ isIncluded: (Series) -> Bool) -> [Series] {
    counts.filter { isIncluded($0.key) }
      .map { (series: $0.key, count: $0.value, title: title($0.key)) }
      .sorted { ($1.count, $0.title) < ($0.count, $1.title) }
      .prefix(Self.limit).sorted { $0.title < $1.title }.map(\.series)
  }

  private func drawFrame(_ frame: Frame, _ title: String, _ ticks: AxisTicks, _ picture: inout SVGPicture) {
    picture.text(title, Self.left, frame.top - 8, isBold: true)
    for value in ticks.values where value >= frame.lowest && value <= frame.highest {
      let y = frame.y(value)
      picture.line(Self.left, y, Self.right, y, colour: "#DDDDDD", width: 0.6)
      picture.text(ticks.text(value), Self.left - 6, y + 4, size: 11, anchor: .end)
    }
    let times = AxisTicks(from: frame.start, to: frame.end, about: 10)
    for time in times.values {
      picture.line(frame.x(time), frame.bottom, frame.x(time), frame.bottom + 4)
      picture.text(times.text(time), frame.x(time), frame.bottom + 17, size: 11, anchor: .middle)
    }
    picture.text("s", Self.right + 8, frame.bottom + 17, size: 11)
    picture.line(Self.left, frame.bottom, Self.right, frame.bottom)
    picture.line(Self.left, frame.top, Self.left, frame.bottom)
  }

  /// Draws each place once, however many packets have it.
  private func distinct(_ points: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
    struct Pixel: Hashable { let x: Int, y: Int }
    var seen: Set<Pixel> = []
    return points.filter { seen.insert(Pixel(x: Int(($0.x * 2).rounded()), y: Int(($0.y * 2).rounded()))).inserted }
  }

  private func drawChannels(in frame: Frame, _ connections: [Series], _ picture: inout SVGPicture) {
    let onAir = packets.filter { $0.channel != nil }
    drawFrame(
      frame, onAir.isEmpty ? "Packets by channel: the capture has none on the air" : "Packets by channel",
      AxisTicks(from: 0, to: 39, about: 8), &picture)
    func points(_ isIncluded: (Packet) -> Bool) -> [(x: Double, y: Double)] {
      distinct(onAir.filter(isIncluded).map { (frame.x($0.time), frame.y(Double($0.channel ?? 0))) })
    }
    picture.circles(points { !$0.isConnection }, radius: 1.6, colour: "#777777")
    // A skipped packet is the most frequent one on a connection with latency, so it is drawn below the others.
    picture.circles(points(\.isSkipped), radius: 0.8, colour: Self.skippedColour)
    for (number, series) in connections.enumerated() {
      picture.symbols(points { $0.series == series && !$0.isLost && !$0.isSkipped }, SVGPicture.Pen(number))
    }
    let attempts = Set(counts.keys.filter(isFailedAttempt))
    let others = points { packet in
      packet.isConnection && !connections.contains(packet.series) && !packet.isLost && !packet.isSkipped
        && !attempts.contains(packet.series)
    }
    picture.symbols(others, SVGPicture.Pen.others)
    picture.crosses(
      points { $0.isConnection && ($0.isLost || attempts.contains($0.series)) }, radius: 3, colour: "#000000")
  }

  private static let skippedColour = "#BBBBBB"

  private static let binCount = 120

  /// Returns the bin of a time, 0 to `binCount` − 1.
  private func bin(_ time: Double, _ frame: Frame) -> Int {
    min(Self.binCount - 1, max(0, Int((time - frame.start) / (frame.end - frame.start) * Double(Self.binCount))))
  }

  private func drawThroughput(in frame: Frame, _ connections: [Series], _ picture: inout SVGPicture) {
    let width = (frame.end - frame.start) / Double(Self.binCount)
    var bins: [Series: [Double]] = [:]
    for packet in packets where packet.octets > 0 {
      bins[packet.series, default: Array(repeating: 0, count: Self.binCount)][bin(packet.time, frame)] +=
        Double(8 * packet.octets) / width / 1_000
    }
    let most = max(connections.compactMap { bins[$0]?.max() }.max() ?? 0, 0.001)
    let frame = Frame(
      top: frame.top, bottom: frame.bottom, start: frame.start, end: frame.end, lowest: 0, highest: most * 1.08)
    drawFrame(frame, "Throughput, kbit/s", AxisTicks(from: 0, to: most, about: 4), &picture)
    for (number, series) in connections.enumerated() {
      guard let values = bins[series] else { continue }
      var points: [(x: Double, y: Double)] = []
      for (index, value) in values.enumerated() {
        points.append((frame.x(frame.start + Double(index) * width), frame.y(value)))
        points.append((frame.x(frame.start + Double(index + 1) * width), frame.y(value)))
      }
      picture.polyline(points, SVGPicture.Pen(number))
    }
  }

  private func drawLevels(
    in frame: Frame, _ connections: [Series], _ advertisers: [Series], _ picture: inout SVGPicture
  ) {
    let isKnown = packets.contains { $0.level != nil }
    drawFrame(
      frame, isKnown ? "Signal strength, dBm" : "Signal strength: the capture has none",
      AxisTicks(from: frame.lowest, to: frame.highest, about: 4), &picture)
    for (number, series) in (connections + advertisers).enumerated() {
      var sums: [(sum: Double, count: Int)] = Array(repeating: (0, 0), count: Self.binCount)
      for packet in packets where packet.series == series {
        guard let level = packet.level else { continue }
        let index = bin(packet.time, frame)
        sums[index].sum += Double(level)
        sums[index].count += 1
      }
      let width = (frame.end - frame.start) / Double(Self.binCount)
      let points = sums.enumerated().filter { $0.element.count > 0 }.map { index, value in
        (x: frame.x(frame.start + (Double(index) + 0.5) * width), y: frame.y(value.sum / Double(value.count)))
      }
      picture.polyline(points, SVGPicture.Pen(number), width: 1)
      picture.symbols(points, SVGPicture.Pen(number))
    }
  }

  /// Tells how many connections and advertisers have no curve.
  ///
  /// - Parameter others: the numbers with their nouns; nil: all of a kind have a curve.
  private func drawNote(about others: [String?], in frame: Frame, _ picture: inout SVGPicture) {
    let parts = others.compactMap { $0 }
    guard !parts.isEmpty else { return }
    drawNote("not shown: \(parts.joined(separator: ", "))", in: frame, &picture)
  }

  private func drawNote(_ text: String, in frame: Frame, _ picture: inout SVGPicture) {
    picture.text(text, Self.right, frame.top - 8, size: 11, anchor: .end)
  }

  private func drawLegend(
    at top: Double, _ connections: [Series], _ others: String?, _ advertisers: [Series],
    _ picture: inout SVGPicture
  ) {
    let columns = 3
    let width = (Self.right - Self.left) / Double(columns)
    func place(_ number: Int) -> (Double, Double) {
      (Self.left + Double(number % columns) * width, top + Double(number / columns) * 18)
    }
    for (number, series) in (connections + advertisers).enumerated() {
      let (x, y) = place(number)
      picture.polyline([(x, y - 4), (x + 34, y - 4)], SVGPicture.Pen(number))
      picture.symbols([(x + 17, y - 4)], SVGPicture.Pen(number), isSmall: false)
      picture.text(title(series), x + 42, y, size: 11)
    }
    var last = connections.count + advertisers.count
    if let others {
      let (x, y) = place(last)
      picture.symbols([(x + 17, y - 4)], SVGPicture.Pen.others, isSmall: false)
      picture.text(others, x + 42, y, size: 11)
      last += 1
    }
    let (x, y) = place(last)
    picture.circles([(x + 8, y - 4)], radius: 2.4, colour: "#777777")
    picture.text("advertising", x + 18, y, size: 11)
    picture.crosses([(x + 100, y - 4)], radius: 3, colour: "#000000")
    picture.text("lost or retransmitted", x + 110, y, size: 11)
    guard packets.contains(where: \.isSkipped) else { return }
    picture.circles([(x + 232, y - 4)], radius: 2, colour: Self.skippedColour)
    picture.text("skipped", x + 240, y, size: 11)
  }
}
