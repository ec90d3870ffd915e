import BluetoothAdapters
import BluetoothBonds
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import NIOConcurrencyHelpers

/// An air of its own with devices in it.
///
/// In virtual time nothing is left to chance but what the seed decides: the same seed, devices and calls give the same
/// packets at the same instants. Time passes as fast as the machine allows, only inside `run`, and only when every callback
/// has returned:
///
/// ```swift
/// let world = World(seed: 1)
/// let phone = world.device(named: "phone", at: Position(x: 2))
/// let central = CBCentralManager(delegate: app, queue: nil, options: [CBManagerOptionAdapterKey: phone])
/// world.run(for: .seconds(5))
/// ```
public final class World: Sendable {
  /// How a world's time passes.
  public enum Time: Sendable {
    /// Only in `run`, as fast as the machine allows.
    case virtual
    /// By itself, in step with the wall clock; `speed` is radio seconds per second, 0.001 to 1,000.
    case real(speed: Double)
  }

  enum Runner: Sendable {
    case virtual(VirtualRunner)
    case real(RealTimeRunner)
  }

  private struct Registry {
    var names: [String] = []
    var supplies: [(chip: CurrentProfile, cell: Cell)] = []
    var capture: WorldCapture?
    /// What the metrics system knows.
    var reported: WorldStatistics?
  }

  let runner: Runner
  package let mailbox: WorldMailbox
  package let environment = DeviceEnvironment()
  let faults: FaultInjector
  private let registry = NIOLockedValueBox(Registry())
  /// The identities of imported bonds that the world has not processed yet, by device, in the order of the imports.
  let pendingBondImports = NIOLockedValueBox<[RadioID: [DeviceAddress]]>([:])
  /// The beginning, in seconds since 2001.
  private let epoch: Double

  /// A world without devices, whose time stands at zero. In virtual time its clock begins on 1 January 2001.
  ///
  /// - Parameters:
  ///   - seed: decides all chance in the world.
  ///   - time: how time passes.
  ///   - capture: a file that everything on the air, and between hosts and controllers, is written to.
  public convenience init(seed: UInt64 = 0, time: Time = .virtual, capture: Capture? = nil) {
    self.init(seed: seed, time: time, capture: capture, executor: nil)
  }

  /// - Parameter executor: what the world runs on in real time; nil: a queue of its own.
  package init(seed: UInt64, time: Time, capture: Capture?, executor: (any WorldExecutor)?) {
    let engine = WorldEngine(seed: seed)
    mailbox = engine.mailbox
    faults = FaultInjector(chance: engine.generator.split("faults"), mailbox: engine.mailbox)
    switch time {
    case .virtual:
      runner = .virtual(VirtualRunner(engine))
      epoch = 0
    case .real(let speed):
      runner = .real(RealTimeRunner(engine, speed: speed, on: executor))
      epoch = WallClock.secondsSince2001
    }
    if let capture { startCapture(capture) }
  }

  /// What runs the world in real time; nil in virtual time.
  package var realTimeRunner: RealTimeRunner? {
    if case .real(let runner) = runner { runner } else { nil }
  }

  /// Adds a device and turns it on.
  ///
  /// - Parameters:
  ///   - name: tells the device from the others of this world: in captures, and in its share of the seed.
  ///   - position: where it is.
  ///   - transmitPower: in dBm.
  public func device(named name: String, at position: Position = .origin, transmitPower: Double = 0) -> Device {
    device(named: name, DeviceOptions(position: position, transmitPower: transmitPower))
  }

