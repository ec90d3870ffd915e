// Overview
//
// A capture shows what happened on the air and between host and controller. BluetoothCapture writes the files that
// Wireshark reads: pcapng with the air and the HCI of each device, or btsnoop with the HCI of one controller
// (`BtsnoopWriter`).
//
// The idea: a writer is a value that collects octets and opens no file. The owner takes the octets (`takeBytes`) and
// gives them to a `CaptureFile`, at once or through a `CaptureQueue` on a separate thread, so that a world in real time
// never waits for a disk.
//
// Callers: BluetoothSimulation's `WorldCapture` writes what its devices send and receive; BluetoothServer's monitor
// hides keys with `KeyFinder`; BluetoothAir claims the files that it reads (`ClaimedFile`). The module knows the packets
// of BluetoothWire and no protocol state beyond the fragments of a frame and the direction of a connection.
//
// Invariants:
// - Packets leave in the order of time. A packet on the air is added when it has ended, with the time of its start, so
//   the writer holds packets back as long as the longest packet lasts.
// - A capture shows no secrets unless its `CaptureSecrets` ask for them: `KeyFinder` finds keys in HCI, also across the
//   fragments of a frame, and the capture has zeros in their place.
// - A file that two captures would write is claimed once (`ClaimedFile.swift`).
// - A reader that closes a FIFO is an error with that reason, even if another program has opened the FIFO since then
//   (`PipeWatch.swift`).
//
// Where to begin: this file with `PcapngBlock.swift` and `LinkLayerPseudoHeader.swift`; then `CaptureFile.swift` for
// output and `KeyFinder.swift` for keys. Reading is BluetoothDissection's job.
//
// Formats: pcapng (IETF draft-ietf-opsawg-pcapng) with the link types of Bluetooth LE and HCI; btsnoop (RFC 1761).

import BluetoothWire

