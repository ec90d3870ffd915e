import BluetoothController
import BluetoothWire

/// The records of the hosts of a crowd, and the invariants at the end.
final class CrowdNotes {
  /// The data that one end of one link sends.
  struct Stream {
    /// True if a fault between host and controller may have changed the data.
    var isSpoiled: Bool
    var sent = 0
    /// The packets that the controller has reported as received by the peer.
    var completed = 0
    var received = 0
  }

  private(set) var complaints: [String] = []
  /// The count of completed actions of each kind: a crowd without actions proves nothing.
  private(set) var actions: [String: Int] = [:]
  var streams: [Stream] = []
  /// The addresses of hosts with faults, whose data is not checked.
  var spoiledAddresses: Set<UInt64> = []
  /// Groups of hosts that know each other, in the order of their numbers.
  private var circles: [[CrowdHost.Acquaintance]] = []
  /// The addresses of a link's ends on the air, as the end that reported the link first gave them.
  private var addresses: [UInt32: CrowdHost.AddressPair] = [:]

  func complain(_ text: String, at now: Instant) {
    if complaints.count < 50 { complaints.append("\(now.sinceZero.duration) \(text)") }
  }

  func done(_ action: String) { actions[action, default: 0] += 1 }

  func openStream(isSpoiled: Bool) -> Int {
    streams.append(Stream(isSpoiled: isSpoiled))
    return streams.count - 1
  }

  // MARK: Identities

  private static let circleSize = 10

  /// Adds a host. Hosts must come in the order of their numbers.
  func introduce(_ number: Int, _ host: CrowdHost.Acquaintance) {
    if number % Self.circleSize == 0 { circles.append([]) }
    circles[number / Self.circleSize].append(host)
  }

  /// Returns the other hosts that a host knows.
  func circle(of number: Int) -> [CrowdHost.Acquaintance] {
    var circle = circles[number / Self.circleSize]
    circle.remove(at: number % Self.circleSize)
    return circle
  }

  /// Checks that both ends of a link report the same addresses.
  func checkAddresses(_ pair: CrowdHost.AddressPair, of accessAddress: UInt32, at now: Instant) {
    guard let other = addresses.updateValue(pair, forKey: accessAddress) else { return }
    done("link with both ends' addresses")
    if other != pair { complain("the ends of a link are called \(pair) and \(other)", at: now) }
  }

  // MARK: Final checks

  /// Checks that acknowledged data has arrived, and that no other data has.
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

  /// Checks that the counters of both ends of each link agree.
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

/// A frame of a stream. Stream and number determine its octets, so that every wrong octet is detected.
struct CrowdFrame: Equatable {
  var stream: UInt16
  var number: UInt32

  private static let header = 10

  /// The octets of the L2CAP frame · Vol 3, Part A, 3.1.
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

  /// Returns nil if the octets are not a complete and correct frame.
  init?(octets: [UInt8]) {
    guard octets.count >= Self.header else { return nil }
    func value(_ range: Range<Int>) -> Int { octets[range].reversed().reduce(0) { $0 << 8 | Int($1) } }
    self.init(stream: value(4..<6), number: value(6..<10))
    guard self.octets == octets else { return nil }
  }

  /// Returns the length of the frame that starts with these octets; nil: too few octets.
  static func length(ofFrameBeginning octets: [UInt8]) -> Int? {
    octets.count < 2 ? nil : 4 + Int(octets[0]) + Int(octets[1]) << 8
  }
}
