import BluetoothWire
import DequeModule

/// What goes to the host: the queue, and what the host has said that it wants.
struct HostOutput {
  private(set) var packets: Deque<HCI.Packet> = []
  var eventMask = HCI.EventMask.initial
  var eventMaskPage2: HCI.EventMaskPage2 = []
  var leEventMask = HCI.LEEventMask.initial
  let pool: PacketPool

  init(pool: PacketPool) { self.pool = pool }

  mutating func takePacket() -> HCI.Packet? { packets.popFirst() }

  /// Back to the state after power on; what the host has not taken is dropped.
  mutating func reset() {
    packets.removeAll(keepingCapacity: true)
    eventMask = .initial
    eventMaskPage2 = []
    leEventMask = .initial
  }

  /// Sends an event if the host has not masked it · Vol 4, Part E, 7.3.1, 7.8.1.
  mutating func send(_ event: HCI.Event) {
    guard wants(event) else { return }
    packets.append(event.packet(in: pool))
  }

  /// Tells of a new connection, or of an attempt that has failed, in the form that the host wants · 7.7.65.1, 7.7.65.10.
  mutating func send(_ complete: HCI.ConnectionComplete) {
    send(wants(.enhancedConnectionComplete) ? .leEnhancedConnectionComplete(complete) : .leConnectionComplete(complete))
  }

  mutating func send(_ data: HCI.ACLData) { packets.append(.acl(data)) }

  private func wants(_ event: HCI.Event) -> Bool {
    switch event {
    case .commandComplete, .commandStatus, .numberOfCompletedPackets: true
    case .disconnectionComplete: eventMask.contains(.disconnectionComplete)
    case .hardwareError: eventMask.contains(.hardwareError)
    case .readRemoteVersionInformationComplete: eventMask.contains(.readRemoteVersionInformationComplete)
    case .encryptionChange: eventMask.contains(.encryptionChange)
    case .encryptionKeyRefreshComplete: eventMask.contains(.encryptionKeyRefreshComplete)
    case .authenticatedPayloadTimeoutExpired: eventMaskPage2.contains(.authenticatedPayloadTimeoutExpired)
    case .dataBufferOverflow: eventMask.contains(.dataBufferOverflow)
    case .leLongTermKeyRequest: wants(.longTermKeyRequest)
    case .leConnectionComplete: wants(.connectionComplete)
    case .leAdvertisingReport: wants(.advertisingReport)
    case .leConnectionUpdateComplete: wants(.connectionUpdateComplete)
    case .leReadRemoteFeaturesComplete: wants(.readRemoteFeaturesComplete)
    case .leRemoteConnectionParameterRequest: wants(.remoteConnectionParameterRequest)
    case .leDataLengthChange: wants(.dataLengthChange)
    case .lePHYUpdateComplete: wants(.phyUpdateComplete)
    case .leRequestPeerSCAComplete: wants(.requestPeerSCAComplete)
    case .leChannelSelectionAlgorithm: wants(.channelSelectionAlgorithm)
    case .leEnhancedConnectionComplete: wants(.enhancedConnectionComplete)
    case .leDirectedAdvertisingReport: wants(.directedAdvertisingReport)
    case .leExtendedAdvertisingReport: wants(.extendedAdvertisingReport)
    case .leScanTimeout: wants(.scanTimeout)
    default: false
    }
  }

  /// Whether the host wants the LE meta event.
  func wants(_ event: HCI.LEEventMask) -> Bool { eventMask.contains(.leMeta) && leEventMask.contains(event) }
}
