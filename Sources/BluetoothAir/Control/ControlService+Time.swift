import BluetoothLab
import BluetoothRadio
import BluetoothWire
import NIOCore

// The time of an air, and its devices.

extension ControlService {
  /// The longest radio time of a step: a device that is silent for longer is probably silent for ever.
  private static let longestStep = TimeSpan.seconds(10)

  func setSpeed(_ request: ControlRequest) throws(AirError) {
    guard let speed = request.speed, speed == 0 || (0.001...1_000).contains(speed) else {
      throw AirError("speed: expected 0, which pauses, or radio seconds per second from 0.001 to 1000")
    }
    guard world.realTimeRunner != nil else { throw AirError("the world runs in virtual time, which has no speed") }
    world.setSpeed(speed)
  }

  /// Moves the time to the end of the next packet of a device. Returns the radio time.
  func step(_ request: ControlRequest) throws(AirError) -> Double {
    let device = try request.device.map { _ throws(AirError) in try self.device(request) }
    guard let runner = world.realTimeRunner else {
      throw AirError("the world runs in virtual time; use run")
    }
    let result = world.inspect { engine -> (time: Double, isFound: Bool)? in
      guard runner.speed == 0 else { return nil }
      let watch = StepWatch(device?.radio)
      watch.attach(to: engine)
      defer { watch.detach(from: engine) }
      let limit = engine.now + Self.longestStep
      while !watch.isFound, engine.step(until: limit) {}
      return (engine.now.sinceZero.duration.seconds, watch.isFound)
    }
    guard let result else { throw AirError("pause the air before a step: speed 0") }
    guard result.isFound else {
      throw AirError("no packet within \(Self.longestStep.nanoseconds / 1_000_000_000) s of radio time")
    }
    return result.time
  }

  /// Adds the device that a text describes.
  func add(_ request: ControlRequest) throws(AirError) {
    guard let text = request.text else { throw AirError("text: missing field; expected a device of a world file") }
    let (member, entry): (WorldFile.Member, LocatedValue)
    do throws(WorldFileFailure) { (member, entry) = try WorldFile.member(text: text) } catch {
      let problem = error.problems.first
      throw AirError("text: " + ((problem?.field).map { $0 + ": " } ?? "") + (problem?.reason ?? "invalid"))
    }
    let isFree = hosts?.reserve(member.name) ?? !world.deviceNames.contains(member.name)
    guard isFree else { throw AirError("the name \"\(member.name.printable)\" is in use") }
    WorldFile.add(member, to: world)
    hosts?.addedDevices.append(entry)
  }

  /// Removes a device that has neither apps nor a host of another program.
  func remove(_ request: ControlRequest) throws(AirError) -> EventLoopFuture<ControlAnswer> {
    let device = try device(request)
    let done = loop.makePromise(of: ControlAnswer.self)
    // An operation and not a look at the world, so that a world in virtual time carries it out in a run, too.
    device.world.requestQueue.perform { engine in
      let role = DeviceRole(of: engine.device(device.radio))
      if role == .accessory { device.world.remove(device.radio, from: engine) }
      done.succeed(ControlAnswer(error: role.obstacleToRemoval.map { "\"\(device.name.printable)\" \($0)" }))
    }
    return done.futureResult
  }

  /// Returns the air as a world file.
  var worldFile: String {
    get throws(AirError) {
      guard let hosts else { throw AirError("a program has made this world, not a world file") }
      let positions = Dictionary(devices.map { ($0.name, $0.position) }, uniquingKeysWith: { first, _ in first })
      let (names, removed) = (world.deviceNames, world.removedDevices)
      return (hosts.file ?? WorldFile()).text(
        adding: hosts.addedDevices, without: Set(removed.map { names[$0.index] }), at: positions,
        with: world.faultPlan)
    }
  }
}

/// Notices the next packet of a device. Unchecked for the reason of its superclass.
private final class StepWatch: ChainedRecorder, @unchecked Sendable {
  private let radio: RadioID?
  private(set) var isFound = false

  /// - Parameter radio: the device; nil: all devices.
  init(_ radio: RadioID?) { self.radio = radio }

  override func transmissionEnded(_ record: TransmissionRecord, receptions: [Reception]) {
    if radio == nil || record.radio == radio || receptions.contains(where: { $0.radio == radio }) { isFound = true }
    super.transmissionEnded(record, receptions: receptions)
  }
}
