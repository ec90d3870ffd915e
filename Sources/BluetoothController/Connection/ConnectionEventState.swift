import BluetoothWire

/// The state of the connection event that has the radio.
struct ConnectionEventState {
  /// The channel of the event, which stays the same even if the channel map changes during the event.
  var channel = RadioChannel(0)
  /// The time by which all packets of the event must end.
  var limit = Instant.distantFuture
  /// The time left for a peripheral's next packet; nil: its first packet may be as long as necessary.
  var room: TimeSpan?
  var isFirstPacket = true
  /// The MD bits last sent and received. The MD bit of a corrupt PDU is unknown, so the event continues.
  var sentMoreData = false
  var receivedMoreData = false
  /// True if the last data of the peer were not acknowledged for lack of room · 4.5.9.
  var hasRefusedData = false
  /// The number of consecutive packets with a wrong CRC · Vol 6, Part B, 4.5.6: two close the event.
  var corruptPackets = 0
  var heardPeer = false
  var hasAnswered = false

  /// Returns the longest payload that fits into the time left.
  func longestPayload(_ modulation: Modulation) -> Int {
    guard let room else { return .max }
    let empty = modulation.airTime(payloadOctets: 0)
    let octet = modulation.airTime(payloadOctets: 1) - empty
    return Int((room - empty).nanoseconds / octet.nanoseconds)
  }
}
