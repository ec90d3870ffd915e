import BluetoothDissection
import BluetoothRadio
import BluetoothWire

// The packets of a tick.

extension PageModel {
  /// The maximum number of packets whose content a tick reads.
  private static let readPerTick = 4_000

  mutating func add(packets batch: AirRecorder.Batch, to tick: inout PageFields) {
    var batch = batch
    batch.markCollisions(after: &channelEnds)
    var use = AirUse()
    var (ofLinks, advertising, empty): ([Int], [Int], [Int]) = ([], [], [])
    for (index, packet) in batch.packets.enumerated() {
      use.count(packet, isLost: batch.isLost(packet))
      note(powerOf: packet)
      if packet.isEmptyPDU {
        empty.append(index)
      } else if packet.isAdvertising {
        advertising.append(index)
      } else {
        ofLinks.append(index)
      }
    }
    // Packets with content are the most interesting ones.
    let shown = (ofLinks.prefix(Self.packetsPerTick) + advertising + empty).prefix(Self.packetsPerTick).sorted()
    let descriptions = read(batch, shown: Set(shown))
    if !shown.isEmpty {
      tick.add(
        "packets",
        .list(
          shown.map { index in
            let packet = batch.packets[index]
            return batch.fields(of: packet, descriptions[packet.number], name: name(of:)).object
          }))
    }
    let omitted = batch.packets.count - shown.count + batch.omitted
    if omitted > 0 { tick.add("omitted", .whole(omitted)) }
    use.add(to: &tick, name: name(of:))
    log.keep(batch, descriptions)
  }

  /// Reads the packets of links, in order, and those advertising packets that are shown or have a new content.
  private mutating func read(_ batch: AirRecorder.Batch, shown: Set<Int>) -> [UInt64: PacketDescription] {
    var descriptions: [UInt64: PacketDescription] = [:]
    for (index, packet) in batch.packets.enumerated() where !packet.isEmptyPDU {
      if packet.isAdvertising {
        noteAdvertising(packet)
        // Not short-circuited: the content must be noted.
        let isNew = noteContent(of: packet, batch)
        guard isNew || shown.contains(index) else { continue }
      }
      guard descriptions.count < Self.readPerTick else { break }
      let description = log.describe(packet, in: batch)
      descriptions[packet.number] = description
      for advertisement in description.advertising { note(advertisement, packet) }
    }
    return descriptions
  }

  private mutating func note(powerOf packet: AirRecorder.Packet) {
    let index = packet.radio.index
    guard devices.indices.contains(index), devices[index].transmitPower != packet.power else { return }
    devices[index].transmitPower = packet.power
    devices[index].isDirty = true
  }

  private mutating func noteAdvertising(_ packet: AirRecorder.Packet) {
    guard devices.indices.contains(packet.radio.index) else { return }
    devices[packet.radio.index].advertising?.latest = packet.start
  }

  /// Notes the content of an advertising packet. Returns true if the packet before had another one, and for the packets
  /// that begin a connection.
  private mutating func noteContent(of packet: AirRecorder.Packet, _ batch: AirRecorder.Batch) -> Bool {
    let type = Int(packet.header & 0x0F)
    if type == Int(LL.AdvertisingPDUType.connectInd.rawValue) { return true }
    var hasher = Hasher()
    batch.octets[packet.payload].withUnsafeBytes { hasher.combine(bytes: $0) }
    let content = hasher.finalize()
    let key = packet.radio.index << 4 | type
    defer { latestContents[key] = content }
    return latestContents[key] != content
  }

  private mutating func note(_ advertisement: PacketDescription.Advertisement, _ packet: AirRecorder.Packet) {
    let index = packet.radio.index
    guard devices.indices.contains(index) else { return }
    if devices[index].advertising == nil {
      guard advertisement.type != .scanRsp, advertisement.type != .auxScanRsp else { return }
      devices[index].advertising = SeenAdvertising(advertisement, at: packet.start)
      devices[index].isDirty = true
    } else if devices[index].advertising?.update(advertisement) ?? false {
      devices[index].isDirty = true
    }
  }
}

extension AirRecorder.Batch {
  /// Marks the packets that were on their channel at the same time as another one. A receiver may still get one of them.
  ///
  /// - Parameter ends: the end of the latest packet on each channel, up to the packets before and then with these ones.
  fileprivate mutating func markCollisions(after ends: inout [Instant]) {
    /// The packet that ends last on each channel.
    var latest = [Int?](repeating: nil, count: ends.count)
    for index in packets.indices.sorted(by: { packets[$0].start < packets[$1].start }) {
      let packet = packets[index]
      let channel = Int(ChannelIndex(packet.channel).number)
      if packet.start < ends[channel] {
        packets[index].isCollided = true
        if let other = latest[channel] { packets[other].isCollided = true }
      }
      guard packet.end > ends[channel] else { continue }
      ends[channel] = packet.end
      latest[channel] = index
    }
  }

  /// True if a receiver got the packet with an error, or missed it.
  fileprivate func isLost(_ packet: AirRecorder.Packet) -> Bool {
    receptions[packet.receptions].contains { $0.outcome != .intact }
  }
}

/// The use of the band in a tick.
private struct AirUse {
  private var channels = [(time: Int64, packets: Int, lost: Int, collided: Int)](repeating: (0, 0, 0, 0), count: 40)
  private var pulses: [Int: Int] = [:]
  private var airTime: [Int: Int64] = [:]

  mutating func count(_ packet: AirRecorder.Packet, isLost: Bool) {
    let channel = Int(ChannelIndex(packet.channel).number)
    let time = (packet.end - packet.start).nanoseconds
    channels[channel].time += time
    channels[channel].packets += 1
    if isLost { channels[channel].lost += 1 }
    if packet.isCollided { channels[channel].collided += 1 }
    airTime[packet.radio.index, default: 0] += time
    if packet.isAdvertising, channel >= 37 { pulses[packet.radio.index, default: 0] += 1 }
  }

  func add(to tick: inout PageFields, name: (RadioID) -> String) {
    let used = channels.enumerated().filter { $0.element.packets > 0 }
    guard !used.isEmpty else { return }
    tick.add(
      "channels",
      .list(
        used.map { index, use in
          .list([
            .whole(index), .whole(use.time / 1_000), .whole(use.packets), .whole(use.lost), .whole(use.collided),
          ])
        }))
    tick.add(
      "airTime",
      .object(airTime.sorted { $0.key < $1.key }.map { (name(RadioID(index: $0.key)), .whole($0.value / 1_000)) }))
    if !pulses.isEmpty {
      tick.add(
        "pulses", .object(pulses.sorted { $0.key < $1.key }.map { (name(RadioID(index: $0.key)), .whole($0.value)) }))
    }
  }
}
