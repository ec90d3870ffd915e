import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of the clock of a telephone · Time Profile 1.0, 4 (Time Client).
public struct TimeClient: Sendable {
  /// The assigned number of the Current Time service, the one that the profile requires.
  public static let service: UInt16 = 0x1805

  private static let nextChange: UInt16 = 0x1807
  private static let referenceUpdate: UInt16 = 0x1806

  private let current: ProfileCharacteristic<CurrentTime>
  private let local: ProfileCharacteristic<LocalTimeInformation>?
  private let reference: ProfileCharacteristic<ReferenceTimeInformation>?
  private let change: ProfileCharacteristic<TimeWithDST>?
  private let update: ProfileService?

  /// Discovers the services of a connected peripheral.
  ///
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    current = try service.require()
    local = service.find()
    reference = service.find()
    change = try await ProfileService.optional(Self.nextChange, of: peripheral)?.find()
    update = try await ProfileService.optional(Self.referenceUpdate, of: peripheral)
  }

  /// Returns the time of the clock.
  public func currentTime() async throws -> CurrentTime { try await current.read() }

  /// The notified times of the clock after adjustments.
  public var adjustments: Measurements<CurrentTime> { current.measurements }

  /// Sets the clock.
  ///
  /// - Throws: `ProfileError.dataFieldIgnored` if the clock is set, except for a field of the value;
  ///   `CBATTError.writeNotPermitted` if clients may not set the clock.
  public func setCurrentTime(_ time: CurrentTime) async throws {
    try await replacing(0x80, with: .dataFieldIgnored) { try await current.write(time) }
  }

  /// Returns the time zone and the daylight saving time; nil if the telephone does not tell them.
  public func localTimeInformation() async throws -> LocalTimeInformation? { try await local?.read() }

  /// Returns the source and the accuracy of the time; nil if the telephone does not tell them.
  public func referenceTimeInformation() async throws -> ReferenceTimeInformation? { try await reference?.read() }

  /// Returns the next change of the daylight saving time; nil if the telephone does not tell it.
  public func nextDSTChange() async throws -> TimeWithDST? { try await change?.read() }

  // MARK: Reference Time Update

  /// Requests an update of the clock from its reference. The telephone does not acknowledge the request; `updateState`
  /// tells the progress, and an adjustment is notified.
  ///
  /// - Throws: `ProfileError.missingService` if the telephone has no Reference Time Update.
  public func requestReferenceUpdate() async throws { try await send(.getReferenceUpdate) }

  /// Cancels an update of the clock.
  ///
  /// - Throws: `ProfileError.missingService` if the telephone has no Reference Time Update.
  public func cancelReferenceUpdate() async throws { try await send(.cancelReferenceUpdate) }

  /// Returns the state of the update, and the result of the last one.
  ///
  /// - Throws: `ProfileError.missingService` if the telephone has no Reference Time Update.
  public func updateState() async throws -> TimeUpdateState {
    try await updateService().require(TimeUpdateState.self).read()
  }

  private func updateService() throws(ProfileError) -> ProfileService {
    guard let update else { throw .missingService(Self.referenceUpdate) }
    return update
  }

  private func send(_ command: TimeUpdateControlPoint) async throws {
    let controlPoint: ProfileCharacteristic<TimeUpdateControlPoint> = try updateService().require()
    try await controlPoint.send(command)
  }
}
