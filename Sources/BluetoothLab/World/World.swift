// Overview
//
// Tests and simulations need an air whose time, distances, losses and faults they control. BluetoothLab is that air for
// a program: worlds, devices, accessories, faults as data, statistics, energy, and a kit for tests.
//
// The idea: a `World` makes everything explicit that is chance or hardware elsewhere. Its time passes only inside `run`
// (`VirtualRunner`), its randomness comes from one seed, and its devices behave as real ones because they are real
// ones: the same controller, host and daemon. The module adds what a person in a laboratory does: place devices, move
// them, switch them, disturb them, look at them.
//
// Callers: tests and programs of users; BluetoothAir, AccessoryPlayer and BluetoothLabTime build on it. It calls
// BluetoothSimulation for devices, BluetoothRadio for the air, and CoreBluetooth for the test kit.
//
// An accessory of the lab consists of a controller, a host, and an `Accessory` (a value) in place of the daemon.
// `Device.serve` makes a host with a daemon serve an accessory's services, too (`AccessoryServer`). Both use the same
// code between host and accessory (`HostedAccessory`).
//
// Invariants:
// - The same seed, devices and calls give the same packets at the same instants. Nothing may depend on a thread, a
//   clock or the order of a hash table.
// - Virtual time stands still while a callback runs, and while a test holds the world (`hold`).
// - The lab never adds a second way to do what a lower floor does: an observation must not change what it observes.
// - Faults are data (`FaultPlan`); `FaultInjector` alone knows how they are applied.
//
// Where to begin: this file and `Running.swift`, then `VirtualRunner.swift`; `Accessory.swift` with
// `HeartRateSensor.swift` for accessories; `FaultPlan.swift`; `TestCentral.swift` for the test kit;
// `SimulatedApp.swift` for the life of an app.
//
// Specification: none of its own; Documentation/Fidelity.md says what is real and what is modelled.

import BluetoothBonds
import BluetoothDaemon
import BluetoothRadio
import BluetoothSimulation
import BluetoothTransport
import BluetoothWire
import NIOConcurrencyHelpers

/// A simulated radio environment with its devices.
///
/// In virtual time, a world is deterministic: the same seed, devices and calls give the same packets at the same
/// instants. Time passes only inside `run`, as fast as the machine allows, and only while no callback is running:
///
/// ```swift
/// let world = World(seed: 1)
/// let phone = world.makeDevice(named: "phone", at: Position(x: 2))
/// let central = CBCentralManager(delegate: app, queue: nil, options: [CBManagerOptionAdapterKey: phone])
/// world.run(for: .seconds(5))
/// ```
public final class World: Sendable {
  /// The passage of time in a world.
  public enum Time: Sendable {
    /// Time passes only in `run`, as fast as the machine allows.
    case virtual
    /// Time passes continuously with the wall clock; `speed` is radio seconds per second, 0.001 to 1,000.
    case real(speed: Double)
  }

  enum Runner: Sendable {
    case virtual(VirtualRunner)
    case real(RealTimeRunner)
  }

  private struct Registry {
    /// The names of the devices, which must differ.
    var names: Set<String> = []
    /// The devices that have been removed.
    var removed: Set<RadioID> = []
    var supplies: [(chip: CurrentProfile, cell: Cell)] = []
    var capture: WorldCapture?
    /// The capture that stays if a test fails; nil: there is none, or the test has started a capture of its own.
    var failureCapture: FailureCapture?
    /// The recorder of the world's trace; nil: the trace was not started.
    var recorder: TraceRecorder?
    /// The snapshot last reported to the metrics system.
    var reported: WorldStatistics?
  }

  let runner: Runner
  package let requestQueue: WorldRequestQueue
  let bound: WorldBound
  package let environment: DeviceEnvironment
  let faults: FaultInjector
  private let registry = NIOLockedValueBox(Registry())
  /// The identities of imported bonds that the world has not processed yet, by device, in the order of the imports.
  let pendingBondImports = NIOLockedValueBox<[RadioID: [DeviceAddress]]>([:])
  /// The wall clock time at the world's time zero, in seconds since 1 January 2001.
  private let epoch: Double

  /// Creates a world without devices at time zero. In virtual time, its clock starts on 1 January 2001.
  ///
  /// - Parameters:
  ///   - seed: the seed of all randomness in the world.
  ///   - time: the passage of time.
  ///   - capture: a file for all transmissions on the air and all packets between hosts and controllers; nil for
  ///     none.
  public convenience init(seed: UInt64 = 0, time: Time = .virtual, capture: Capture? = nil) {
    self.init(seed: seed, time: time, capture: capture, executor: nil)
    if case .virtual = time, capture == nil, let folder = FailureCapture.folder { captureFailures(in: folder) }
  }

