import BluetoothProfiles
import CoreBluetoothExtras

/// The commands that cycling and running sensors have in common · Cycling Speed and Cadence Service 1.0, 3.4, and
/// Running Speed and Cadence Service 1.0, 3.4.
struct SensorControl: Sendable {
  private let service: UInt16
  private let controlPoint: ControlPointClient<SCControlPoint>?

  init(_ service: ProfileService, _ limit: TimeLimit) {
    self.service = service.uuid
    controlPoint = service.find().map { ControlPointClient($0, limit) }
  }

  func perform(_ command: SCControlPoint) async throws -> [SensorLocation] {
    guard let controlPoint else { throw ProfileError.missingCharacteristic(SCControlPoint.uuid, of: service) }
    return try await controlPoint.perform(command).map { SensorLocation(rawValue: $0) }
  }
}
