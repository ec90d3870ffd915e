import BluetoothHost
import BluetoothWire
import Testing

extension HostHarness {
  mutating func send(
    _ sdu: ByteSlice, _ channel: L2CAP.ChannelID, _ handle: HCI.ConnectionHandle, isTaken: Bool = true
  ) {
    let wasTaken = sendOnChannel(sdu, channel, handle)
    #expect(wasTaken == isTaken)
  }

  mutating func sendOnChannel(_ sdu: ByteSlice, _ channel: L2CAP.ChannelID, _ handle: HCI.ConnectionHandle) -> Bool {
    defer { run() }
    return host.sendOnChannel(sdu, channel, on: handle, at: now)
  }

  var channelEvents: [ChannelEvent] {
    events.compactMap { if case .channel(_, let event) = $0 { event } else { nil } }
  }
  var sdus: [[UInt8]] {
    channelEvents.compactMap { if case .received(_, let sdu) = $0 { sdu.bytes } else { nil } }
  }
  var closed: [L2CAP.ChannelID] {
    channelEvents.compactMap { if case .closed(let id, _) = $0 { id } else { nil } }
  }
}
