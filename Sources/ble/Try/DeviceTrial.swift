import BluetoothAir
import BluetoothDissection
import BluetoothLab
import BluetoothProfiles
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles
import NIOConcurrencyHelpers

/// A run through the profiles of a connected device, with the clients of `CoreBluetoothProfiles`.
struct DeviceTrial: Sendable {
  /// The result of a step.
  struct Step: Hashable, Sendable {
    let service: CBUUID
    let title: String
    /// The values that the step has read or received, with their units.
    var values: [TrialValue] = []
    /// True if the values are measurements, one after the other.
    var isMeasurement = false
    /// The reason why the step has failed; nil: it has worked.
    var failure: String?
    /// True for the first step of a service.
    var isFirst = false
  }

  /// The error of a step without the error of a call.
  struct StepFailure: Error, CustomStringConvertible {
    let description: String
  }

  private struct Progress {
    var failures = 0
    /// The service of the last step.
    var service: CBUUID?
  }

  let peripheral: Peripheral
  let stage: Stage
  /// The time for which the trial listens to each kind of measurement, in seconds.
  let seconds: Double
  /// True if the trial listens longer to a device that measures at longer intervals.
  private let waitsForIntervals: Bool
  private let report: @Sendable (Step) throws -> Void
  private let progress = NIOLockedValueBox(Progress())

  /// The time for which a trial listens without a given time, in seconds.
  private static let standardTime = 3.0
  /// The longest measurement interval that a trial without a given time waits for, in seconds.
  private static let longestInterval = 60.0
  /// The time beyond a measurement interval within which the measurement arrives, in seconds.
  private static let margin = 2.0

  /// Creates a trial.
  ///
  /// - Parameters:
  ///   - seconds: the time for which the trial listens to each kind of measurement; nil: 3 s, or 2 s longer than the
  ///     measurement interval that the device tells, if the interval is at most 60 s.
  ///   - report: takes the result of each step.
  init(
    of peripheral: Peripheral, listening seconds: Double?, _ stage: Stage,
    _ report: @escaping @Sendable (Step) throws -> Void
  ) {
    (self.peripheral, self.stage, self.report) = (peripheral, stage, report)
    self.seconds = seconds ?? Self.standardTime
    waitsForIntervals = seconds == nil
  }

  /// The limit of a procedure that the profiles require.
  var procedureLimit: TimeLimit { stage.limit(30) }

  /// The profiles' trials by the assigned number of the service. Other services are read.
  private static let profiles: [UInt16: @Sendable (ProfileTrial) async throws -> Void] = [
    HeartRateClient.service: { try await $0.heartRate() },
    HealthThermometerClient.service: { try await $0.healthThermometer() },
    BloodPressureClient.service: { try await $0.bloodPressure() },
    GlucoseClient.service: { try await $0.glucose() },
    WeightScaleClient.service: { try await $0.weightScale() },
    CyclingSpeedAndCadenceClient.service: { try await $0.cyclingSpeedAndCadence() },
    CyclingPowerClient.service: { try await $0.cyclingPower() },
    RunningSpeedAndCadenceClient.service: { try await $0.runningSpeedAndCadence() },
    LocationAndNavigationClient.service: { try await $0.locationAndNavigation() },
    HumanInterfaceDeviceClient.service: { try await $0.humanInterfaceDevice() },
    FindMeClient.service: { try await $0.findMe() },
    ProximityClient.service: { try await $0.proximity() },
    AlertNotificationClient.service: { try await $0.alertNotification() },
    PhoneAlertStatusClient.service: { try await $0.phoneAlertStatus() },
    TimeClient.service: { try await $0.time() },
    BatteryClient.service: { try await $0.battery() },
    DeviceInformationClient.service: { try await $0.deviceInformation() },
  ]

  /// Runs through all services, in their order.
  ///
  /// - Returns: the number of steps that have failed.
  /// - Throws: the error of the end of the link.
  func run() async throws -> Int {
    let services = try await peripheral.discoverServices(within: stage.stepLimit)
    for service in services {
      let uuid = BluetoothUUID(service.uuid.uuidString)
      if let number = uuid?.shortValue, let trial = Self.profiles[number] {
        try await trial(ProfileTrial(trial: self, remote: service))
      } else if service.uuid == NotificationCenterClient.service {
        try await ProfileTrial(trial: self, remote: service).notificationCenter()
      } else if let sensor = SensorTag.Sensor.allCases.first(where: { $0.service == uuid }) {
        try await TagTrial(trial: self, service: service, sensor: sensor).run()
      } else {
        try await read(service)
      }
    }
    if services.isEmpty { complain("note: the device has no services") }
    return progress.withLockedValue { $0.failures }
  }

