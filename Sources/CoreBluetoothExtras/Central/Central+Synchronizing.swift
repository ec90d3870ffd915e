import BluetoothDaemon
import BluetoothHost
import CoreBluetooth

/// The data of one event of periodic advertising.
public struct PeriodicAdvertisingReport: Sendable {
  /// The advertising data as on the air: a sequence of AD structures. Empty if the advertiser has set none.
  public let data: Data
  /// True if the end of the data was lost.
  public let isTruncated: Bool
  /// The signal strength in dBm; nil: not available.
  public let rssi: Int?
  /// The transmit power in the packet, in dBm; nil: not available.
  public let txPower: Int?
  /// The interval of the periodic advertising.
  public let interval: Duration
  /// The PHY of the packets.
  public let phy: PHY
  /// The time at which the controller reported the packet, on the adapter's clock: in a world, `World.now`.
  public let time: Duration
  /// The same as time of day.
  public let date: Date

  fileprivate init(_ event: TrainEvent, _ report: PeriodicReport, of train: SyncProperties) {
    data = event.octets
    isTruncated = report.isTruncated
    rssi = report.rssi == 127 ? nil : Int(report.rssi)
    txPower = report.transmitPower == 127 ? nil : Int(report.transmitPower)
    interval = .microseconds(1_250 * Int(train.interval))
    phy = PHY(number: train.phy) ?? .le1M
    time = event.time
    date = Date(timeIntervalSinceReferenceDate: event.absoluteTime)
  }
}

/// The error that ends a synchronization with periodic advertising.
public enum SynchronizationError: Error, Hashable, Sendable {
  /// A value is out of its range, or the packet belongs to no advertising set.
  case invalidParameters
  /// The controller has no periodic advertising.
  case notSupported
  /// No packet was received for the timeout: the advertiser has stopped, or is out of range.
  case lost
  /// The controller has no room for another synchronization, or the `Central` has 64 already.
  case noRoom
  /// The controller has refused with this error code.
  case refused(HCIErrorCode)

  fileprivate init(_ end: SyncEnd) {
    switch end {
    case .lost: self = .lost
    case .refused(.controller(.unsupportedFeatureOrParameterValue)), .refused(.controller(.unknownHCICommand)),
      .refused(.notSupported):
      self = .notSupported
    case .refused(.controller(.memoryCapacityExceeded)), .refused(.outOfSpace): self = .noRoom
    case .refused(.controller(.invalidHCICommandParameters)): self = .invalidParameters
    case .refused(.controller(let code)): self = .refused(code)
    case .refused: self = .refused(.unspecifiedError)
    }
  }
}

extension SynchronizationError: CustomStringConvertible {
  /// The error as a sentence.
  public var description: String {
    switch self {
    case .invalidParameters: "The values are out of range, or the packet belongs to no advertising set."
    case .notSupported: "The controller does not support periodic advertising."
    case .lost: "The periodic advertising is not received any more."
    case .noRoom: "The controller has no room for another synchronization."
    case .refused(let code): "The controller refused the synchronization: \(code)."
    }
  }
}

extension Central {
  /// A synchronization in progress.
  struct Synchronization {
    let continuation: AsyncThrowingStream<PeriodicAdvertisingReport, any Error>.Continuation
    /// nil: the controller is not synchronized yet.
    var properties: SyncProperties?
  }

  /// Returns a sequence of the periodic advertising of the set that a packet belongs to. Each iteration synchronizes,
  /// and ends the synchronization when it ends or its task is cancelled.
  ///
  /// The controller scans until it has found the periodic advertising, without a time limit. From then on it receives
  /// each event without scanning. The sequence ends with `SynchronizationError.lost` when no event has been received
  /// for the timeout. Any number of synchronizations go on beside a scan, as far as the controller has room; iterations
  /// for the same set share one synchronization with the parameters of the first. If the consumer is slower than the
  /// advertiser, the oldest of more than 1,000 reports are dropped.
  ///
  /// ```swift
  /// let packet = try await central.packets().first { $0.periodicInterval != nil }!
  /// for try await report in central.synchronize(to: packet) { print(report.data) }
  /// ```
  ///
  /// - Parameters:
  ///   - packet: a packet of extended advertising; its `periodicInterval` is not nil if the set has a train.
  ///   - skip: the maximum number of events that the controller may skip after a received one, 0 to 499.
  ///   - timeout: the time without an event after which the synchronization is lost, 100 ms to 163.84 s; nil: ten
  ///     intervals with their skipped events, at least 1 s.
  public func synchronize(
    to packet: AdvertisingPacket, skip: Int = 0, timeout: Duration? = nil
  ) -> ThrowingEventSequence<PeriodicAdvertisingReport> {
    ThrowingEventSequence(owner: self) { [self] in
      let (stream, continuation) = AsyncThrowingStream.makeStream(
        of: PeriodicAdvertisingReport.self, throwing: (any Error).self,
        bufferingPolicy: .bufferingNewest(Self.bufferedDiscoveries))
      startSynchronization(to: packet, skip: skip, timeout: timeout, continuation)
      return stream
    }
  }

  private func startSynchronization(
    to packet: AdvertisingPacket, skip: Int, timeout: Duration?,
    _ continuation: AsyncThrowingStream<PeriodicAdvertisingReport, any Error>.Continuation
  ) {
    let events = (packet.periodicInterval ?? .zero) * (1 + max(0, skip)) * 10
    let timeout = timeout ?? min(max(.seconds(1), events), .milliseconds(163_840))
    guard let sid = packet.advertisingSID, 0...499 ~= skip,
      let units = timeout.steps(of: .milliseconds(10), roundedUp: true), 10...0x4000 ~= units
    else { return continuation.finish(throwing: SynchronizationError.invalidParameters) }
    let number = with { state -> UInt32? in
      guard let manager = state.manager, manager.state == .poweredOn else { return nil }
      state.synchronizationCount += 1
      let number = state.synchronizationCount
      state.synchronizations[number] = Synchronization(continuation: continuation)
      manager.synchronize(
        number,
        with: SyncRequest(
          advertiser: packet.address, advertisingSID: UInt8(sid), skip: UInt16(skip), timeout: units,
          includesLECoded: packet.primaryPHY == .leCoded))
      return number
    }
    guard let number else { return continuation.finish(throwing: unavailable) }
    continuation.onTermination = { [weak self] _ in self?.endSynchronization(number) }
  }

  private func endSynchronization(_ number: UInt32) {
    // The continuation is released outside the lock.
    _ = with { state -> Synchronization? in
      guard let ended = state.synchronizations.removeValue(forKey: number) else { return nil }
      if let manager = state.manager, manager.state == .poweredOn { manager.endSynchronization(number) }
      return ended
    }
  }

  /// Handles an event of a synchronization.
  func received(_ event: TrainEvent) {
    switch event.event {
    case .established(let properties): with { $0.synchronizations[event.number]?.properties = properties }
    case .report(let report):
      guard let synchronization = with({ $0.synchronizations[event.number] }),
        let properties = synchronization.properties
      else { return }
      synchronization.continuation.yield(PeriodicAdvertisingReport(event, report, of: properties))
    case .ended(let end):
      let ended = with { $0.synchronizations.removeValue(forKey: event.number) }
      ended?.continuation.finish(throwing: SynchronizationError(end))
    }
  }
}
