import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// An accessory in a world: what `World.add(_:named:)` gives.
public final class AccessoryDevice<A: Accessory>: RadioDevice, @unchecked Sendable {
  /// The accessory as it is now. To be asked while the world is not running, or in one of its callbacks.
  public var accessory: A {
    let radio = radio
    return world.inspect { engine in
      (engine.participant(radio) as? AccessoryParticipant<A>)?.accessory ?? initial
    }
  }

  private let initial: A

  init(name: String, radio: RadioID, world: World, accessory: A) {
    initial = accessory
    super.init(name: name, radio: radio, world: world)
  }

  /// Changes the accessory, as somebody does who holds it in his hands. Whoever listens to a characteristic whose value is
  /// another one afterwards is notified.
  public func update(_ body: @escaping @Sendable (inout A) -> Void) {
    act { accessory, _ in body(&accessory) }
  }

  /// Changes the accessory and has it do something.
  public func act(_ body: @escaping @Sendable (inout A, inout AccessorySession) -> Void) {
    perform { device, now in
      if let device = device as? AccessoryParticipant<A> { device.act(at: now, body) }
    }
  }
}

extension World {
  /// Adds an accessory that the lab plays itself, and turns it on.
  ///
  /// - Parameters:
  ///   - name: tells the device from the others of this world; it is what its characteristic Device Name says, too, unless the
  ///     options say otherwise.
  ///   - options: where it is, how strongly it sends, and what its chip can do.
  @discardableResult
  public func add<A: Accessory>(
    _ accessory: A, named name: String, _ options: DeviceOptions = DeviceOptions()
  ) -> AccessoryDevice<A> {
    register(name, options) {
      var configuration = options.configuration(named: name)
      configuration.host.appearance = accessory.appearance
      configuration.host.advertisesWithExtendedCommands = true
      let environment = environment
      let made = configuration
      let radio = mailbox.addDevice(radio: configuration.radio) { engine, radio in
        let device = AccessoryParticipant(
          accessory, made, radio: radio, environment: environment,
          generator: engine.generator.split("device " + name), pool: engine.pool)
        let now = engine.now
        // Nothing of it is asked for before it is a member.
        engine.schedule(at: now) { engine in engine.withDevice(radio) { $0.setPower(true, at: now) } }
        return device
      }
      return AccessoryDevice(name: name, radio: radio, world: self, accessory: accessory)
    }
  }

  /// Adds an accessory at `position`, and turns it on.
  @discardableResult
  public func add<A: Accessory>(_ accessory: A, named name: String, at position: Position) -> AccessoryDevice<A> {
    add(accessory, named: name, DeviceOptions(position: position))
  }
}
