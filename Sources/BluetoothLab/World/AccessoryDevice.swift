import BluetoothDaemon
import BluetoothHost
import BluetoothProfiles
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// An accessory in a world, returned by `World.add(_:named:)`.
public final class AccessoryDevice<A: Accessory>: RadioDevice, @unchecked Sendable {
  /// The current state of the accessory. Read this property while the world is not running, or in one of its callbacks.
  public var accessory: A {
    let radio = radio
    return world.inspect { engine in
      (engine.device(radio) as? SimulatedAccessory<A>)?.accessory ?? initial
    }
  }

  private let initial: A

  init(name: String, radio: RadioID, world: World, accessory: A) {
    initial = accessory
    super.init(name: name, radio: radio, world: world)
  }

  /// Changes the accessory's state, as its user would. Subscribers of each characteristic whose value changes are
  /// notified.
  public func update(_ body: @escaping @Sendable (inout A) -> Void) {
    act { accessory, _ in body(&accessory) }
  }

  /// Changes the accessory's state and gives it a context, for example to notify or disconnect.
  public func act(_ body: @escaping @Sendable (inout A, inout AccessoryContext) -> Void) {
    perform { device, now in
      if let device = device as? SimulatedAccessory<A> { device.act(at: now, body) }
    }
  }
}

extension World {
  /// Adds an accessory, simulated without CoreBluetooth, and turns it on.
  ///
  /// - Parameters:
  ///   - accessory: the accessory in its first state.
  ///   - name: identifies the device within the world; a name that another device has stops the program. It is also
  ///     the value of the Device Name characteristic unless the options specify another one.
  ///   - options: the position, transmit power and chip capabilities, among others.
  @discardableResult
  public func add<A: Accessory>(
    _ accessory: A, named name: String, _ options: DeviceOptions = DeviceOptions()
  ) -> AccessoryDevice<A> {
    register(name, options) {
      var configuration = options.configuration(named: name)
      configuration.host.appearance = accessory.appearance.rawValue
      configuration.host.advertisesWithExtendedCommands = true
      let environment = environment
      let made = configuration
      let radio = requestQueue.addDevice(radio: configuration.radio) { engine, radio in
        let device = SimulatedAccessory(
          accessory, made, radio: radio, environment: environment,
          generator: engine.generator.split("device " + name), pool: engine.pool)
        let now = engine.now
        // The engine knows the device only after this closure has returned, so power-on is scheduled.
        engine.schedule(at: now) { engine in engine.withDevice(radio) { $0.setPower(true, at: now) } }
        return device
      }
      return AccessoryDevice(name: name, radio: radio, world: self, accessory: accessory)
    }
  }

  /// Adds an accessory at `position` and turns it on.
  @discardableResult
  public func add<A: Accessory>(_ accessory: A, named name: String, at position: Position) -> AccessoryDevice<A> {
    add(accessory, named: name, DeviceOptions(position: position))
  }
}
