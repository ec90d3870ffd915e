import BluetoothDaemon
import BluetoothRadio
import BluetoothWire

/// A virtual device of a world, as an adapter for managers.
package final class VirtualAdapter: AppAdapter, Sendable {
  package let directory = PeerDirectory()
  package let deliversInPlace: Bool
  /// The device's number in its world.
  package let radio: RadioID
  private let sessions = LocalSessions()
  private let world: WorldRequestQueue
  /// The time of the world's start, in seconds since 2001-01-01.
  private let epoch: Double

  /// Announces a device's requests to the world. The device retains the executor.
  final class Executor: AdapterExecutor {
    let world: WorldRequestQueue
    let radio: RadioID

    init(world: WorldRequestQueue, radio: RadioID) {
      self.world = world
      self.radio = radio
    }

    func wake() { world.deviceHasRequests(radio) }
  }

  /// Adds a device to `world` and switches it on.
  package init(
    _ configuration: VirtualDeviceConfiguration, in world: WorldRequestQueue, deliversInPlace: Bool, epoch: Double,
    environment: DeviceEnvironment
  ) {
    self.world = world
    self.deliversInPlace = deliversInPlace
    self.epoch = epoch
    let (sessions, directory) = (sessions, directory)
    // Until the device exists in the world, the stored answer of the user to the permission prompt applies.
    if configuration.app != nil { directory.access = configuration.daemon.knownAccess }
    radio = world.addDevice(radio: configuration.radio) { engine, radio in
      let components = VirtualDevice.Components(
        configuration: configuration, generator: engine.generator.split("device " + configuration.name),
        pool: engine.pool, sessions: sessions, directory: directory)
      let device = VirtualDevice(
        components, settings: StationSettings(of: radio, in: environment, named: configuration.name),
        executor: Executor(world: world, radio: radio))
      sessions.requests.setExecutor(device.executor)
      // Requests posted before this point have woken no executor.
      world.deviceHasRequests(radio)
      if configuration.hasInputDevices {
        let now = engine.now
        // The engine knows the device only after this closure has returned. Access to its host creates its parts.
        engine.schedule(at: now) { engine in engine.withDevice(radio) { _ = $0.withHost(at: now) { _ in } } }
      }
      return device
    }
  }

  package func absoluteTime() -> Double { epoch + Double(world.now.nanoseconds) / 1e9 }

  package func openCentralSession(for client: any CentralClient, owner: SessionOwner?) -> CentralSession {
    CentralSession(client: client, owner: owner, in: sessions)
  }

  package func openPeripheralSession(for client: any PeripheralClient, owner: SessionOwner?) -> PeripheralSession {
    PeripheralSession(client: client, owner: owner, in: sessions)
  }

  package func setClient(_ client: any AppClient, ofApp app: String) { sessions.setClient(client, ofApp: app) }

  package func send(_ request: AppRequest, ofApp app: String) { sessions.send(request, ofApp: app) }

  package func setSystemClient(_ client: any SystemClient) { sessions.setSystemClient(client) }

  package func send(_ request: SystemRequest) { sessions.requests.post(.system(request)) }

  package func setHCIObserver(_ observer: (any HCIObserver)?) {
    world.perform { [radio] engine in engine.withDevice(radio) { $0.setHCIObserver(observer) } }
  }
}
