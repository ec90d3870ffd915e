import BluetoothWire
import DequeModule

/// The output to the host: the packet queue, the event masks and flow control.
struct HCIEventQueue {
  private(set) var packets: Deque<HCI.Packet> = []
  var eventMask = HCI.EventMask.initial
  var eventMaskPage2 = HCI.EventMaskPage2()
  var leEventMask = HCI.LEEventMask.initial
  let pool: PacketPool
  /// The observer that receives the keys of encrypted sessions; nil: none. It is not part of the host's settings, so
  /// a reset keeps it.
  var sessions: (any SessionObserver)?
  /// Controller-to-host flow control; nil: the host accepts all packets.
  private var flow: HostFlowControl?
  /// True if the controller has LE Enhanced Connection Complete, which came with privacy.
  private let hasEnhancedConnectionComplete: Bool

  init(features: HCI.LEFeatures, pool: PacketPool) {
    self.pool = pool
    hasEnhancedConnectionComplete = HCI.events.leEnhancedConnectionComplete.isPossible(with: features)
  }

  /// True if the host has taken all packets.
  var isEmpty: Bool { packets.isEmpty }

  mutating func takePacket() -> HCI.Packet? { packets.popFirst() }

  /// Restores the state after power on and drops the packets that the host has not taken.
  mutating func reset() {
    packets.removeAll(keepingCapacity: true)
    eventMask = .initial
    eventMaskPage2 = []
    leEventMask = .initial
    flow = nil
    heldLinks = []
  }

  /// The shortest maximum ACL packet length that a host may set · Vol 4, Part E, 7.3.39.
  private static let minimumLength = 27

  /// The number of untaken packets from which on the controller does not acknowledge the peer's data: the link layer's
  /// flow control · Vol 6, Part B, 4.5.9. Hosts in the same process take every packet at once.
  private static let mostUntaken = 64

  /// The links whose data the host does not accept now. Only a host in the same process can set them; HCI has no such
  /// command.
  var heldLinks: [HCI.ConnectionHandle] = []

  /// True if the controller can take another data PDU of the peer on this link.
  func hasRoom(for link: HCI.ConnectionHandle) -> Bool {
    packets.count < Self.mostUntaken && flow?.hasRoom ?? true && (heldLinks.isEmpty || !heldLinks.contains(link))
  }

  /// Executes Set Controller To Host Flow Control, which is allowed only while no connection exists.
  mutating func setFlowControl(_ mode: HCI.FlowControl, isConnected: Bool) -> HCI.ErrorCode {
    // Low Energy has no synchronous data.
    guard mode == .off || mode == .acl else { return .unsupportedFeatureOrParameterValue }
    guard !isConnected else { return .commandDisallowed }
    setFlowControl { $0.isOn = mode == .acl }
    return .success
  }

  /// Executes Host Buffer Size.
  mutating func setBuffers(_ size: HCI.BufferSize) -> HCI.ErrorCode {
    guard size.aclLength >= Self.minimumLength, size.aclCount > 0 else { return .invalidHCICommandParameters }
    setFlowControl {
      $0.maximumLength = Int(size.aclLength)
      $0.bufferCount = Int(size.aclCount)
    }
    return .success
  }

  private mutating func setFlowControl(_ change: (inout HostFlowControl) -> Void) {
    var flow = flow ?? HostFlowControl()
    change(&flow)
    self.flow = flow
    sendWaiting()
  }

  /// Executes Host Number Of Completed Packets; returns false if the command is invalid.
  mutating func hostCompleted(_ completed: HCI.CompletedPackets) -> Bool {
    // Packets are counted only under flow control.
    guard flow?.isOn == true else { return true }
    guard flow?.complete(completed) == true else { return false }
    sendWaiting()
    return true
  }

  private mutating func sendWaiting() {
    while let data = flow?.next() { packets.append(.acl(data)) }
  }

  /// Sends an event if the host has not masked it · Vol 4, Part E, 7.3.1, 7.3.69, 7.8.1. If the host has enabled both
  /// versions of an event, the controller sends the later version.
  mutating func send(_ event: HCI.Event) {
    if case .encryptionChange(let status, let handle, let enabled) = event,
      eventMaskPage2.contains(.encryptionChangeV2)
    {
      return append(.encryptionChangeV2(status, handle, enabled: enabled, keySize: Self.keySize))
    }
    if case .disconnectionComplete(_, let handle, _) = event, flow != nil {
      flow?.forget(handle)
      sendWaiting()
    }
    let (kind, packet) = event.encoded(in: pool)
    if wants(kind) { packets.append(packet) }
  }

  /// Reports a new connection, or a failed attempt, in the form that the host has enabled · 7.7.65.1, 7.7.65.10.
  mutating func send(_ complete: HCI.ConnectionComplete) {
    if hasEnhancedConnectionComplete && wants(.enhancedConnectionComplete) {
      append(.leEnhancedConnectionComplete(complete))
    } else {
      send(.leConnectionComplete(complete))
    }
  }

  mutating func send(_ data: HCI.ACLData) {
    guard flow != nil else {
      packets.append(.acl(data))
      return
    }
    flow?.append(data)
    sendWaiting()
  }

  /// The size of LE encryption keys in the controller, octets: the host pads shortened keys with zeros to 16 octets.
  private static let keySize: UInt8 = 16

  private mutating func append(_ event: HCI.Event) { packets.append(event.packet(in: pool)) }

  /// True if the host has enabled the LE meta event.
  func wants(_ event: HCI.LEEventMask) -> Bool { eventMask.contains(.leMeta) && leEventMask.contains(event) }

  private func wants(_ kind: HCI.EventKind) -> Bool {
    switch kind.mask {
    case nil: return true
    case .page1(let bit): return eventMask.contains(bit)
    case .page2(let bit): return eventMaskPage2.contains(bit)
    case .le(let bit): return wants(bit)
    }
  }
}
