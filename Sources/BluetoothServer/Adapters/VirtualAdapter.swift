import BluetoothController
import BluetoothHost
import BluetoothRadio
import BluetoothWire

/// How a virtual device is made.
package struct VirtualDeviceConfiguration: Sendable {
  /// Names the device in the world: its share of the seed, its interface in captures. Unique in its world.
  package var name: String
  package var position: GridPosition
  /// dBm.
  package var transmitPower = Decibel(0)
  package var host: HostConfiguration

  package init(name: String, position: GridPosition) {
    self.name = name
    self.position = position
    host = HostConfiguration(deviceName: name)
  }
}

/// A virtual device of a world, as managers use it.
package final class VirtualAdapter: Adapter, Sendable {
  package let directory = PeerDirectory()
  package let deliversInPlace: Bool
  /// The device's number in its world.
  package let radio: RadioID
  private let mailbox = Mailbox()
  private let world: WorldMailbox
  /// The world's beginning, in seconds since 2001.
  private let epoch: Double

  /// Tells the world of a device's mail. The device keeps it.
  final class Executor: AdapterExecutor {
    let world: WorldMailbox
    let radio: RadioID

    init(world: WorldMailbox, radio: RadioID) {
      self.world = world
      self.radio = radio
    }

    func wake() { world.announce(radio) }
  }

  /// Adds a device to `world` and turns it on.
  package init(
    _ configuration: VirtualDeviceConfiguration, in world: WorldMailbox, deliversInPlace: Bool, epoch: Double,
    capture: WorldCapture?
  ) {
    self.world = world
    self.deliversInPlace = deliversInPlace
    self.epoch = epoch
    let (mailbox, directory) = (mailbox, directory)
    radio = world.addDevice(radio: RadioProperties(position: configuration.position)) { engine, radio in
      let generator = engine.generator.split("device " + configuration.name)
      var addresses = generator.split("address")
      // The company's part of the public address is a locally administered one, so that no real device has it.
      let address = DeviceAddress(0x02_0000_0000_00 | addresses.next() & 0xFF_FFFF_FFFF, .public)
      var controllerConfiguration = ControllerConfiguration(address: address)
      controllerConfiguration.transmitPower = configuration.transmitPower
      let pool = engine.pool
      let host = Host(configuration: configuration.host, random: generator.split("host"), pool: pool)
      let device = VirtualDevice(
        controller: Controller(
          configuration: controllerConfiguration, random: generator.split("controller"), pool: pool),
        service: Service(host: host, mailbox: mailbox, directory: directory, random: generator.split("service")),
        executor: Executor(world: world, radio: radio), capture: capture?.device(named: configuration.name))
      mailbox.setExecutor(device.executor)
      // Nobody was told of the mail that has come before.
      world.announce(radio)
      device.setPower(true, at: engine.now)
      return device
    }
  }

  package func absoluteTime() -> Double { epoch + Double(world.now.nanoseconds) / 1e9 }

  package func openCentralSession(for client: any CentralClient) -> CentralSession {
    CentralSession(client: client, mailbox: mailbox)
  }

  package func openPeripheralSession(for client: any PeripheralClient) -> PeripheralSession {
    PeripheralSession(client: client, mailbox: mailbox)
  }

  // MARK: What a world does with its devices

  /// Switches the device's Bluetooth on or off, as a user does in the settings.
  package func setPower(_ on: Bool) {
    withDevice { device, now in device.setPower(on, at: now) }
  }

  package func move(to position: GridPosition) {
    let radio = radio
    world.perform { $0[radio].position = position }
  }

  private func withDevice(_ body: @escaping @Sendable (VirtualDevice, Instant) -> Void) {
    let radio = radio
    world.perform { engine in
      let now = engine.now
      engine.with(radio) { participant in
        if let device = participant as? VirtualDevice { body(device, now) }
      }
    }
  }
}
