import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothWire

/// The server of an accessory's services on the host of a device, which has its own links and advertising. Confined to
/// the world's executor; unchecked, because the compiler does not know that only the daemon's calls use its variables and
/// those of the superclass.
final class AccessoryServer<A: Accessory>: HostedAccessory<A>, SystemServer, @unchecked Sendable {
  private var hasPublished = false
  /// True while the adapter is on.
  private var isOn = false
  private let bound: WorldBound

  init(_ accessory: A, name: String, in bound: WorldBound) {
    self.bound = bound
    super.init(accessory, name: name)
  }

  override func perform(_ effect: AccessoryContext.Effect, _ host: inout Host, at now: Instant) {
    bound.check()
    // A device that is off does nothing. `started` schedules the next time.
    if case .wake = effect, !isOn { return }
    // The apps of the device are the GATT clients of its links: the results of requests are theirs.
    if case .writeToCentrals(_, let path) = effect {
      for link in connections { writeEnded(of: path, because: .notSupported, on: link, &host, at: now) }
      return
    }
    super.perform(effect, &host, at: now)
  }

  // MARK: SystemServer

  var deadline: Instant? { wakeTime }

  func owns(_ handle: AttributeHandle) -> Bool { attributes.path(at: handle) != nil }

  func started(_ host: inout Host, at now: Instant) {
    bound.check()
    isOn = true
    if !hasPublished { addServices(to: &host, at: now) }
    hasPublished = true
    withAccessory(&host, at: now) { $0.started(in: &$1) }
  }

  override func publish(_ service: AccessoryService<A>, index: Int, on host: inout Host, at now: Instant) {
    do throws(GATTDatabaseError) {
      try add(service, index: index, to: &host, at: now)
    } catch {
      DaemonLog.note("can't publish the service \(service.uuid): \(error)", of: name)
    }
  }

  func stopped(at now: Instant) {
    bound.check()
    isOn = false
    forgetLinks(at: now)
    wakeTime = nil
  }
}
