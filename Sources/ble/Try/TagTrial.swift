import BluetoothLab
import BluetoothProfiles
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// The steps of a sensor of a sensor tag: on, measurements, and the settings as they were.
struct TagTrial: Sendable {
  let trial: DeviceTrial
  let service: RemoteService
  let sensor: SensorTag.Sensor

  func run() async throws {
    let limit = trial.stage.stepLimit
    let characteristics = try await service.discoverCharacteristics(within: limit)
    func find(_ path: CharacteristicPath) throws -> RemoteCharacteristic {
      guard let found = characteristics.first(where: { BluetoothUUID($0.uuid.uuidString) == path.characteristic })
      else { throw DeviceTrial.StepFailure(description: "the service has no characteristic \(path.characteristic)") }
      return found
    }
    try await trial.step(service.uuid, title, isMeasurement: true) {
      let (data, configuration) = (try find(sensor.data), try find(sensor.configuration))
      let period = try find(sensor.period)
      let oldConfiguration = try await configuration.read(within: limit)
      let settings = [(configuration, oldConfiguration), (period, try await period.read(within: limit))]
      let values: [TrialValue]
      do {
        // A tag with the shortest period of all sensors gives several values in the time of the trial.
        try await period.write(Data([30]), within: limit)
        try await configuration.write(Data(turningOn: sensor), within: limit)
        values = try await trial.listen(to: data.notifications) { [sensor] in try Self.value(of: sensor, Array($0)) }
      } catch {
        try? await restore(settings)
        throw error
      }
      try await restore(settings)
      return values
    }
  }

  /// Writes the settings that the tag had before the trial, even if the task of the verb has been cancelled.
  private func restore(_ settings: [(RemoteCharacteristic, Data)]) async throws {
    let limit = trial.stage.stepLimit
    try await Task(executorPreference: trial.stage.taskExecutor) {
      for (characteristic, value) in settings { try await characteristic.write(value, within: limit) }
    }.value
  }

  private var title: String {
    switch sensor {
    case .infrared: "infrared thermometer"
    case .humidity: "hygrometer"
    case .pressure: "barometer"
    case .movement: "movement"
    }
  }

  /// Returns a measurement with its units · CC2650 SensorTag User's Guide.
  static func value(of sensor: SensorTag.Sensor, _ octets: [UInt8]) throws -> TrialValue {
    let lengths: [SensorTag.Sensor: Int] = [.infrared: 4, .humidity: 4, .pressure: 6, .movement: 18]
    guard octets.count == lengths[sensor] else {
      throw DeviceTrial.StepFailure(description: "expected \(lengths[sensor] ?? 0) octets, got \(octets.count)")
    }
    func number(_ offset: Int, _ count: Int = 2) -> Int {
      octets[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    func signed(_ offset: Int, _ count: Int = 2) -> Double {
      let (value, limit) = (number(offset, count), 1 << (8 * count - 1))
      return Double(value < limit ? value : value - 2 * limit)
    }
    func field(_ name: String, _ value: Double, _ places: Int, _ unit: String) -> ValueField {
      ValueField(name, DecimalNumber(Int((value * pow(10, Double(places))).rounded()), exponent: -places), symbol: unit)
    }
    func vector(_ name: String, _ offset: Int, _ unit: Double, _ places: Int, _ symbol: String) -> [ValueField] {
      zip(["x", "y", "z"], [0, 2, 4]).map { field("\(name) \($0)", signed(offset + $1) * unit, places, symbol) }
    }
    let fields: [ValueField] =
      switch sensor {
      case .infrared: [field("object", signed(0) / 128, 1, "°C"), field("ambient", signed(2) / 128, 1, "°C")]
      case .humidity:
        [
          field("humidity", Double(number(2)) / 65_536 * 100, 1, "%"),
          field("temperature", Double(number(0)) / 65_536 * 165 - 40, 1, "°C"),
        ]
      case .pressure:
        [field("pressure", Double(number(3, 3)) / 100, 2, "hPa"), field("temperature", signed(0, 3) / 100, 1, "°C")]
      case .movement:
        vector("rotation", 0, 500.0 / 65_536, 1, "°/s") + vector("acceleration", 6, 2.0 / 32_768, 2, "g")
          + vector("magnetic field", 12, 1, 0, "µT")
      }
    return TrialValue(fields.map(\.description).joined(separator: ", "), fields: fields)
  }
}

extension Data {
  /// The configuration that turns a sensor on, with all axes and the range of 2 g.
  fileprivate init(turningOn sensor: SensorTag.Sensor) { self = Data(sensor == .movement ? [0x7F, 0] : [1]) }
}
