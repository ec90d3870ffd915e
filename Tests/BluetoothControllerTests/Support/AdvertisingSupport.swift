import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

extension HCI.AdvertisingHandle: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: UInt8) { self.init(rawValue: value) }
}

extension HCI.ExtendedAdvertisingParameters {
  /// Returns the parameters of a set that advertises every 100 ms.
  static func every100ms(
    _ handle: HCI.AdvertisingHandle = 1, _ properties: Properties = [],
    change: (inout HCI.ExtendedAdvertisingParameters) -> Void = { _ in }
  ) -> Self {
    var parameters = HCI.ExtendedAdvertisingParameters(
      handle: handle, properties: properties, minimumInterval: 160, maximumInterval: 160, ownAddressType: .public)
    change(&parameters)
    return parameters
  }
}

extension HCI.ExtendedCreateConnection {
  /// Returns a request with LE 1M or LE Coded as the primary PHY.
  static func extended(
    to peer: ControllerHarness, interval: UInt16 = 24, timeout: UInt16 = 200, onCoded isOnCoded: Bool = false
  ) -> Self {
    let initiating = Initiating(
      scanInterval: 48, scanWindow: 48,
      parameters: LinkParameters(
        minimumInterval: interval, maximumInterval: interval, latency: 0, supervisionTimeout: timeout))
    return HCI.ExtendedCreateConnection(
      usesAcceptList: false, ownAddressType: .public, peer: HCI.PeerAddress(peer.address),
      le1M: isOnCoded ? nil : initiating, leCoded: isOnCoded ? initiating : nil)
  }
}

extension ControllerHarness {
  @discardableResult
  func enable(_ handles: HCI.AdvertisingHandle..., duration: UInt16 = 0, maximumEvents: UInt8 = 0) -> HCI.ErrorCode? {
    let elements = handles.map {
      HCI.AdvertisingSetEnables.Element($0, duration: duration, maximumEvents: maximumEvents)
    }
    return send(.leSetExtendedAdvertisingEnable(true, HCI.AdvertisingSetEnables(elements, in: pool)))
  }

  @discardableResult
  func disable(_ handles: HCI.AdvertisingHandle...) -> HCI.ErrorCode? {
    let elements = handles.map { HCI.AdvertisingSetEnables.Element($0) }
    return send(.leSetExtendedAdvertisingEnable(false, HCI.AdvertisingSetEnables(elements, in: pool)))
  }

  /// Sets the data of a set, in as many fragments as necessary.
  @discardableResult
  func setData(_ data: [UInt8], of handle: HCI.AdvertisingHandle = 1) -> HCI.ErrorCode? {
    sendFragments(data) { .leSetExtendedAdvertisingData(handle, $0) }
  }

  @discardableResult
  func setResponse(_ data: [UInt8], of handle: HCI.AdvertisingHandle = 1) -> HCI.ErrorCode? {
    sendFragments(data) { .leSetExtendedScanResponseData(handle, $0) }
  }

  @discardableResult
  func setPeriodicData(_ data: [UInt8], of handle: HCI.AdvertisingHandle = 1) -> HCI.ErrorCode? {
    sendFragments(data) { .leSetPeriodicAdvertisingData(handle, $0) }
  }

  private func sendFragments(
    _ data: [UInt8], _ command: (HCI.AdvertisingDataFragment) -> HCI.Command
  ) -> HCI.ErrorCode? {
    guard data.count > 251 else { return send(command(HCI.AdvertisingDataFragment(.complete, ByteSlice(data)))) }
    var status: HCI.ErrorCode?
    for start in stride(from: 0, to: data.count, by: 251) {
      let part = ByteSlice(data[start..<min(start + 251, data.count)])
      let operation: HCI.AdvertisingDataFragment.Operation =
        start == 0 ? .first : start + 251 >= data.count ? .last : .intermediate
      status = send(command(HCI.AdvertisingDataFragment(operation, part)))
      if status != .success { return status }
    }
    return status
  }

  /// Scans on LE 1M, and optionally on LE Coded, without pause.
  func scanExtended(isActive: Bool = false, onCoded isOnCoded: Bool = false) {
    let scan = HCI.ExtendedScanParameters.Scan(isActive: isActive, interval: 48, window: isOnCoded ? 24 : 48)
    #expect(
      send(
        .leSetExtendedScanParameters(
          HCI.ExtendedScanParameters(ownAddressType: .public, le1M: scan, leCoded: isOnCoded ? scan : nil)))
        == .success)
    #expect(send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(true))) == .success)
  }

  func connectExtended(
    to peer: ControllerHarness, interval: UInt16 = 24, timeout: UInt16 = 200, onCoded isOnCoded: Bool = false
  ) {
    #expect(
      send(
        .leExtendedCreateConnection(.extended(to: peer, interval: interval, timeout: timeout, onCoded: isOnCoded)))
        == .success)
  }

  var extendedReports: [HCI.ExtendedAdvertisingReport] {
    events.flatMap { event -> [HCI.ExtendedAdvertisingReport] in
      if case .leExtendedAdvertisingReport(let reports) = event { Array(reports) } else { [] }
    }
  }

  var terminatedSets: [HCI.ErrorCode] {
    events.compactMap { if case .leAdvertisingSetTerminated(let status, _, _, _) = $0 { status } else { nil } }
  }
}

extension PerfectAir.Transmission {
  /// The payload of an extended advertising PDU.
  var extended: LL.ExtendedAdvertisingPayload? {
    if case .extended(let payload)? = advertisingPDU { payload } else { nil }
  }
  var isPrimary: Bool { isAdvertising && ChannelIndex(channel).number >= 37 }
  /// The extended PDU of a periodic advertising train.
  var train: LL.ExtendedAdvertisingPayload? {
    guard !isAdvertising,
      case .extended(let payload)? = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload)
    else { return nil }
    return payload
  }
}

extension PerfectAir {
  /// Returns the packets that follow `first` by their AuxPtr fields. Each begins within the unit of the announced
  /// offset, on the announced channel and PHY.
  func chain(from first: Transmission) -> [Transmission] {
    var result: [Transmission] = []
    var last = first
    while let pointer = (last.extended ?? last.train)?.auxiliary, pointer.offset.value > 0 {
      let earliest = last.start + pointer.offset.span
      guard
        let next = log.first(where: {
          $0.device == first.device && $0.start >= earliest && $0.start < earliest + pointer.offset.unit
            && $0.channel == pointer.channel.radioChannel && $0.modulation.phy == pointer.phy
        })
      else { break }
      result.append(next)
      last = next
    }
    return result
  }
}