  /// Creates a world without devices at time zero.
  ///
  /// - Parameter executor: the executor of the world in real time; nil for a dispatch queue that the world creates.
  package init(seed: UInt64, time: Time, capture: Capture?, executor: (any WorldExecutor)?) {
    let engine = WorldEngine(seed: seed)
    requestQueue = engine.requestQueue
    bound = engine.bound
    environment = DeviceEnvironment(in: engine.bound)
    faults = FaultInjector(
      random: engine.generator.split("faults"), requestQueue: engine.requestQueue, bound: engine.bound)
    switch time {
    case .virtual:
      runner = .virtual(VirtualRunner(engine))
      epoch = 0
    case .real(let speed):
      runner = .real(RealTimeRunner(engine, speed: speed, on: executor))
      epoch = executor?.epoch ?? WallClock.secondsSince2001
    }
    environment.epoch = Int64(epoch)
    if let capture { startCapture(capture) }
  }

  /// The object that runs the app in the world's time; nil: none. Set it while the world is not running. It has no
  /// effect in real time.
  package var appDriver: (any AppDriver)? {
    get { if case .virtual(let runner) = runner { runner.driver } else { nil } }
    set { if case .virtual(let runner) = runner { runner.driver = newValue } }
  }

  /// Makes runs in virtual time faster if no code of the program uses the main queue: the queue's work then waits until
  /// the end of a run.
  package func ignoreMainQueue() {
    if case .virtual(let runner) = runner { runner.servesMainQueue = false }
  }

  /// The runner of the world in real time; nil in virtual time.
  package var realTimeRunner: RealTimeRunner? {
    if case .real(let runner) = runner { runner } else { nil }
  }

  /// Adds a device and turns it on.
  ///
  /// - Parameters:
  ///   - name: the name that identifies the device within the world and in captures, and that selects its random
  ///     numbers. The program stops if another device of the world has the same name.
  ///   - position: the position of the device.
  ///   - transmitPower: the transmit power in dBm.
  public func makeDevice(named name: String, at position: Position = .origin, transmitPower: Double = 0) -> Device {
    makeDevice(named: name, DeviceOptions(position: position, transmitPower: transmitPower))
  }

  /// Adds a device and turns it on.
  ///
  /// - Parameters:
  ///   - name: the name that identifies the device within the world and in captures, and that selects its random
  ///     numbers. The program stops if another device of the world has the same name.
  ///   - options: the position, transmit power and chip capabilities, among others.
  ///   - prompts: the user's answers to pairing prompts; nil for a user who agrees to everything but can neither see
  ///     nor type numbers.
  ///   - bondFolder: the folder that keeps the device's bonds and identity for later worlds, in a subfolder for this
  ///     device that is created if necessary. Files that can't be read or written are logged. nil keeps nothing
  ///     beyond the world.
  public func makeDevice(
    named name: String, _ options: DeviceOptions, prompts: ScriptedPrompts? = nil, bondFolder: String? = nil
  ) -> Device {
    makeDevice(named: name, options, prompts: prompts, bondFolder: bondFolder, serving: nil)
  }

  /// Adds a device, and turns it on; see above.
  ///
  /// - Parameter serving: the settings of a server that shares the device; nil: none does.
  package func makeDevice(
    named name: String, _ options: DeviceOptions, prompts: ScriptedPrompts? = nil, bondFolder: String?,
    serving: ServingOptions?
  ) -> Device {
    register(name, options) {
      let deliversInPlace = if case .virtual = runner { true } else { false }
      var configuration = options.configuration(named: name)
      if let prompts { configuration.prompts = prompts }
      configuration.serving = serving
      if let bondFolder {
        configuration.bonds = FileBondStore(folder: bondFolder, adapter: name, limit: options.storedBondLimit)
        configuration.hasLastingIdentity = true
      }
      let adapter = VirtualAdapter(
        configuration, in: requestQueue, deliversInPlace: deliversInPlace, epoch: epoch,
        environment: environment)
      return Device(name: name, radio: adapter.radio, world: self, adapter: adapter)
    }
  }

  /// Creates a device and registers its name under one lock, so that the order of the names matches the devices'
  /// indices.
  package func register<D: RadioDevice>(_ name: String, _ options: DeviceOptions, _ make: () -> D) -> D {
    registry.withLockedValue { registry in
      guard registry.names.insert(name).inserted else {
        fatalError("the world has a device named \"\(name)\" already: the names of devices must be unique")
      }
      registry.supplies.append((options.chip, options.cell))
      faults.addDevice(named: name)
      let device = make()
      if options.antennaPattern != .omnidirectional { device.setAntennaPattern(options.antennaPattern) }
      return device
    }
  }

