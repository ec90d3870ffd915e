import BluetoothHost
import BluetoothWire
import FuzzSupport

/// Fuzzes channels: two conforming hosts with unexpected octets between their frames, and a third host whose peer sends
/// arbitrary frames on the channels that it has opened.
///
/// The first octets are the limits of the channels. Each step that follows begins with an octet whose low three bits
/// select the action: 0 and 1 an SDU from either side; 2 and 3 packets arrive; 4 SDUs are acknowledged; 5 a frame on a
/// channel that does not exist, or an unexpected response, arrives at either side; 6 a frame, and 7 credits, for the
/// third host. The data of the two conforming hosts arrives once, in order and unchanged.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCreditChannels(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = FuzzInput(start, count: count)
  var pair = FuzzPair(
    ChannelSettings(
      mtu: input.number() & 0x0FFF, mps: UInt16(input.octet()) + 64, credits: UInt16(input.octet() & 0x1F)),
    isEnhanced: input.octet() & 1 == 0)
  var third = FuzzChannelHost(.peripheral, 3)
  _ = third.perform { host, _ in host.publishChannel(ChannelSettings(mtu: 300, mps: 100, credits: 8)) }
  open(&third)
  while !input.isEmpty {
    let step = input.octet()
    let more = Int(step >> 3)
    switch step & 7 {
    case 0, 1: pair.send(step & 1 == 0, length: Int(input.number()))
    case 2, 3: pair.deliver(step & 1 == 0, more)
    case 4:
      pair.acknowledge()
      third.acknowledgeAll()
      third.completeAll()
    case 5: pair.disturb(more & 1 == 0, input.slice(more))
    case 6:
      let id = L2CAP.ChannelID(rawValue: 0x40 + UInt16(input.octet() & 0x3F))
      third.receive(input.slice(more * 8), on: id)
    default:
      var octets: [UInt8] = [0x16, 1, 4, 0, 0x41 + UInt8(more & 3), 0]
      octets += [input.octet(), input.octet()]
      third.receive(ByteSlice(octets), on: .signalling)
      if third.open.isEmpty { open(&third) }
    }
    let open = third.open
    precondition(third.sdus.count { open.contains($0.channel) } <= open.count * 8, "more SDUs than credits")
  }
  pair.expectComplete()
  third.expectSound()
  return 0
}

/// Opens three channels as the peer.
private func open(_ host: inout FuzzChannelHost) {
  host.completeAll()
  for number in UInt8(0)..<3 {
    host.receive([0x14, 1, 10, 0, 0x80, 0, 0x41 + number, 0, 100, 0, 64, 0, 5, 0], on: .signalling)
    host.completeAll()
  }
}

/// Two hosts with a channel between them.
private struct FuzzPair {
  private var sides = [FuzzChannelHost(.central, 1), FuzzChannelHost(.peripheral, 2)]
  private var ids: [L2CAP.ChannelID] = []
  private let limit: Int
  /// The SDUs that each side has sent and the other has not received.
  private var onTheirWay: [[ByteSlice]] = [[], []]
  /// The number of unacknowledged SDUs that were already compared, for each side.
  private var seen = [0, 0]
  private var serial: UInt8 = 0

  init(_ settings: ChannelSettings, isEnhanced: Bool) {
    limit = Int(settings.mtu)
    _ = sides[1].perform { host, _ in host.publishChannel(settings) }
    let handle = sides[0].handle
    sides[0].perform { host, now in
      host.openChannels(
        spsm: 0x0080, isEnhanced: isEnhanced, settings, token: ChannelToken(rawValue: 1), on: handle, at: now)
    }
    settle()
    ids = sides.compactMap(\.open.first)
    precondition(ids.count == 2, "no channel")
  }

  mutating func send(_ isFirst: Bool, length: Int) {
    let side = isFirst ? 0 : 1
    serial &+= 1
    let sdu = ByteSlice((0...length % limit).map { [serial] in UInt8(truncatingIfNeeded: $0) &+ serial })
    let (id, handle) = (ids[side], sides[side].handle)
    let isTaken = sides[side].perform { host, now in host.sendOnChannel(sdu, id, on: handle, at: now) }
    if isTaken { onTheirWay[side].append(sdu) }
  }

  mutating func deliver(_ isFirst: Bool, _ count: Int) {
    let side = isFirst ? 0 : 1
    var number = 0
    // Frames are delivered completely: a packet between the fragments of a frame would lose the frame.
    while number <= count || sides[side].data.first?.boundary == .continuing {
      guard let packet = sides[side].complete() else { break }
      sides[1 - side].receive(packet.payload, packet.boundary == .continuing ? .continuing : .firstFlushable)
      number += 1
    }
    take()
  }

  /// Delivers a packet without relation to the channel between two frames.
  mutating func disturb(_ isFirst: Bool, _ octets: ByteSlice) {
    let side = isFirst ? 0 : 1
    if octets.count & 1 == 0 {
      sides[side].receive(octets, on: L2CAP.ChannelID(rawValue: 0x0070))
    } else {
      // A Command Reject or a response with the identifier 0xFD, which regular requests reach only late.
      var answer: [UInt8] = [[0x01, 0x07, 0x15, 0x18, 0x1A][Int(octets[0]) % 5], 0xFD, UInt8(octets.count), 0]
      answer += octets.bytes
      sides[side].receive(ByteSlice(answer), on: .signalling)
    }
  }

  mutating func acknowledge() {
    for side in 0..<2 { sides[side].acknowledgeAll() }
    seen = [0, 0]
  }

  private mutating func take() {
    for side in 0..<2 {
      // The SDUs are acknowledged later.
      while seen[side] < sides[side].sdus.count {
        precondition(!onTheirWay[1 - side].isEmpty, "an SDU that nobody has sent")
        let sent = onTheirWay[1 - side].removeFirst()
        precondition(sides[side].sdus[seen[side]].octets == sent, "an SDU is not what was sent")
        seen[side] += 1
      }
    }
  }

  private mutating func settle() {
    repeat {
      for side in 0..<2 { deliver(side == 0, 1_000) }
    } while sides.contains { !$0.data.isEmpty }
  }

  mutating func expectComplete() {
    var rounds = 0
    while !onTheirWay[0].isEmpty || !onTheirWay[1].isEmpty {
      settle()
      acknowledge()
      rounds += 1
      precondition(rounds < 1_000, "SDUs do not arrive")
    }
    for side in 0..<2 {
      precondition(sides[side].open == [ids[side]], "a channel has ended")
      sides[side].expectSound()
    }
  }
}
