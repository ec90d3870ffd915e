import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import CoreBluetooth

// MARK: Properties

extension Peripheral {
  /// The properties of the link; nil: there is none.
  public var link: LinkProperties? { peer.state == .connected ? peer.link.map { LinkProperties($0) } : nil }

  /// The connection parameters of the link; nil: there is no link.
  public var connectionParameters: ConnectionParameters? { link?.connectionParameters }

  /// ATT_MTU of the link; nil: there is no link.
  public var maximumTransmissionUnit: Int? { link?.maximumTransmissionUnit }

  /// The properties of the link: the present ones, and then each change. The iteration continues with the next link.
  public var linkChanges: EventSequence<LinkProperties> {
    EventSequence(owner: self) { [links] in links.subscribe() }
  }

  func handle(_ event: LinkEvent) {
    switch event {
    case .changed(let info): links.send(LinkProperties(info))
    case .ended(let reason):
      links.forgetLatest()
      with { $0.endReason = reason }
    case .requestEnded(let kind, let error):
      answer(.link(kind), with: error.map { .failure(LinkRequestError.error($0)) } ?? .success(()))
    }
  }
}

// MARK: Requests

extension Peripheral {
  /// Requests other connection parameters, and waits until the devices use them.
  ///
  /// The controller chooses the interval from the range: the longest one that suits its other links.
  ///
  /// - Parameters:
  ///   - interval: the permitted connection intervals, 7.5 ms to 4 s, rounded inwards to steps of 1.25 ms.
  ///   - latency: the maximum number of consecutive connection events that the peripheral may skip, 0 to 499.
  ///   - supervisionTimeout: the time without a packet after which the link is lost, 100 ms to 32 s; more than
  ///     2 × (1 + latency) × interval.
  ///   - limit: the time limit for the procedure; nil: none.
  /// - Returns: the parameters in use.
  /// - Throws: `LinkRequestError`, beside the errors of every call.
  @discardableResult
  public func requestConnectionParameters(
    interval: ClosedRange<Duration>, latency: Int = 0, supervisionTimeout: Duration = .seconds(2),
    within limit: TimeLimit? = nil
  ) async throws -> ConnectionParameters {
    let parameters = LinkParameters(
      interval: interval, latency: latency, supervisionTimeout: supervisionTimeout)
    return try await request(parameters.map { .connectionParameters($0) }, within: limit).connectionParameters
  }

  /// Requests other PHYs, and waits for the end of the procedure. The controllers choose the fastest PHY that both
  /// devices want, in each direction.
  ///
  /// - Parameters:
  ///   - transmit: the permitted PHYs for packets to the peripheral; empty: all that this device supports.
  ///   - receive: the permitted PHYs for packets from the peripheral; empty: all that this device supports.
  ///   - coding: the preferred coding on LE Coded; nil: no preference.
  ///   - limit: the time limit for the procedure; nil: none.
  /// - Returns: the properties of the link, whose PHYs may be other ones if the peripheral does not want these.
  /// - Throws: `LinkRequestError`, beside the errors of every call.
  @discardableResult
  public func requestPHYs(
    transmit: Set<PHY>, receive: Set<PHY>, coding: CodingScheme? = nil, within limit: TimeLimit? = nil
  ) async throws -> LinkProperties {
    let preference = HCI.PHYPreference(transmit: transmit.wire, receive: receive.wire)
    let options: UInt16 =
      switch coding {
      case nil: 0
      case .s2: 1
      case .s8: 2
      }
    return try await request(.phys(preference, options: options), within: limit)
  }

  /// Requests another maximum length of the packets that this device transmits. Returns when the controller has
  /// accepted the request; `linkChanges` reports the result of the procedure with the peripheral.
  ///
  /// This device requests the largest length as soon as a link exists, so that this method is for shorter packets.
  ///
  /// - Throws: `LinkRequestError`, beside the errors of every call.
  public func requestDataLength(_ length: DataLength, within limit: TimeLimit? = nil) async throws {
    _ = try await request(length.wire.map { .dataLength($0) }, within: limit)
  }

  /// Performs a request; nil: its values are invalid.
  private func request(_ request: LinkRequest?, within limit: TimeLimit?) async throws -> LinkProperties {
    guard let request else { throw LinkRequestError.invalidParameters }
    try await perform(.link(request.kind), returning: Void.self, within: limit) { $0.changeLink(request) }
    // The link may have ended since the answer.
    guard let link else { throw CBError.isNotConnected }
    return link
  }
}

extension Set<PHY> {
  fileprivate var wire: HCI.PHYs? { isEmpty ? nil : HCI.PHYs(map(\.wire)) }
}

// MARK: Identity

extension Peripheral {
  /// The device address with its type: the identity address if there is a bond, else the address in the packets of the
  /// peripheral. An address of the kind `resolvablePrivate` changes from time to time.
  public var address: DeviceAddress? { peer.deviceAddress }

  /// The bond with the peripheral; nil: the devices are not bonded.
  public var bond: Bond? { peer.bond.map { Bond($0) } }
}
