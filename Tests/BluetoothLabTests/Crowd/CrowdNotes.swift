import BluetoothController
import BluetoothWire

/// What the hosts of a crowd write down, and what must hold at the end.
final class CrowdNotes {
  /// The data that one end of one link sends.
  struct Stream {
    /// Whether a fault between host and controller may have changed what it tells.
    var isSpoiled: Bool
    var sent = 0
    /// What the controller has said that the peer has.
    var completed = 0
    var received = 0
  }

  private(set) var complaints: [String] = []
  /// How often each thing was done to its end: a crowd that does nothing proves nothing.
  private(set) var deeds: [String: Int] = [:]
  var streams: [Stream] = []
  /// The addresses of hosts whose words count for nothing.
  var spoiledAddresses: Set<UInt64> = []
  /// Hosts that know each other, in the order of their numbers.
  private var circles: [[CrowdHost.Acquaintance]] = []
  /// What the end of a link that knew of it first says its ends are called on the air.
  private var addresses: [UInt32: CrowdHost.AddressPair] = [:]

  func complain(_ text: String, at now: Instant) {
    if complaints.count < 50 { complaints.append("\(now.sinceZero.duration) \(text)") }
  }

  func done(_ deed: String) { deeds[deed, default: 0] += 1 }

  func openStream(isSpoiled: Bool) -> Int {
    streams.append(Stream(isSpoiled: isSpoiled))
    return streams.count - 1
  }

  // MARK: Who is who

  private static let circleSize = 10

  /// Hosts come in the order of their numbers.
  func introduce(_ number: Int, _ host: CrowdHost.Acquaintance) {
    if number % Self.circleSize == 0 { circles.append([]) }
    circles[number / Self.circleSize].append(host)
  }

  /// The others that a host knows.
  func circle(of number: Int) -> [CrowdHost.Acquaintance] {
    var circle = circles[number / Self.circleSize]
    circle.remove(at: number % Self.circleSize)
    return circle
  }

  /// Both ends of a link must call each other the same.
  func checkAddresses(_ pair: CrowdHost.AddressPair, of accessAddress: UInt32, at now: Instant) {
    guard let other = addresses.updateValue(pair, forKey: accessAddress) else { return }
    done("link with both ends' addresses")
    if other != pair { complain("the ends of a link are called \(pair) and \(other)", at: now) }
  }

  // MARK: At the end

  /// What was acknowledged has arrived, and nothing has that was not sent.
  func checkStreams(at now: Instant) {
    for (number, stream) in streams.enumerated() where !stream.isSpoiled {
      if stream.completed > stream.received {
        complain("stream \(number): \(stream.completed) acknowledged, \(stream.received) received", at: now)
      }
      if stream.received > stream.sent {
        complain("stream \(number): \(stream.sent) sent, \(stream.received) received", at: now)
      }
    }
  }

  /// What one end of a link has counted agrees with what the other one has.
  func checkCounters(of hosts: [CrowdHost], at now: Instant) {
    var ends: [UInt32: [LinkReport]] = [:]
    for host in hosts where !host.isSpoiled {
      for link in host.links { ends[link.accessAddress, default: []].append(link) }
    }
    for pair in ends.values where pair.count == 2 {
      for (sender, receiver) in [(pair[0].statistics, pair[1].statistics), (pair[1].statistics, pair[0].statistics)] {
        done("link with both ends' counters")
        if receiver.received.packets + receiver.crcErrors > sender.sent.packets
          || receiver.received.octets > sender.sent.octets || sender.retransmissions > sender.sent.packets
        {
          complain("the counters of a link do not agree: \(sender) \(receiver)", at: now)
        }
      }
    }
  }
}

/// A frame of a stream: its octets are determined by the stream and the number, so that every wrong one is seen.
struct CrowdFrame: Equatable {
  var stream: UInt16
  var number: UInt32

  private static let header = 10

  /// As an L2CAP frame · Vol 3, Part A, 3.1.
  var octets: [UInt8] {
    let filler = Int((number &* 37 &+ UInt32(stream) &* 11) % 190)
    var result = [UInt8](repeating: 0, count: Self.header + filler)
    result.withUnsafeMutableBytes { buffer in
      buffer.storeBytes(of: UInt16(6 + filler).littleEndian, toByteOffset: 0, as: UInt16.self)
      buffer.storeBytes(of: UInt16(0x0040).littleEndian, toByteOffset: 2, as: UInt16.self)
      buffer.storeBytes(of: stream.littleEndian, toByteOffset: 4, as: UInt16.self)
      buffer.storeBytes(of: number.littleEndian, toByteOffset: 6, as: UInt32.self)
    }
    for index in 0..<filler { result[Self.header + index] = UInt8(truncatingIfNeeded: index &+ Int(number)) }
    return result
  }

  init(stream: Int, number: Int) {
    self.stream = UInt16(truncatingIfNeeded: stream)
    self.number = UInt32(truncatingIfNeeded: number)
  }

  /// nil: the octets are not a whole and right frame.
  init?(octets: [UInt8]) {
    guard octets.count >= Self.header else { return nil }
    func value(_ range: Range<Int>) -> Int { octets[range].reversed().reduce(0) { $0 << 8 | Int($1) } }
    self.init(stream: value(4..<6), number: value(6..<10))
    guard self.octets == octets else { return nil }
  }

  /// How long the whole frame is that begins with these octets; nil: that can't be told yet.
  static func length(ofFrameBeginning octets: [UInt8]) -> Int? {
    octets.count < 2 ? nil : 4 + Int(octets[0]) + Int(octets[1]) << 8
  }
}