/// A writer of pcapng files with one interface for the air and one HCI interface per device. It collects octets until
/// `takeBytes` removes them, and opens no file.
///
/// A packet on the air is added when it has ended, with the time of its preamble, so packets arrive slightly out of
/// order. The writer holds them back for `reorderingTime`, and outputs them in the order of time; packets with equal
/// times keep their order of arrival.
package struct PcapngWriter {
  /// An interface on which packets were captured.
  package struct Interface: Hashable, Sendable {
    let number: UInt32
  }

  /// The identifier of a packet, by which comments can be added later.
  package struct Record: Hashable, Sendable {
    let number: UInt64
  }

  /// The longest duration of a packet: LE Coded with S=8 and 255 octets takes 17.04 ms · Vol 6, Part B, 4.5.10.
  static let reorderingTime = TimeSpan.microseconds(17_040)

  private struct Pending {
    var record: Record
    var time: Instant
    var interface: Interface
    var data: [UInt8]
    var comments: [String]
  }

  private static let air = Interface(number: 0)

  private var output: [UInt8] = []
  /// The packets held back, in order of time.
  private var pending: [Pending] = []
  private var latest = Instant.zero
  /// The octets of the packets in `pending`.
  private var heldCount = 0
  private var interfaces: [(name: String, linkType: LinkType)] = []
  private let secrets: CaptureSecrets
  /// The searches for keys, by interface; empty if keys are written as they are.
  private var keyFinders: [Interface: KeyFinder] = [:]
  private var nextRecord: UInt64 = 0
  /// The numbers of dropped packets, by interface.
  private var dropped: [Interface: UInt64] = [:]
  /// The number of packets dropped since the last packet was written.
  package private(set) var newlyDropped = 0

  /// Creates a capture whose first interface, named "air", takes the packets on the air.
  package init(_ secrets: CaptureSecrets = .none) {
    self.secrets = secrets
    appendSectionHeader()
    _ = addInterface(name: "air", linkType: .lowEnergyLinkLayer)
  }

  /// The approximate number of octets that have not been taken, including the packets held back.
  package var pendingCount: Int { output.count + heldCount }

  /// Adds an interface; allowed at any time.
  package mutating func addInterface(name: String, linkType: LinkType) -> Interface {
    let interface = Interface(number: UInt32(interfaces.count))
    interfaces.append((name, linkType))
    if !secrets.showsKeys { keyFinders[interface] = KeyFinder() }
    PcapngBlock.appendInterface(name: name, linkType: linkType, to: &output)
    return interface
  }

  /// Replaces the octets that have not been taken by a new section with all interfaces: the octets taken from now on
  /// form a complete file, which includes the packets held back.
  package mutating func beginSection() {
    output = []
    appendSectionHeader()
    for (name, linkType) in interfaces { PcapngBlock.appendInterface(name: name, linkType: linkType, to: &output) }
  }

  private mutating func appendSectionHeader() {
    PcapngBlock.appendSectionHeader(application: "swift-corebluetooth", to: &output)
  }

  /// Adds a packet that was sent on the air, once, regardless of the number of receivers. If the capture decrypts the
  /// air, the packet is written as it was before encryption.
  ///
  /// - Parameters:
  ///   - crc: the CRC as sent, 24 bits; its least significant octet is the first on the air.
  ///   - power: the transmit power, dBm.
  ///   - start: the start of the preamble.
  ///   - comments: the result at each receiver, and other remarks.
  @discardableResult
  package mutating func airPacket(
    _ packet: AirPacket, crc: UInt32, channel: RadioChannel, modulation: Modulation, power: Decibel, start: Instant,
    direction: AirDirection = .unspecified, comments: [String] = []
  ) -> Record {
    var data: [UInt8] = []
    // Pseudo-header 10, access address 4, Coding Indicator 1, header 2, CRC 3.
    data.reserveCapacity(20 + packet.payload.count)
    let plain = secrets.decryptsAir ? packet.decrypted : nil
    LinkLayerPseudoHeader.append(
      plain ?? packet, crc: plain?.crc ?? crc, isDecrypted: plain != nil, channel: channel, modulation: modulation,
      power: power, direction: direction, to: &data)
    return enqueue(data, on: Self.air, at: start, comments: comments)
  }

  /// Adds a packet between a host and its controller. All packets must be added in order, because a key may span
  /// several fragments. `comments` name the app's calls that caused the packet.
  @discardableResult
  package mutating func hciPacket(
    _ packet: HCI.Packet, on interface: Interface, isFromHost: Bool, at time: Instant, comments: [String] = []
  ) -> Record {
    var data: [UInt8] = []
    // The direction of LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR: 0 is sent by the host, 1 received by it.
    data.append(bigEndian: isFromHost ? UInt32(0) : 1)
    data.append(h4: packet, without: keyFinders[interface]?.keys(in: packet, isFromHost: isFromHost))
    return enqueue(data, on: interface, at: time, comments: comments)
  }

  /// Adds a comment to a packet, for example the callback that it caused. Returns false if the packet has been written
  /// or dropped already.
  @discardableResult
  package mutating func add(comment: String, to record: Record) -> Bool {
    guard let index = pending.lastIndex(where: { $0.record == record }) else { return false }
    pending[index].comments.append(comment)
    return true
  }

  /// Removes and returns the octets of all packets that no future packet can precede in time. They continue the octets
  /// returned by the previous call.
  package mutating func takeBytes() -> [UInt8] {
    release(until: latest - Self.reorderingTime)
    defer { output = [] }
    return output
  }

  /// Removes and returns all remaining octets, with statistics of the interfaces that have dropped packets.
  package mutating func finish() -> [UInt8] {
    release(until: .distantFuture)
    for (interface, count) in dropped.sorted(by: { $0.key.number < $1.key.number }) {
      PcapngBlock.appendStatistics(
        interface: interface.number, nanoseconds: UInt64(clamping: latest.nanoseconds), dropped: count, to: &output)
    }
    defer { output = [] }
    return output
  }

  /// Drops the packets that `takeBytes` would write, because there is no room for them. Interfaces are kept. A comment
  /// of the next packet states the number of missing packets.
  ///
  /// - Parameter all: true to drop the packets held back for reordering, too.
  package mutating func dropPackets(all: Bool = false) {
    let end = all ? pending.count : dueCount(before: latest - Self.reorderingTime)
    for packet in pending[..<end] {
      heldCount -= packet.data.count
      dropped[packet.interface, default: 0] += 1
    }
    pending.removeSubrange(..<end)
    newlyDropped += end
  }

  private mutating func enqueue(
    _ data: [UInt8], on interface: Interface, at time: Instant, comments: [String]
  ) -> Record {
    let record = Record(number: nextRecord)
    nextRecord += 1
    latest = max(latest, time)
    heldCount += data.count
    let later = pending.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
    pending.insert(
      Pending(record: record, time: time, interface: interface, data: data, comments: comments), at: later)
    return record
  }

  private func dueCount(before limit: Instant) -> Int { pending.firstIndex { $0.time >= limit } ?? pending.count }

  private mutating func release(until limit: Instant) {
    let end = dueCount(before: limit)
    if end > 0, newlyDropped > 0 {
      pending[0].comments.append("not captured: \(newlyDropped) packets before this one")
      newlyDropped = 0
    }
    for packet in pending[..<end] {
      PcapngBlock.appendPacket(
        interface: packet.interface.number, nanoseconds: UInt64(clamping: packet.time.nanoseconds), data: packet.data,
        comments: packet.comments, to: &output)
      heldCount -= packet.data.count
    }
    pending.removeSubrange(..<end)
  }
}

extension AirPacket {
  /// The packet as it was before encryption; nil if it was not encrypted.
  fileprivate var decrypted: AirPacket? {
    guard let plainPayload else { return nil }
    var result = self
    result.payload = plainPayload
    result.header = header & 0x00FF | UInt16(plainPayload.count) << 8
    result.plainPayload = nil
    return result
  }
}
