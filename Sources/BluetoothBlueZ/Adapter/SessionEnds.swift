import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore

/// The client's end of a session for the service: hands its events to the event loop of the service, in order.
final class SessionEnd<Event: Sendable, Role: SessionRole>: Sendable {
  private struct State {
    weak var session: Session<Role>?
    var isAttached = false
  }

  private let loop: any EventLoop
  private let handler: @Sendable (Event) -> Void
  private let state = NIOLockedValueBox(State())

  /// - Parameter handler: called on the loop.
  init(on loop: any EventLoop, _ handler: @escaping @Sendable (Event) -> Void) {
    self.loop = loop
    self.handler = handler
  }

  /// Sets the session, on the loop. An event that comes earlier waits for it.
  func attach(_ session: Session<Role>) {
    state.withLockedValue { state in
      state.session = session
      state.isAttached = true
    }
  }

  /// - Parameter copied: returns the event with octets that outlive the call.
  fileprivate func pass(_ event: Event, isState: Bool, copied: (Event) -> Event) {
    let (session, isAttached) = state.withLockedValue { ($0.session, $0.isAttached) }
    // On one thread with the adapter, an event needs neither a copy nor another task.
    guard !loop.inEventLoop || !isAttached else {
      if isState { session?.noteStateSeen() }
      return handler(event)
    }
    let event = copied(event)
    session?.eventQueued()
    loop.execute { [self] in
      // The session is attached by now. The daemon drops all commands of a session that has not counted each state.
      if isState { state.withLockedValue { $0.session }?.noteStateSeen() }
      handler(event)
      session?.eventHandled()
    }
  }
}

extension SessionEnd: CentralClient where Event == CentralEvent, Role == CentralRole {
  var queuesEvents: Bool { true }

  func receive(_ event: CentralEvent) {
    let isState = if case .stateChanged = event { true } else { false }
    pass(event, isState: isState) { event in
      switch event {
      case .packetReceived(var packet):
        packet.report.data = ByteSlice(packet.report.data.bytes)
        return .packetReceived(packet)
      case .valueRead(let peer, let attribute, .success(let value)):
        return .valueRead(peer, attribute, .success(ByteSlice(value.bytes)))
      case .valueChanged(let peer, let attribute, let value):
        return .valueChanged(peer, attribute, ByteSlice(value.bytes))
      // The service starts no scan whose reports have other octets.
      default: return event.withoutOctets
      }
    }
  }
}

extension SessionEnd: PeripheralClient where Event == PeripheralEvent, Role == PeripheralRole {
  var queuesEvents: Bool { true }

  func receive(_ event: PeripheralEvent) {
    let isState = if case .stateChanged = event { true } else { false }
    pass(event, isState: isState) { event in
      guard case .writeRequested(let request, let central, var writes) = event else { return event }
      for index in writes.indices { writes[index].value = ByteSlice(writes[index].value.bytes) }
      return .writeRequested(request, central, writes)
    }
  }
}
