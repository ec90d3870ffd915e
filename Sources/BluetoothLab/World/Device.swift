import BluetoothAdapters
import BluetoothDaemon
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// Something in a world that has a radio: a `Device` for managers, or an accessory that the lab plays itself.
public class RadioDevice: @unchecked Sendable {
  // Constants only.

  /// Tells the device from the others of its world.
  public let name: String
  package let radio: RadioID
  package let world: World

  package init(name: String, radio: RadioID, world: World) {
    self.name = name
    self.radio = radio
    self.world = world
  }

  /// Takes the device to another place.
  public func move(to position: Position) {
    let (radio, grid) = (radio, position.grid)
    world.mailbox.perform { $0[radio].position = grid }
  }

  /// Switches Bluetooth on or off, as a user does in the settings.
  public func setPower(_ isOn: Bool) {
    perform { device, now in device.setPower(isOn, at: now) }
  }

  /// Switches Bluetooth on or off when the world's radio time is `time`; at once when that is over.
  public func setPower(_ isOn: Bool, at time: Duration) {
    let (radio, instant) = (radio, Instant.zero + TimeSpan(time))
    world.mailbox.perform { engine in
      engine.schedule(at: instant) { engine in
        let now = engine.now
        engine.withDevice(radio) { $0.setPower(isOn, at: now) }
      }
    }
  }

  /// Forgets all devices that it has bonded with, as a user does in the settings. Links to them end.
  public func forgetBonds() {
    perform { device, now in device.forgetBonds(at: now) }
  }

  /// Has something done to the device in its world, when calls are taken in.
  func perform(_ body: @escaping @Sendable (any WorldDevice, Instant) -> Void) {
    let radio = radio
    world.mailbox.perform { engine in
      let now = engine.now
      engine.withDevice(radio) { body($0, now) }
    }
  }
}

/// A device of a world: give it to a manager under `CBManagerOptionAdapterKey`.
public final class Device: RadioDevice, @unchecked Sendable {
  private let virtual: VirtualAdapter

  init(name: String, radio: RadioID, world: World, adapter: VirtualAdapter) {
    virtual = adapter
    super.init(name: name, radio: radio, world: world)
  }
}

extension Device: AdapterSource {
  package var adapter: any Adapter { virtual }
}
