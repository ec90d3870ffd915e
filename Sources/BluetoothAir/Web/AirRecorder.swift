import BluetoothRadio
import BluetoothWire

/// Records the transmissions of a world for its page, until the page takes them. Confined to the world.
///
/// A packet costs a few copies into arrays that are there already: the work on its content belongs to the page's
/// thread. The octets are copied because the memory of packets belongs to the world's thread.
final class AirRecorder: ChainedRecorder, @unchecked Sendable {
  /// A transmission.
  struct Packet: Sendable {
    var number: UInt64
    var radio: RadioID
    var channel: RadioChannel
    var modulation: Modulation
    var power: Decibel
    var start: Instant
    var end: Instant
    var accessAddress: UInt32
    var crcInit: UInt32
    var header: UInt16
    var isAdvertising: Bool
    /// True if another packet was on its channel at the same time, as far as the batch shows it.
    var isCollided = false
    /// The payload as sent, in the octets of the batch.
    var payload: Range<Int>
    /// The payload before encryption; nil: it was not encrypted.
    var plain: Range<Int>?
    /// The receivers, in the receptions of the batch.
    var receptions: Range<Int>
  }

  /// The result of a packet at a receiver.
  struct Receiver: Sendable {
    var radio: RadioID
    var level: Decibel
    var outcome: ReceptionOutcome
  }

  /// The transmissions between two ticks.
  struct Batch: Sendable {
    var packets: [Packet] = []
    var receptions: [Receiver] = []
    var octets: [UInt8] = []
    /// The number of transmissions that are not in the batch, because there were too many.
    var omitted = 0
  }

  /// The maximum number of packets of a batch: 20 per second are taken.
  static let limit = 10_000

  // Unchecked: confined to the world.
  @exclusivity(unchecked) private var batch = Batch()

  /// Stops, and forgets what has been recorded.
  override func detach(from engine: WorldEngine) {
    engine.bound.check()
    super.detach(from: engine)
    batch = Batch()
  }

  /// Returns what has been recorded since the last call.
  func take() -> Batch {
    defer {
      var new = Batch()
      new.packets.reserveCapacity(min(batch.packets.count, Self.limit))
      new.octets.reserveCapacity(batch.octets.count)
      batch = new
    }
    return batch
  }

  override func transmissionEnded(_ record: TransmissionRecord, receptions: [Reception]) {
    super.transmissionEnded(record, receptions: receptions)
    guard batch.packets.count < Self.limit else {
      batch.omitted += 1
      return
    }
    let packet = record.packet
    let first = batch.receptions.count
    for reception in receptions {
      batch.receptions.append(
        Receiver(radio: reception.radio, level: reception.level, outcome: reception.outcome))
    }
    batch.packets.append(
      Packet(
        number: record.number, radio: record.radio, channel: record.channel, modulation: record.modulation,
        power: record.power, start: record.start, end: record.end, accessAddress: packet.accessAddress,
        crcInit: packet.crcInit, header: packet.header, isAdvertising: packet.isAdvertising,
        payload: copy(packet.payload), plain: packet.plainPayload.map { copy($0) },
        receptions: first..<batch.receptions.count))
  }

  private func copy(_ octets: ByteSlice) -> Range<Int> {
    let start = batch.octets.count
    octets.withUnsafeBytes { batch.octets.append(contentsOf: $0) }
    return start..<batch.octets.count
  }
}

extension AirRecorder.Batch {
  /// Returns a transmission as a packet.
  ///
  /// - Parameter isPlain: true for the payload as before encryption.
  func airPacket(_ packet: AirRecorder.Packet, isPlain: Bool = false) -> AirPacket {
    let range = isPlain ? packet.plain ?? packet.payload : packet.payload
    let header = packet.header & 0x00FF | UInt16(truncatingIfNeeded: range.count) << 8
    var result = AirPacket(
      accessAddress: packet.accessAddress, crcInit: packet.crcInit, header: header,
      payload: ByteSlice(octets[range]))
    result.isAdvertising = packet.isAdvertising
    return result
  }
}