  /// Reads all values of a service that no profile's client reads.
  ///
  /// - Parameters:
  ///   - service: the service.
  ///   - known: the assigned numbers of the characteristics that a client has read.
  func read(_ service: RemoteService, except known: Set<UInt16> = []) async throws {
    for characteristic in try await service.discoverCharacteristics(within: stage.stepLimit)
    where characteristic.properties.contains(.read) {
      if let number = BluetoothUUID(characteristic.uuid.uuidString)?.shortValue, known.contains(number) { continue }
      let title = KnownNames.title(of: characteristic.uuid)
      try await step(service.uuid, title) {
        let text = ValueText(try await characteristic.read(within: stage.stepLimit), of: characteristic.uuid)
        if let problem = text.problem { throw StepFailure(description: problem) }
        return [TrialValue(text)]
      }
    }
  }

  // MARK: Steps

  /// Runs a step, and reports its result.
  ///
  /// - Parameter body: returns the values; nil: the device does not have what the step tries, so there is no step.
  /// - Throws: the error of the end of the link, or of the task.
  func step(
    _ service: CBUUID, _ title: String, isMeasurement: Bool = false, _ body: () async throws -> [TrialValue]?
  ) async throws {
    var step = Step(service: service, title: title, isMeasurement: isMeasurement)
    do {
      guard let values = try await body() else { return }
      step.values = values
    } catch {
      // The other steps would fail for the same reason.
      guard peripheral.link != nil, (error as? CBError)?.linkReason == nil, !(error is CancellationError) else {
        throw error
      }
      step.failure = Self.reason(error)
    }
    let result = progress.withLockedValue { progress in
      step.isFirst = progress.service != service
      progress.service = service
      if step.failure != nil { progress.failures += 1 }
      return step
    }
    try report(result)
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case is TimeLimitExceeded: "no answer in time"
    case let error as CBATTError: error.localizedDescription.endless
    case let error as CBError: error.localizedDescription.endless
    default: "\(error)".endless
    }
  }

  /// Listens to values for the time of the trial.
  ///
  /// - Parameter interval: the time between two values in seconds; 0: the device sends values continually; nil: the
  ///   device sends values only if its user does something.
  /// - Returns: the values, or a text that there is none if the device need not have sent one.
  /// - Throws: `StepFailure` if there is no value although one was due.
  func listen<Values: AsyncSequence & Sendable>(
    to values: Values, every interval: Double? = 0,
    _ shown: @escaping @Sendable (Values.Element) throws -> TrialValue
  ) async throws -> [TrialValue] {
    let seconds = listeningTime(every: interval ?? 0)
    let received = try await collect(values, for: seconds, shown)
    guard received.isEmpty else { return received }
    guard let interval, interval < seconds else { return ["none within \(seconds.short) s"] }
    throw StepFailure(description: "no value within \(seconds.short) s")
  }

  /// Returns the time for which the trial listens to values at this interval, in seconds.
  private func listeningTime(every interval: Double) -> Double {
    guard waitsForIntervals, interval <= Self.longestInterval else { return seconds }
    return max(seconds, interval + Self.margin)
  }

  /// Returns the values of this number of seconds, which may be none.
  private func collect<Values: AsyncSequence & Sendable>(
    _ values: Values, for seconds: Double, _ shown: @escaping @Sendable (Values.Element) throws -> TrialValue
  ) async throws -> [TrialValue] {
    let received = NIOLockedValueBox<[TrialValue]>([])
    do {
      try await withTimeLimit(stage.limit(seconds)) {
        for try await value in values {
          let element = try shown(value)
          received.withLockedValue { $0.append(element) }
        }
      }
    } catch is TimeLimitExceeded {
      // The time of the trial has passed.
    }
    return received.withLockedValue { $0 }
  }
}
