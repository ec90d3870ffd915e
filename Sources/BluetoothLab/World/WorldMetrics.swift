import Metrics

extension World {
  /// Reports the activity since the last call to the metrics system: counters and gauges with the dimensions `device`
  /// and, for connections and attempts, `peer`. Only this method uses the metrics system, so metrics do not slow down the world.
  ///
  /// | label | kind | unit |
  /// | --- | --- | --- |
  /// | `bluetooth_packets_sent`, `bluetooth_packets_received` | counter | packets |
  /// | `bluetooth_crc_errors`, `bluetooth_packets_missed` | counter | packets |
  /// | `bluetooth_air_time` | counter | microseconds sent |
  /// | `bluetooth_radio_sending`, `bluetooth_radio_listening` | gauge | part of the device's time so far, 0 to 1 |
  /// | `bluetooth_connection_attempts`, `bluetooth_connection_attempts_failed` | counter | connection requests |
  /// | `bluetooth_link_packets_sent`, `bluetooth_link_packets_received` | counter | packets |
  /// | `bluetooth_link_air_time` | counter | microseconds sent |
  /// | `bluetooth_link_throughput_sent` | gauge | bits per second since the last call |
  /// | `bluetooth_link_throughput_received` | gauge | bits per second since the last call |
  /// | `bluetooth_link_octets_sent`, `bluetooth_link_octets_received` | counter | octets |
  /// | `bluetooth_link_retransmissions`, `bluetooth_link_crc_errors` | counter | packets |
  /// | `bluetooth_link_events_missed` | counter | events |
  /// | `bluetooth_link_rssi` | gauge | dBm |
  ///
  /// Call this method while the world is not running, or in one of its callbacks.
  public func reportMetrics(to factory: any MetricsFactory = MetricsSystem.factory) {
    let statistics = statistics
    let earlier = exchangeReported(statistics)
    for (index, device) in statistics.devices.enumerated() {
      let before = earlier.flatMap { index < $0.devices.count ? $0.devices[index] : nil }
      let reporter = MetricsReporter(factory: factory, dimensions: [("device", device.name)])
      reporter.report(device, since: before)
      func linkReporter(_ peer: String) -> MetricsReporter {
        MetricsReporter(factory: factory, dimensions: [("device", device.name), ("peer", peer)])
      }
      for attempts in device.attempts {
        let old = before?.attempts.first { $0.peer == attempts.peer }
        linkReporter(attempts.peer).report(attempts, since: old)
      }
      for link in device.links {
        let old = before?.links.first { $0.number == link.number }
        linkReporter(link.peer).report(link, since: old)
      }
    }
  }
}

/// Reports the difference between two snapshots to a metrics system.
private struct MetricsReporter {
  let factory: any MetricsFactory
  let dimensions: [(String, String)]

  func report(_ device: DeviceStatistics, since old: DeviceStatistics?) {
    count("bluetooth_packets_sent", device.transmitted.packets, old?.transmitted.packets)
    count("bluetooth_packets_received", device.receivedPackets, old?.receivedPackets)
    count("bluetooth_crc_errors", device.crcErrors, old?.crcErrors)
    count("bluetooth_packets_missed", device.missedPackets, old?.missedPackets)
    count("bluetooth_air_time", device.transmitted.airTime.microseconds, old?.transmitted.airTime.microseconds)
    guard device.time > .zero else { return }
    show("bluetooth_radio_sending", device.transmitting.seconds / device.time.seconds)
    show("bluetooth_radio_listening", device.receiving.seconds / device.time.seconds)
  }

  func report(_ attempts: ConnectionAttempts, since old: ConnectionAttempts?) {
    count("bluetooth_connection_attempts", attempts.count, old?.count)
    count("bluetooth_connection_attempts_failed", attempts.failed, old?.failed)
  }

  func report(_ link: LinkStatistics, since old: LinkStatistics?) {
    count("bluetooth_link_packets_sent", link.sent.packets, old?.sent.packets)
    count("bluetooth_link_packets_received", link.received.packets, old?.received.packets)
    count("bluetooth_link_air_time", link.sent.airTime.microseconds, old?.sent.airTime.microseconds)
    count("bluetooth_link_octets_sent", link.sent.octets, old?.sent.octets)
    count("bluetooth_link_octets_received", link.received.octets, old?.received.octets)
    count("bluetooth_link_retransmissions", link.retransmissions, old?.retransmissions)
    count("bluetooth_link_crc_errors", link.crcErrors, old?.crcErrors)
    count("bluetooth_link_events_missed", link.missedEvents, old?.missedEvents)
    if let rssi = link.rssi { show("bluetooth_link_rssi", rssi) }
    let recent = old.map { link.since($0) } ?? link
    show("bluetooth_link_throughput_sent", recent.throughputSent)
    show("bluetooth_link_throughput_received", recent.throughputReceived)
  }

  private func count(_ label: String, _ value: Int, _ old: Int?) {
    let difference = value - (old ?? 0)
    guard difference > 0 else { return }
    Counter(label: label, dimensions: dimensions, factory: factory).increment(by: difference)
  }

  private func show(_ label: String, _ value: Double) {
    Gauge(label: label, dimensions: dimensions, factory: factory).record(value)
  }
}

extension Duration {
  /// The duration in whole microseconds.
  fileprivate var microseconds: Int {
    Int(components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000)
  }
}
