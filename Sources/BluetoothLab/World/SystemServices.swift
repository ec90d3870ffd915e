import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// The services of an accessory that the system of a device serves: the result of `Device.serve(_:)`.
public final class SystemServices<A: Accessory>: Sendable {
  private let device: Device
  private let server: AccessoryServer<A>

  init(_ server: AccessoryServer<A>, on device: Device) {
    self.server = server
    self.device = device
  }

  /// The current state of the accessory. Read this property while the world is not running, or in one of its callbacks.
  public var accessory: A {
    let server = server
    return device.world.inspect { _ in server.accessory }
  }

  /// Changes the accessory's state, as its user would. Subscribers of each characteristic whose value changes are
  /// notified.
  public func update(_ body: @escaping @Sendable (inout A) -> Void) {
    act { accessory, _ in body(&accessory) }
  }

  /// Changes the accessory's state and gives it a context, for example to notify.
  public func act(_ body: @escaping @Sendable (inout A, inout AccessoryContext) -> Void) {
    let server = server
    device.perform { device, now in
      device.changeServices(at: now) { host in server.act(&host, at: now, body) }
    }
  }
}

extension Device {
  /// Makes the system of the device serve the services of an accessory, in addition to the services of apps.
  ///
  /// Each peer can use them, also a peripheral to which the device has connected: that peripheral is then the GATT client
  /// over the link, as a watch is in the profiles of alerts and of the time.
  ///
  /// ```swift
  /// let services = phone.serve(Telephone())
  /// services.act { telephone, context in telephone.alert(.email, text: "Ann", in: &context) }
  /// ```
  ///
  /// The services stay until the world ends. Each call adds services. `Accessory.started(in:)` is called whenever the
  /// device is turned on, and `connected(in:)` for each link of the device. The device advertises what its apps
  /// advertise, and chooses its links: `Accessory.advertising`, `Accessory.appearance` and the methods `advertise`,
  /// `disconnect` and `requestConnection` of the context have no effect.
  ///
  /// - Parameter accessory: the accessory in its first state.
  @discardableResult
  public func serve<A: Accessory>(_ accessory: A) -> SystemServices<A> {
    let server = AccessoryServer(accessory, name: name, in: world.bound)
    perform { device, now in device.serve(server, at: now) }
    return SystemServices(server, on: self)
  }
}
