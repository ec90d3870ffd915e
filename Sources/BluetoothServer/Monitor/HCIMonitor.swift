import BluetoothCapture
import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothTransport
import BluetoothWire
import NIOConcurrencyHelpers

/// Passes the HCI packets of one adapter, without keys, to the clients that monitor the adapter.
///
/// A client that reads too slowly misses packets; the adapter never waits for a client.
final class HCIMonitor: HCIObserver {
  private struct State {
    var outboxes: [ObjectIdentifier: Outbox] = [:]
    /// Hides the keys. Created with the first client.
    var finder = KeyFinder()
  }

  private let state = NIOLockedValueBox(State())

  /// Adds a client. Returns true if it is the first one, so that the adapter must be observed.
  func add(_ outbox: Outbox) -> Bool {
    state.withLockedValue { state in
      let isFirst = state.outboxes.isEmpty
      // Packets have passed unseen since the last client has gone.
      if isFirst { state.finder = KeyFinder() }
      state.outboxes[ObjectIdentifier(outbox)] = outbox
      return isFirst
    }
  }

  /// Removes a client. Returns true if it was the last one.
  func remove(_ outbox: Outbox) -> Bool {
    state.withLockedValue { state in
      state.outboxes.removeValue(forKey: ObjectIdentifier(outbox)) != nil && state.outboxes.isEmpty
    }
  }

  func packet(_ packet: HCI.Packet, isFromHost: Bool) {
    let (octets, outboxes) = state.withLockedValue { state in
      (state.finder.octets(of: packet, isFromHost: isFromHost), Array(state.outboxes.values))
    }
    let packet = MonitoredPacket(
      time: WallClock.nanosecondsSince1970, isFromHost: isFromHost, octets: ByteSlice(octets))
    for outbox in outboxes { outbox.offer(packet) }
  }
}
