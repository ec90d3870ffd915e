import BluetoothTransport
import BluetoothWire

/// Fuzzes octets from a three-wire UART, in arbitrary portions.
///
/// The first octet selects the side, the state of the link at the beginning and the length of the portions. The events,
/// and the octets that the link sends, must not depend on the portions.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzH5Framing(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let octets = Array(UnsafeBufferPointer(start: start, count: count))
  let stream = octets.dropFirst()
  let whole = result(stream, in: stream.count, octets[0])
  precondition(whole == result(stream, in: 1 + Int(octets[0] >> 2) % 40, octets[0]), "it depends on the portions")
  for case .packet(let kind, let payload) in whole.events {
    let packet = ThreeWirePacket(kind, payload, sequence: 1, acknowledgment: 2, hasIntegrityCheck: true)
    if ThreeWirePacket(octets: packet.octets) != packet {
      // Only types that may be unreliable pass without a sequence number.
      precondition(ThreeWirePacket(octets: ThreeWirePacket(kind, payload).octets) != nil, "what is written is not read")
    }
  }
  return 0
}

private struct Result: Equatable {
  var events: [ThreeWireLink.Event] = []
  var octets: [UInt8] = []
}

private func result(_ stream: ArraySlice<UInt8>, in portion: Int, _ mode: UInt8) -> Result {
  let side: H4Decoder.Side = mode & 1 == 0 ? .host : .controller
  var link = ThreeWireLink(for: side)
  link.start(at: .zero)
  if mode & 2 != 0 { establish(&link, side) }
  for number in 0..<9 as Range<UInt8> { link.send(.acl, [number], at: .zero) }
  var result = Result()
  var rest = stream
  while !rest.isEmpty {
    link.receive(rest.prefix(portion), at: .zero)
    rest = rest.dropFirst(portion)
    while let event = link.takeEvent() { result.events.append(event) }
    precondition(link.keptCount <= 4_101, "more than a packet is kept")
    precondition(link.unacknowledgedCount <= Int(link.agreed.windowSize), "the window is exceeded")
  }
  result.octets = link.takeOctets()
  // A link that waits has a deadline, and each of them leads to octets.
  var now = Instant.zero
  for _ in 0..<8 {
    guard let deadline = link.deadline else {
      let isIdle = link.state == .active && link.unacknowledgedCount == 0 && link.queuedCount == 0
      precondition(isIdle, "the link stands still")
      break
    }
    precondition(deadline >= now, "time runs backwards")
    now = deadline
    link.timeReached(now)
    precondition(!link.takeOctets().isEmpty, "nothing is sent at a deadline")
  }
  return result
}

/// Lets the link exchange the messages of link establishment with another end.
private func establish(_ link: inout ThreeWireLink, _ side: H4Decoder.Side) {
  var other = ThreeWireLink(for: side == .host ? .controller : .host)
  other.start(at: .zero)
  for _ in 0..<4 {
    other.receive(link.takeOctets(), at: .zero)
    link.receive(other.takeOctets(), at: .zero)
  }
  precondition(link.state == .active, "the link is not established")
}
