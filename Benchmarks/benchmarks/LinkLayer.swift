import BluetoothController
import BluetoothRadio
import BluetoothWire

/// Two controllers and the air between them: the throughput of the link layer.
enum LinkLayer {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("throughput at 1M", { try throughput(on: .le1M, interval: 24, limits: (790.9, 780.8), divisor: $0) }),
    ("throughput at 2M", { try throughput(on: .le2M, interval: 39, limits: (1_402.0, 1_386.4), divisor: $0) }),
    ("adaptive hopping", adaptiveHopping),
  ]

  /// The octets of a value in an L2CAP PDU with a notification or a write without response of 251 octets.
  private static let valueLength = 244

  private static func throughput(
    on phy: RadioPHY, interval: UInt16, limits: (plain: Double, encrypted: Double), divisor: Int
  ) throws -> Measurement {
    let span = TimeSpan.milliseconds(max(500, 20_000 / Int64(divisor)))
    var results: [String] = []
    for isEncrypted in [false, true] {
      for isCentral in [false, true] {
        let link = try LinkPair(interval: interval)
        try link.change(to: phy)
        if isEncrypted { try link.encrypt() }
        let (sender, receiver) = isCentral ? (link.central, link.peripheral) : (link.peripheral, link.central)
        link.with(sender) { $0.isStreaming = true }
        link.run(for: .seconds(1))
        let before = receiver.received
        link.run(for: span)
        let kilobits = Double((receiver.received - before) * valueLength * 8) / Double(span.nanoseconds) * 1e6
        let share = kilobits / (isEncrypted ? limits.encrypted : limits.plain)
        results.append("\(kilobits.rounded(to: 1)) (\((100 * share).rounded(to: 1)) %)")
      }
    }
    let milliseconds = (Double(interval) * 1.25).rounded(to: 2)
    return Measurement(
      name: "kbit/s at \(phy == .le1M ? "1M" : "2M"), \(milliseconds) ms: to the central, to the peripheral",
      result: "\(results[0]), \(results[1]); encrypted \(results[2]), \(results[3])",
      aim: "97 % of \(limits.plain.rounded(to: 1)), encrypted \(limits.encrypted.rounded(to: 1))",
      method: "values of 244 octets, radio time; the limit is what the air times of an endless event allow")
  }

  /// Measures the retransmissions of a link full of data beside Wi-Fi on channel 6, with and without channel
  /// classification.
  @Sendable private static func adaptiveHopping(divisor: Int) throws -> Measurement {
    let span = TimeSpan.milliseconds(max(1_000, 60_000 / Int64(divisor)))
    var results: [String] = []
    var channels = 0
    for assesses in [false, true] {
      let link = try LinkPair(interval: 24, distance: 5, assessesChannels: assesses)
      link.disturb(
        InterferenceSource(
          .wiFi(WiFiTransmitter(channel: 6, dutyCyclePerMille: 500)), at: GridPosition(x: 2_000, y: 2_000),
          power: Decibel(15)))
      link.with(link.peripheral) { $0.isStreaming = true }
      link.run(for: .seconds(30))
      let (before, received) = (link.peripheral.statistics, link.central.received)
      link.run(for: span)
      let after = link.peripheral.statistics
      let lost = after.retransmissions - before.retransmissions
      let perMinute = lost * 60_000 / Int(span.nanoseconds / 1_000_000)
      let kilobits = Double((link.central.received - received) * valueLength * 8) / Double(span.nanoseconds) * 1e6
      results.append("\(perMinute.grouped) a minute, \(kilobits.rounded(to: 1)) kbit/s")
      link.with(link.central) { $0.readChannels() }
      channels = link.central.usedChannels
    }
    return Measurement(
      name: "packets sent again, Wi-Fi on 6 at 50 %",
      result: "\(results[0]) on all channels; \(results[1]) on the \(channels) that were not found bad",
      aim: "far less",
      method: "a stream of values of 244 octets at 1M over 5 m, with the controllers' own classification off and on")
  }
}
