import BluetoothWire

/// One extended advertising event that a scanner or an initiator follows, packet by packet · Vol 6, Part B, 4.4.3, 4.4.4.
struct AuxiliaryReception {
  enum Phase {
    /// AUX_ADV_IND is to come, or is being listened for.
    case advertisement
    /// AUX_CHAIN_IND is to come, or is being listened for.
    case chain
    case beforeScanRequest
    case requesting
    case awaitingScanResponse
    case beforeConnectRequest(ConnectExchange)
    case connecting(ConnectExchange)
    case awaitingConnectResponse(ConnectExchange)
  }

  var phase = Phase.advertisement
  /// Of the packet that is to come.
  var window: AuxiliaryWindow
  /// A packet was announced that has not come yet.
  var isExpecting = true
  var event: ExtendedEvent

  /// Whether AUX_CONNECT_REQ is on its way, or has come and may be answered.
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

/// The events that are being followed. Their number is bounded: pointers cost an advertiser nothing.
struct AuxiliaryReceptions {
  static let capacity = 8

  private var slots: [(place: RadioAgenda.Place, reception: AuxiliaryReception)?] = []
  /// How often in a row the radio was not free for a packet.
  var losses = 0

  var indices: Range<Int> { slots.indices }

  func place(_ index: Int) -> RadioAgenda.Place? { slots.indices.contains(index) ? slots[index]?.place : nil }

  /// The reception with this number, which the caller knows to exist.
  subscript(index: Int) -> AuxiliaryReception? {
    get { slots.indices.contains(index) ? slots[index]?.reception : nil }
    set {
      guard slots.indices.contains(index), let newValue else { return }
      slots[index]?.reception = newValue
    }
  }

  /// Follows another event, unless it is followed already or there are too many.
  mutating func add(_ reception: AuxiliaryReception, agenda: inout RadioAgenda) {
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
    let place = agenda.add(.auxiliaryReception(index))
    if vacant == nil { slots.append((place, reception)) } else { slots[index] = (place, reception) }
    agenda[place] = reception.window.claim(losses: losses)
  }

  mutating func remove(_ index: Int, agenda: inout RadioAgenda) {
    guard let place = place(index) else { return }
    agenda.remove(place)
    slots[index] = nil
  }

  mutating func removeAll() { slots.removeAll() }
}
