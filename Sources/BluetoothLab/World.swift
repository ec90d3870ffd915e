import BluetoothRadio
import BluetoothServer
import BluetoothWire

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

  let runner: Runner
  private let mailbox: WorldMailbox
  let capture: WorldCapture?
  /// The beginning, in seconds since 2001.
  private let epoch: Double

  /// A world without devices, whose time stands at zero. In virtual time its clock begins on 1 January 2001.
  ///
  /// - Parameters:
  ///   - seed: decides all chance in the world.
  ///   - time: how time passes.
  ///   - capture: a file that everything on the air, and between hosts and controllers, is written to.
  public init(seed: UInt64 = 0, time: Time = .virtual, capture: Capture? = nil) {
    let engine = WorldEngine(seed: seed)
    mailbox = engine.mailbox
    self.capture = capture?.file
    engine.observer = capture?.file
    switch time {
    case .virtual:
      runner = .virtual(VirtualRunner(engine))
      epoch = 0
    case .real(let speed):
      runner = .real(RealTimeRunner(engine, speed: speed))
      epoch = WallClock.secondsSince2001
    }
  }

  /// Adds a device and turns it on.
  ///
  /// - Parameters:
  ///   - name: tells the device from the others of this world: in captures, and in its share of the seed.
  ///   - position: where it is.
  ///   - transmitPower: in dBm.
  public func device(named name: String, at position: Position = .origin, transmitPower: Double = 0) -> Device {
    var configuration = VirtualDeviceConfiguration(name: name, position: position.grid)
    configuration.transmitPower = Decibel(rounding: transmitPower)
    let deliversInPlace = if case .virtual = runner { true } else { false }
    return Device(
      name: name,
      adapter: VirtualAdapter(
        configuration, in: mailbox, deliversInPlace: deliversInPlace, epoch: epoch, capture: capture))
  }

  /// How much radio time has passed.
  public var now: Duration { mailbox.now.sinceZero.duration }
}

/// A place in space, in metres.
public struct Position: Hashable, Sendable {
  public var x: Double
  public var y: Double
  public var z: Double

  public init(x: Double, y: Double = 0, z: Double = 0) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// Where all axes meet.
  public static let origin = Position(x: 0)

  var grid: GridPosition { GridPosition(metresX: x, y: y, z: z) }
}

/// A device of a world: give it to a manager under `CBManagerOptionAdapterKey`.
public final class Device: Sendable {
  public let name: String
  private let virtual: VirtualAdapter

  init(name: String, adapter: VirtualAdapter) {
    self.name = name
    virtual = adapter
  }

  /// Takes the device to another place.
  public func move(to position: Position) { virtual.move(to: position.grid) }

  /// Switches Bluetooth on or off, as a user does in the settings.
  public func setPower(_ isOn: Bool) { virtual.setPower(isOn) }
}

extension Device: AdapterSource {
  package var adapter: any Adapter { virtual }
}