  /// The names of the devices, in the order in which they were added.
  public var deviceNames: [String] { faults.deviceNames }

  /// The devices that have been removed. They keep their numbers and their names in `deviceNames`.
  package var removedDevices: Set<RadioID> { registry.withLockedValue { $0.removed } }

  /// The devices that have not been removed, in the order in which they were added.
  package var presentDevices: [(radio: RadioID, name: String)] {
    let removed = removedDevices
    return deviceNames.enumerated().map { (RadioID(index: $0.offset), $0.element) }.filter { !removed.contains($0.0) }
  }

  /// Removes a device, as if somebody carried it away: its links end with their supervision timeouts. Call this method
  /// in an operation of the world, which has the engine, and only for a device without apps and without a host of
  /// another program. No later device can have its name.
  package func remove(_ radio: RadioID, from engine: WorldEngine) {
    registry.withLockedValue { _ = $0.removed.insert(radio) }
    engine.remove(radio)
  }

  /// The chip and the battery of each device.
  var supplies: [(chip: CurrentProfile, cell: Cell)] { registry.withLockedValue { $0.supplies } }

  /// The radio time since the world began.
  public var now: Duration { requestQueue.readClock().sinceZero.duration }

  /// Stores the snapshot that is reported to the metrics system, and returns the one reported before.
  func exchangeReported(_ statistics: WorldStatistics) -> WorldStatistics? {
    registry.withLockedValue { registry in
      defer { registry.reported = statistics }
      return registry.reported
    }
  }

  /// The recorder of the world's trace; nil: the trace was not started.
  var recorder: TraceRecorder? { registry.withLockedValue { $0.recorder } }

  /// Creates the recorder of the world's trace. Returns nil if it exists.
  func addRecorder() -> TraceRecorder? {
    registry.withLockedValue { registry in
      guard registry.recorder == nil else { return nil }
      let recorder = TraceRecorder(in: bound)
      registry.recorder = recorder
      return recorder
    }
  }

  // MARK: Captures

  /// Starts a capture of the packets whose preamble begins while the capture lasts.
  ///
  /// An earlier capture is left unfinished. Call `finishCapture` first so that none of its packets are lost.
  public func startCapture(_ capture: Capture) {
    _ = replaceCapture(by: capture.file)
    registry.withLockedValue { $0.failureCapture = nil }
  }

  /// Starts a capture in `folder` that stays only if an expectation is not met.
  func captureFailures(in folder: String) {
    guard let capture = FailureCapture(in: folder) else { return }
    _ = replaceCapture(by: capture.file)
    registry.withLockedValue { $0.failureCapture = capture }
  }

  /// The capture that stays if a test fails; nil: there is none.
  var failureCapture: FailureCapture? { registry.withLockedValue { $0.failureCapture } }

  /// Makes `file` the world's capture.
  ///
  /// - Returns: the previous capture.
  private func replaceCapture(by file: WorldCapture?) -> WorldCapture? {
    if case .real(let runner) = runner, !runner.hasOwnTime { file?.writeInBackground() }
    let former = registry.withLockedValue { registry in
      defer { registry.capture = file }
      return registry.capture
    }
    faults.setCapture(file)
    let (environment, names) = (environment, deviceNames)
    requestQueue.perform { engine in environment.setCapture(file, deviceNames: names, in: engine) }
    return former
  }

  /// Replaces the capture by another one (nil for none) at one instant, so that each packet is in exactly one of the
  /// two captures. Real time only.
  ///
  /// - Parameter done: a closure called on any thread when the previous capture is complete, with the failure if a
  ///   part of it could not be written.
  package func switchCapture(to capture: Capture?, _ done: @escaping @Sendable (Capture.Failure?) -> Void) {
    guard let former = replaceCapture(by: capture?.file) else { return done(nil) }
    if case .real(let runner) = runner { runner.inspect { $0.settle() } }
    Capture.finish(former, done)
  }

  /// Ends the capture. Writes its buffered packets and those that are still on the air. Call this method while the
  /// world is not running.
  ///
  /// - Throws: `Capture.Failure` if something could not be written, now or earlier.
  public func finishCapture() throws(Capture.Failure) {
    guard failureCapture == nil, let file = replaceCapture(by: nil) else { return }
    switch runner {
    // A world in real time must process the change before the file ends.
    case .real(let runner): runner.inspect { $0.settle() }
    // A world in virtual time processes the change when it runs again, at the same instant.
    case .virtual(let runner):
      runner.inspect { engine in
        if engine.observer === file { engine.endObservation() }
      }
    }
    try Capture.finish(file)
  }
}
