import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// A manager whose states tell if its adapter can be used.
protocol AdapterManager: Sendable {
  /// The present state.
  var state: CBManagerState { get }
  /// The present state, and then each change.
  var states: EventSequence<CBManagerState> { get }
}

extension Central: AdapterManager {}
extension LocalPeripheral: AdapterManager {}

extension Stage {
  /// The longest time from the end of a link to the report of the adapter's state, in seconds.
  private static let reportLimit = 1.0

  /// Returns the failure that an operation has ended with: that of the adapter if it can't be used any more, and
  /// otherwise that of the error. Cancellations, and failures other than a lost link, stay as they are.
  ///
  /// - Parameters:
  ///   - subject: the device or the step, for the message.
  ///   - peripheral: the device with the link that the operation has used.
  ///   - manager: the manager of the adapter that the operation has used.
  func failure(
    of error: any Error, _ subject: String, _ peripheral: Peripheral? = nil, by manager: some AdapterManager
  ) async -> any Error {
    let other = Failure.of(error, subject, peripheral)
    guard let failure = other as? Failure, !(error is Failure) || failure.status == ExitStatus.linkLost else {
      return other
    }
    var state = manager.state
    if state == .poweredOn, Self.mayBeLoss(error, peripheral) {
      // The host reports the ends of the links before its state.
      let states = manager.states
      let next = try? await withTimeLimit(limit(Self.reportLimit)) { () -> CBManagerState? in
        for await new in states where new != .poweredOn { return new }
        return nil
      }
      state = next ?? state
    }
    guard state != .poweredOn else { return failure }
    return Failure("\(subject): \(lossReason(in: state))", status: ExitStatus.noAdapter)
  }

  /// Waits until the adapter of a manager can't be used any more, or the task is cancelled.
  ///
  /// - Throws: always: `Failure` with the exit status 69 and the reason, or `CancellationError`.
  func watchPower(of manager: some AdapterManager) async throws {
    for await state in manager.states where state != .poweredOn {
      throw Failure(lossReason(in: state), status: ExitStatus.noAdapter)
    }
    throw CancellationError()
  }

  /// True if the end of a link may be that of the adapter: a host that has lost its controller reports a hardware
  /// failure, and one that is turned off ends its links.
  private static func mayBeLoss(_ error: any Error, _ peripheral: Peripheral?) -> Bool {
    let reasons: Set<HCIErrorCode> = [.hardwareFailure, .connectionTerminatedByLocalHost]
    if let reason = (error as? CBError)?.linkReason, reasons.contains(reason) { return true }
    guard let end = peripheral?.lastDisconnection, end.error != nil else { return false }
    return end.reason.map { reasons.contains($0) } ?? true
  }
}

extension CBError {
  /// The reason of the end of a link, as the controller has reported it; nil: the error has another cause.
  var linkReason: HCIErrorCode? {
    (userInfo[CBErrorHCIErrorCodeKey] as? NSNumber).map { HCIErrorCode(rawValue: $0.uint8Value) }
  }
}
