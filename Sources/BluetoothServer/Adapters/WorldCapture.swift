import BluetoothCapture
import BluetoothRadio
import BluetoothWire
import NIOConcurrencyHelpers

/// Writes a world's air, and the HCI of each of its devices, to a file.
package final class WorldCapture: AirObserver, @unchecked Sendable {
  // The lock guards everything below it: packets come from the world's thread, the end from any other.
  private let lock = NIOLock()
  private var writer = PcapngWriter()
  private var directions = ConnectionDirections()
  private let file: CaptureFile
  /// What went wrong first; nothing is written after it.
  private var failure: CaptureFile.Failure?
  private var names: [String] = []
  /// What is to be said of transmissions that have not ended yet.
  private var marks: [(transmission: UInt64, text: String)] = []
  private var announcements: [String] = []

  /// Octets that wait before they are written in one piece.
  private static let chunk = 1 << 16

  /// Begins a file, or replaces the one that is there.
  package init(path: String) throws(CaptureFile.Failure) {
    file = try CaptureFile(path: path)
  }

  /// Where the packets between host and controller of one more device go. Devices are told in the order of their numbers.
  package func device(named name: String) -> DeviceCapture {
    lock.withLock {
      names.append(name)
      return DeviceCapture(world: self, interface: writer.addInterface(name: name, linkType: .hciH4WithDirection))
    }
  }

  package func transmissionEnded(_ record: TransmissionRecord, receptions: [Reception]) {
    lock.withLock {
      writer.airPacket(
        record.packet, crc: record.packet.crc, channel: record.channel, modulation: record.modulation,
        power: record.power,
        start: record.start, direction: directions.direction(of: record.packet, sender: record.radio.index),
        comments: [describe(record, receptions)] + takeMarks(of: record.number) + takeAnnouncements())
      writeIfDue()
    }
  }

  /// Says something of a transmission that has not ended yet.
  package func mark(transmission: UInt64, _ text: String) {
    lock.withLock { marks.append((transmission, text)) }
  }

  /// Says something of what is no packet: it stands with the next one, wherever that is.
  package func announce(_ text: String) {
    lock.withLock { announcements.append(text) }
  }

  private func takeAnnouncements() -> [String] {
    defer { announcements.removeAll() }
    return announcements
  }

  private func takeMarks(of transmission: UInt64) -> [String] {
    guard !marks.isEmpty else { return [] }
    let texts = marks.filter { $0.transmission == transmission }.map(\.text)
    marks.removeAll { $0.transmission == transmission }
    return texts
  }

  fileprivate func packet(
    _ packet: HCI.Packet, on interface: PcapngWriter.Interface, isFromHost: Bool, at now: Instant, comments: [String]
  ) -> PcapngWriter.Record {
    lock.withLock {
      defer { writeIfDue() }
      return writer.hciPacket(
        packet, on: interface, isFromHost: isFromHost, at: now, comments: comments + takeAnnouncements())
    }
  }

  fileprivate func add(_ comment: String, to record: PcapngWriter.Record) {
    lock.withLock { _ = writer.add(comment: comment, to: record) }
  }

  /// Writes everything that is left.
  package func finish() throws(CaptureFile.Failure) {
    lock.lock()
    defer { lock.unlock() }
    if let failure { throw failure }
    try file.append(writer.finish())
  }

  private func writeIfDue() {
    guard failure == nil, writer.pendingCount >= Self.chunk else { return }
    do throws(CaptureFile.Failure) { try file.append(writer.takeBytes()) } catch { failure = error }
  }

  /// `sensor → phone −47 dBm, hub corrupt −89 dBm`
  private func describe(_ record: TransmissionRecord, _ receptions: [Reception]) -> String {
    let fates = receptions.map { reception in
      let fate =
        switch reception.outcome {
        case .intact: ""
        case .corrupt: "corrupt "
        case .missed: "missed "
        }
      return "\(name(of: reception.radio)) \(fate)\(reception.level.rounded) dBm"
    }
    return "\(name(of: record.radio)) → " + (fates.isEmpty ? "nobody" : fates.joined(separator: ", "))
  }

  private func name(of radio: RadioID) -> String {
    radio == .none ? "fault: injected" : radio.index < names.count ? names[radio.index] : "device \(radio.index)"
  }
}

/// One device's part of a capture. Confined to the world.
package final class DeviceCapture {
  private let world: WorldCapture
  private let interface: PcapngWriter.Interface
  /// Calls of apps whose packets are still to come.
  private var calls: [String] = []
  private var lastFromController: PcapngWriter.Record?

  fileprivate init(world: WorldCapture, interface: PcapngWriter.Interface) {
    self.world = world
    self.interface = interface
  }

  /// - Parameter fault: why it does not arrive as it was sent.
  func packet(_ packet: HCI.Packet, isFromHost: Bool, at now: Instant, fault: String? = nil) {
    var comments = isFromHost ? calls : []
    if let fault { comments.append(fault) }
    let record = world.packet(packet, on: interface, isFromHost: isFromHost, at: now, comments: comments)
    if isFromHost { calls.removeAll(keepingCapacity: true) } else { lastFromController = record }
  }

  /// An app has called this; what follows comes of it.
  func call(_ text: String) { calls.append(text) }

  /// An app gets this callback, which came of the latest packet from the controller.
  func callback(_ text: String) {
    if let lastFromController { world.add(text, to: lastFromController) }
  }
}