  /// Adds a device and turns it on.
  ///
  /// - Parameters:
  ///   - name: tells the device from the others of this world: in captures, and in its share of the seed.
  ///   - prompts: what the device's user says when it pairs; nil: yes to everything, without seeing or typing a number.
  ///   - bondFolder: where the device keeps its bonds, and who it is, for worlds to come: a folder of its own in this one,
  ///     which is made if need be. What can't be read or written is told to the log. nil: nothing outlives the world.
  public func device(
    named name: String, _ options: DeviceOptions, prompts: ScriptedPrompts? = nil, bondFolder: String? = nil
  ) -> Device {
    register(name, options) {
      let deliversInPlace = if case .virtual = runner { true } else { false }
      var configuration = options.configuration(named: name)
      if let prompts { configuration.prompts = prompts }
      if let bondFolder {
        configuration.bonds = FileBondStore(folder: bondFolder, adapter: name, limit: options.storedBondLimit)
        configuration.hasLastingIdentity = true
      }
      let adapter = VirtualAdapter(
        configuration, in: mailbox, deliversInPlace: deliversInPlace, epoch: epoch,
        environment: environment)
      return Device(name: name, radio: adapter.radio, world: self, adapter: adapter)
    }
  }

  /// Makes a device while no other one can be made, so that the names stand in the order of the devices' numbers.
  package func register<D: RadioDevice>(_ name: String, _ options: DeviceOptions, _ make: () -> D) -> D {
    registry.withLockedValue { registry in
      registry.names.append(name)
      registry.supplies.append((options.chip, options.cell))
      faults.addDevice(named: name)
      return make()
    }
  }

  /// The names of the devices, in the order in which they were added.
  public var deviceNames: [String] { registry.withLockedValue { $0.names } }

  /// The chip and the battery of each device.
  var supplies: [(chip: CurrentProfile, cell: Cell)] { registry.withLockedValue { $0.supplies } }

  /// How much radio time has passed.
  public var now: Duration { mailbox.readClock().sinceZero.duration }

  /// Keeps what the metrics system is told now; says what it was told before.
  func exchangeReported(_ statistics: WorldStatistics) -> WorldStatistics? {
    registry.withLockedValue { registry in
      defer { registry.reported = statistics }
      return registry.reported
    }
  }

  // MARK: Captures

  /// Writes everything that happens from now on to a file: packets whose preamble begins while the capture lasts.
  ///
  /// A capture that was being written is left as it is: `finishCapture` first, so that nothing of it is lost.
  public func startCapture(_ capture: Capture) {
    _ = replaceCapture(by: capture.file)
  }

  /// Has `file` told of everything from now on.
  ///
  /// - Returns: the capture before it.
  private func replaceCapture(by file: WorldCapture?) -> WorldCapture? {
    if case .real = runner { file?.writeInBackground() }
    let former = registry.withLockedValue { registry in
      defer { registry.capture = file }
      return registry.capture
    }
    faults.setCapture(file)
    let (environment, names) = (environment, deviceNames)
    mailbox.perform { engine in environment.setCapture(file, deviceNames: names, in: engine) }
    return former
  }

  /// Ends the capture and begins another one (nil: none) at one instant, so that each packet is in one of them. Real time only.
  ///
  /// - Parameter done: called on any thread when the former capture is complete, with why something of it was not written.
  package func switchCapture(to capture: Capture?, _ done: @escaping @Sendable (Capture.Failure?) -> Void) {
    guard let former = replaceCapture(by: capture?.file) else { return done(nil) }
    if case .real(let runner) = runner { runner.inspect { $0.settle() } }
    Capture.finish(former, done)
  }

  /// Ends the capture and writes what it still holds back, and the packets that are on the air. To be called when the world is
  /// not running.
  ///
  /// - Throws: `Capture.Failure` when something could not be written, now or before.
  public func finishCapture() throws(Capture.Failure) {
    guard let file = replaceCapture(by: nil) else { return }
    switch runner {
    // A world that runs by itself must have taken that in before the file ends.
    case .real(let runner): runner.inspect { $0.settle() }
    // Another world takes it in when it runs again, at the same instant.
    case .virtual(let runner):
      runner.inspect { engine in
        if engine.observer === file { engine.endObservation() }
      }
    }
    try Capture.finish(file)
  }
}
