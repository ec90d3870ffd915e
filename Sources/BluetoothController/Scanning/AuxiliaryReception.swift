import BluetoothWire

/// One extended advertising event that a scanner or an initiator follows, packet by packet · Vol 6, Part B, 4.4.3,
/// 4.4.4.
struct AuxiliaryReception {
  enum Phase {
    /// The device waits or listens for AUX_ADV_IND.
    case advertisement
    /// The device waits or listens for AUX_CHAIN_IND.
    case chain
    case beforeScanRequest
    case requesting
    case awaitingScanResponse
    case beforeConnectRequest(ConnectExchange)
    case connecting(ConnectExchange)
    case awaitingConnectResponse(ConnectExchange)
  }

  var phase = Phase.advertisement
  /// The window of the next packet.
  var window: AuxiliaryWindow
  /// True if a packet was announced that has not arrived yet.
  var isExpecting = true
  var event: ExtendedEvent

  /// True if AUX_CONNECT_REQ is being sent, or was sent and its response is awaited.
  var isConnecting: Bool {
    switch phase {
    case .connecting, .awaitingConnectResponse: true
    default: false
    }
  }

  init(_ event: ExtendedEvent, in window: AuxiliaryWindow) {
    self.event = event
    self.window = window
  }
}

/// The extended advertising events that are being followed. Their number is limited because an advertiser can send
/// any number of pointers.
///
/// A `SlotMap` would not be simpler: an index needs no generation, because the activity with the index is removed with
/// the reception, and a vacant slot is found in the search for an equal window.
struct AuxiliaryReceptions {
  static let capacity = 8

  private var slots: [(activityID: RadioScheduler.ActivityID, reception: AuxiliaryReception)?] = []
  /// The number of consecutive packets for which the radio was not free.
  var losses = 0

  var indices: Range<Int> { slots.indices }

  /// True if AUX_CONNECT_REQ is being sent, or was sent and its response is awaited.
  var isConnecting: Bool { slots.contains { $0?.reception.isConnecting == true } }

  func activityID(_ index: Int) -> RadioScheduler.ActivityID? {
    slots.indices.contains(index) ? slots[index]?.activityID : nil
  }

  /// The reception with this index; nil: none. Assignments to an index without a reception are ignored.
  subscript(index: Int) -> AuxiliaryReception? {
    get { slots.indices.contains(index) ? slots[index]?.reception : nil }
    set {
      guard slots.indices.contains(index), let newValue else { return }
      slots[index]?.reception = newValue
    }
  }

  /// Follows another event, unless the controller follows it already or follows too many.
  mutating func add(_ reception: AuxiliaryReception, scheduler: inout RadioScheduler) {
    var vacant: Int?
    for index in slots.indices {
      guard let other = slots[index]?.reception else {
        vacant = index
        continue
      }
      if other.isExpecting, other.window.isSame(as: reception.window) { return }
    }
    guard vacant != nil || slots.count < Self.capacity else { return }
    let index = vacant ?? slots.count
    let activityID = scheduler.add(.auxiliaryReception(index))
    if vacant == nil { slots.append((activityID, reception)) } else { slots[index] = (activityID, reception) }
    scheduler[activityID] = reception.window.timeslot(losses: losses)
  }

  mutating func remove(_ index: Int, scheduler: inout RadioScheduler) {
    guard let activityID = activityID(index) else { return }
    scheduler.remove(activityID)
    slots[index] = nil
  }

  mutating func removeAll() { slots.removeAll() }
}
