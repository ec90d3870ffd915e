import BluetoothLab
import CoreBluetooth
import TestSupport

/// The result of a command that an app has written to a control point.
struct CommandResult: Equatable {
  /// The error code with which the write was rejected; nil if it was accepted.
  var error: Int?
  /// The responses that have been indicated since.
  var responses: [[UInt8]] = []

  static func rejected(_ error: Int) -> Self { Self(error: error) }
  static func response(_ octets: UInt8...) -> Self { Self(responses: [octets]) }
  /// The write was accepted, and no response has come.
  static let accepted = Self()
}

extension Encounter {
  /// Connects, discovers everything and subscribes to these characteristics.
  func prepare(subscribing uuids: [String]) async -> Bool {
    guard await prepare() else { return false }
    for uuid in uuids where await !subscribe(uuid) { return false }
    return true
  }

  /// Subscribes to a characteristic or unsubscribes from it, and waits for the response.
  func subscribe(_ uuid: String, _ isOn: Bool = true) async -> Bool {
    let before = app.events.count
    app.subscribe(uuid, isOn)
    return await world.run(until: { app.events.dropFirst(before).contains(.notifying(isOn)) }, limit: .seconds(5))
  }

  /// Writes a command to a control point, and waits for the response of the write and for `time`.
  func command(_ octets: [UInt8], to uuid: String, for time: Duration = .milliseconds(300)) async -> CommandResult {
    await app.command(octets, to: uuid, in: world, for: time)
  }
}

extension PhoneApp {
  /// Writes a command to a control point, and waits for the response of the write and for `time`.
  func command(
    _ octets: [UInt8], to uuid: String, in world: World, for time: Duration = .milliseconds(300)
  ) async -> CommandResult {
    let (events, values) = (events.count, values(of: uuid).count)
    write(octets, to: uuid, .withResponse)
    var result = CommandResult()
    let isAnswered = await world.run(
      until: {
        for event in self.events.dropFirst(events) {
          switch event {
          case .written: return true
          case .notWritten(let code):
            result.error = code
            return true
          default: continue
          }
        }
        return false
      }, limit: .seconds(5))
    if !isAnswered { result.error = -1 }
    await world.run(for: time)
    result.responses = Array(self.values(of: uuid).dropFirst(values))
    return result
  }
}
