import BluetoothAdapters
import BluetoothDaemon
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// A device with a radio in a world: a `Device` for managers, or a simulated accessory.
public class RadioDevice: @unchecked Sendable {
  // All stored properties are constants.

  /// The name that identifies the device within its world.
  public let name: String
  package let radio: RadioID
  package let world: World

  package init(name: String, radio: RadioID, world: World) {
    self.name = name
    self.radio = radio
    self.world = world
  }

  /// Moves the device to another position.
  public func move(to position: Position) {
    let (radio, grid) = (radio, position.grid)
    world.requestQueue.perform { $0[radio].position = grid }
  }

  /// Turns or replaces the device's antenna. Its gain stays the one of `DeviceOptions.antennaGain`.
  public func setAntennaPattern(_ pattern: AntennaPattern) {
    let (radio, loss) = (radio, pattern.directionalLoss)
    world.requestQueue.perform { $0.setDirectionalLoss(loss, of: radio) }
  }

  /// Turns Bluetooth on or off, as a user does in the settings.
  public func setPower(_ isOn: Bool) {
    perform { device, now in device.setPower(isOn, at: now) }
  }

  /// Turns Bluetooth on or off at this radio time of the world, or at once if it has passed.
  public func setPower(_ isOn: Bool, at time: Duration) {
    let (radio, instant) = (radio, Instant.zero + TimeSpan(time))
    world.requestQueue.perform { engine in
      engine.schedule(at: instant) { engine in
        let now = engine.now
        engine.withDevice(radio) { $0.setPower(isOn, at: now) }
      }
    }
  }

  /// Restarts the device: all apps end, and Bluetooth is off until the device has started. If the policy of the device
  /// says so (`PlatformPolicy.restoresAfterRestart`), the sessions of apps with restore identifiers go on then, and
  /// their events launch the apps. Otherwise the user launches the apps.
  ///
  /// - Parameters:
  ///   - time: the radio time of the restart; it happens at once if this time has passed.
  ///   - duration: the time until the device has started, and its user has unlocked it.
  public func restart(at time: Duration = .zero, for duration: Duration = .seconds(30)) {
    let (radio, instant) = (radio, Instant.zero + TimeSpan(time))
    world.requestQueue.perform { engine in
      engine.schedule(at: max(instant, engine.now)) { engine in
        var wasPowered = false
        engine.withDevice(radio) { wasPowered = $0.restart(at: engine.now) }
        guard wasPowered else { return }
        engine.schedule(at: engine.now + TimeSpan(duration)) { engine in
          engine.withDevice(radio) { $0.setPower(true, at: engine.now) }
        }
      }
    }
  }

  /// Deletes all bonds, as a user does in the settings, and disconnects the bonded devices.
  public func forgetBonds() {
    perform { device, now in device.forgetBonds(at: now) }
  }

  /// Runs `body` on the device on the world's executor, when the world processes queued calls.
  func perform(_ body: @escaping @Sendable (any WorldDevice, Instant) -> Void) {
    let radio = radio
    world.requestQueue.perform { engine in
      let now = engine.now
      engine.withDevice(radio) { body($0, now) }
    }
  }
}

/// A device of a world for managers. Managers use it if it is the value of their option `CBManagerOptionAdapterKey`, if
/// it is the default device (`World.makeDefault`), or if they are created inside `run`.
public final class Device: RadioDevice, @unchecked Sendable {
  private let virtual: VirtualAdapter

  init(name: String, radio: RadioID, world: World, adapter: VirtualAdapter) {
    virtual = adapter
    super.init(name: name, radio: radio, world: world)
  }

  /// Calls `body`. Managers that `body` creates without `CBManagerOptionAdapterKey` use this device, also in the tasks
  /// that `body` creates, but not in detached tasks and on other dispatch queues. Two apps in one process so use two
  /// devices.
  public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    try DefaultAdapter.$ofTask.withValue(virtual) { try body() }
  }
}

extension Device {
  /// Resets the network settings, as a user does in the settings: deletes all bonds, and gives all peers new identifiers
  /// for all apps. Apps see the state `resetting` and then the former state: their links have ended, their peripherals
  /// must be discovered again, and identifiers that they have saved find none. A bonded device still has its side of
  /// the bond.
  ///
  /// With a bond folder, later worlds have the new identifiers, too.
  public func resetNetworkSettings() {
    perform { device, now in device.resetNetworkSettings(at: now) }
  }
}

extension Device {
  // In an extension: the formatter takes two forms of one method in one place for ambiguous.
  /// Calls `body`, like the synchronous method.
  public nonisolated(nonsending) func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    try await DefaultAdapter.$ofTask.withValue(virtual) { try await body() }
  }
}

extension World {
  /// Makes `device` the device of all managers that are created from now on without `CBManagerOptionAdapterKey`, in the
  /// whole process: an app joins the world without a change. It replaces the default device of any other world, and
  /// takes precedence over the environment variable `COREBLUETOOTH_ADAPTER`.
  ///
  /// - Parameter device: a device of this world. A device of another world stops the program.
  public func makeDefault(_ device: Device) {
    guard device.world === self else {
      fatalError("the device \"\(device.name)\" belongs to another world than the one that makes it the default")
    }
    DefaultAdapter.ofProcess = device.adapter
  }

  /// Makes managers that are created from now on without `CBManagerOptionAdapterKey` use the adapter of the environment
  /// variable `COREBLUETOOTH_ADAPTER` again.
  public static func removeDefault() { DefaultAdapter.ofProcess = nil }
}

extension Device {
  var virtualAdapter: VirtualAdapter { virtual }
}

extension Device: AdapterSource {
  package var adapter: any DaemonAdapter { virtual }
}
