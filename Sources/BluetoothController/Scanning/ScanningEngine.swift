// Design: scanning, initiating and synchronizing
//
// All state that an advertiser can make grow is limited: eight announced events at a time, 1,650 octets or 64 packets
// of a chain, 4,096 remembered reports, 256 packets that the host has not taken.
//
// - The scanner and the initiator receive the same packets. Their windows are functions of the time (`ScanWindows`),
//   and `ListeningPlan` selects the channel and the PHY. On one PHY, the one whose windows are open for the greater
//   part of the time chooses the channel. Where windows of LE 1M and LE Coded overlap, one window is used to its end,
//   and then the PHY that has lost the greater part of its requested time is next.
// - ADV_EXT_IND starts an `ExtendedEvent`, which is followed packet by packet beside all other activities
//   (`AuxiliaryReceptions`). Each announced packet is an `AuxiliaryWindow`, whose width follows from the unit of the
//   offset and from both clocks, and which is a claim on the radio. The event knows what has been reported to the host,
//   so its last report says complete or truncated, however the event ends.
// - The duplicate filter discards all its entries when it is full: repeated reports are allowed, missing reports are
//   not.
// - A `PeriodicSync` has the `EventSchedule` of a peripheral's connection: the same window widening, and Skip as
//   latency. It uses only so much of Skip that two chances remain before the timeout. A synchronization exists for the
//   host when the first AUX_SYNC_IND has arrived. It is abandoned after six events without one.
// - A sync transfer counts from an event of the connection: the next event, or, if no offset reaches the train from
//   there, the last event before the train's event. The transfer is a control procedure, so the number of waiting
//   transfers is bounded. The recipient reckons with three clocks (the advertiser's, the sender's and its own) since
//   the sender last received the train.

import BluetoothRadio
import BluetoothWire

/// The scanning state of the link layer: the scanner, and the auxiliary packets that advertisers have announced to it,
/// to the initiator and to synchronization · Vol 6, Part B, 4.4.3.
struct ScanningEngine: ~Copyable {
  /// The scanner; nil while scanning is disabled.
  var scanner: Scanner?
  /// The parameters of the next scanner.
  private var parameters = Self.initialParameters
  /// Auxiliary packets that have been announced and that the controller follows.
  var receptions = AuxiliaryReceptions()
  /// The scan exchange on a primary channel that has the radio.
  var exchange: ScanExchange?

  private static let initialParameters = HCI.ExtendedScanParameters(
    ownAddressType: .public, le1M: HCI.ExtendedScanParameters.Scan(isActive: false, interval: 0x0010, window: 0x0010))

  /// Restores the state after power on. The radio is reset separately.
  mutating func reset() {
    scanner = nil
    parameters = Self.initialParameters
    receptions.removeAll()
    exchange = nil
  }

  /// The time at which the scanner pauses, resumes or ends; `distantFuture`: never.
  var deadline: Instant { mutating get { scanner?.deadline ?? .distantFuture } }

  /// True while scanning is enabled.
  var isEnabled: Bool { mutating get { scanner != nil } }

  /// True if the scanner filters with the Filter Accept List.
  var usesAcceptList: Bool { mutating get { scanner?.usesAcceptList == true } }

  // MARK: Commands · Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64, 7.8.65

  /// Executes LE Set Scan Parameters.
  mutating func setParameters(_ parameters: HCI.ScanParameters) -> HCI.ErrorCode {
    guard scanner == nil else { return .commandDisallowed }
    guard 4...0x4000 ~= parameters.interval, 4...0x4000 ~= parameters.window, parameters.window <= parameters.interval,
      parameters.filterPolicy <= 3
    else { return .invalidHCICommandParameters }
    self.parameters = HCI.ExtendedScanParameters(parameters)
    return .success
  }

  /// Executes LE Set Extended Scan Parameters.
  mutating func setParameters(_ parameters: HCI.ExtendedScanParameters, features: HCI.LEFeatures) -> HCI.ErrorCode {
    guard scanner == nil else { return .commandDisallowed }
    guard parameters.le1M?.isValid ?? true, parameters.leCoded?.isValid ?? true, parameters.filterPolicy <= 3 else {
      return .invalidHCICommandParameters
    }
    guard parameters.leCoded == nil || features.contains(.leCodedPHY) else {
      return .unsupportedFeatureOrParameterValue
    }
    self.parameters = parameters
    return .success
  }

  /// Executes LE Set Scan Enable and LE Set Extended Scan Enable.
  mutating func setEnable(
    _ enable: HCI.ExtendedScanEnable, isExtended: Bool, initiating: inout InitiatingEngine,
    device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) -> HCI.ErrorCode {
    guard !isExtended || enable.isPossible else { return .invalidHCICommandParameters }
    if enable.isEnabled {
      guard let own = device.ownAddress(parameters.ownAddressType) else { return .invalidHCICommandParameters }
      // Repeated enabling resets the duplicate filter · 7.8.11, 7.8.65.
      scanner = Scanner(parameters, own: own, isExtended: isExtended, enable: enable, at: now)
    } else {
      guard scanner != nil else { return .success }
      scanner = nil
    }
    listeningChanged(initiating: &initiating, radio: &radio)
    return .success
  }

  // MARK: Listening

  /// Updates listening after the scanner or the initiator has started, ended, paused or resumed.
  mutating func listeningChanged(initiating: inout InitiatingEngine, radio: inout RadioControl) {
    radio.setWindows(
      scanner: scanner?.windows ?? ByPrimaryPHY(), initiator: initiating.initiator?.windows ?? ByPrimaryPHY())
    dropReceptions(initiating: &initiating, radio: &radio)
    switch radio.owner {
    case .listening: radio.abandon()
    case .scanRequest: if scanner == nil { radio.abandon() }
    case .connecting: if initiating.initiator == nil { radio.abandon() }
    case .free, .activity, .finishing: break
    }
  }

  /// Ends or pauses a scan with a duration or a period · Vol 4, Part E, 7.8.65.
  mutating func checkDeadline(
    initiating: inout InitiatingEngine, radio: inout RadioControl, into output: inout HCIEventQueue, at now: Instant
  ) {
    guard deadline <= now, let change = scanner?.checkDeadline(at: now) else { return }
    switch change {
    case .none: return
    case .windows: listeningChanged(initiating: &initiating, radio: &radio)
    case .ended:
      scanner = nil
      listeningChanged(initiating: &initiating, radio: &radio)
      output.send(.leScanTimeout)
    }
  }
}

extension HCI.ExtendedScanParameters {
  /// Creates the same parameters in the form of LE Set Extended Scan Parameters.
  init(_ parameters: HCI.ScanParameters) {
    self.init(
      ownAddressType: parameters.ownAddressType, filterPolicy: parameters.filterPolicy,
      le1M: Scan(isActive: parameters.isActive, interval: parameters.interval, window: parameters.window))
  }
}

extension HCI.ExtendedScanParameters.Scan {
  fileprivate var isValid: Bool { window >= 4 && window <= interval }
}

extension HCI.ExtendedScanEnable {
  /// True if the duration and the period are possible together.
  fileprivate var isPossible: Bool {
    guard isEnabled else { return true }
    return (duplicates != .resetEachPeriod || duration > 0 && period > 0)
      && (duration == 0 || period == 0 || durationIsShorterThanPeriod)
  }

  /// True if the duration, in units of 10 ms, is shorter than the period, in units of 1.28 s.
  private var durationIsShorterThanPeriod: Bool { Int(duration) < Int(period) * 128 }
}
