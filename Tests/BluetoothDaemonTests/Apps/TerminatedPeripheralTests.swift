import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothDaemon

/// Clients' requests for the values of a terminated app whose services are preserved.
@Suite("Requests to terminated apps")
struct TerminatedPeripheralTests {
  private static let owner = SessionOwner(app: "app", restoreIdentifier: "lamp")

  let air = DaemonNetwork()
  let launcher = StoredAppTests.Launcher()
  let lamp = PeripheralRecorder()
  let session: PeripheralSession
  let phone: Phone
  let peer: PeerHandle
  let value: RemoteAttributeID

  /// Lets an app publish and advertise a service, and a phone connect to it.
  init() throws {
    phone = Phone(air, air.add("Phone"))
    _ = air.add("Lamp", policy: .open)
    let sessions = air.devices[1].sessions
    sessions.setClient(launcher, ofApp: "app")
    sessions.send(.launched(AppManifest(), isInFront: true), ofApp: "app")
    session = PeripheralSession(client: lamp, owner: Self.owner, in: sessions)
    air.run()
    session.publishLamp(LocalAttributeID(number: 2), [.read, .write, .writeWithoutResponse])
    air.run()
    _ = phone.takeEvents()
    peer = try phone.findAndConnect()
    value = try #require(try phone.discover(peer)[0x2A56]).id
    _ = lamp.take()
  }

  private func send(_ request: AppRequest) {
    air.devices[1].sessions.send(request, ofApp: "app")
    air.run()
  }

  /// The error of a read or a write among the events; nil: neither has failed.
  private func error(_ events: [CentralEvent]) -> SessionError? {
    for event in events {
      switch event {
      case .valueRead(_, _, .failure(let error)): return error
      case .written(_, _, let error?): return error
      default: break
      }
    }
    return nil
  }

  /// Opens the session of the app's next process, and returns the first events.
  private func restore() -> [String] {
    let session = PeripheralSession(client: lamp, owner: Self.owner, in: air.devices[1].sessions)
    air.run()
    return withExtendedLifetime(session) { lamp.take().map(\.text).filter { !$0.hasPrefix("length") } }
  }

  @Test("Requests to a terminated app that nothing launches get an error at once, and its link and services stay")
  func notLaunchable() {
    let isAdvertising = air.devices[1].controller.isAdvertising
    send(.launchable(false))
    send(.terminated(.system))
    for _ in 0..<2 {
      #expect(error(phone.send(.read(peer, value))) == .att(.unlikelyError))
      #expect(error(phone.send(.write(peer, value, [5]))) == .att(.unlikelyError))
    }
    air.pass(.seconds(31))
    #expect(air.linkCount(1) == 1)
    #expect(air.devices[1].controller.isAdvertising == isAdvertising)
    #expect(launcher.launches() == [])
    // No request has waited for the process that the user starts.
    send(.launched(AppManifest(), isInFront: true))
    #expect(restore() == ["restored 1 services", "state poweredOn"])
  }

  @Test("A request waits for the launch of an app during a pause, and gets an error when the launch has failed")
  func failedLaunch() {
    send(.launchPaused)
    send(.terminated(.system))
    #expect(error(phone.send(.read(peer, value))) == nil)
    air.pass(.seconds(16))
    #expect(launcher.launches() == [])
    send(.launchable(true))
    #expect(launcher.launches() == [RestoreIdentifiers(peripherals: ["lamp"])])
    #expect(error(phone.recorder.take()) == nil)
    // The launched process has not come.
    send(.launchable(false))
    send(.terminated(.system))
    #expect(error(phone.recorder.take()) == .att(.unlikelyError))
    send(.launchPaused)
    send(.launchable(true))
    #expect(launcher.launches() == [], "no request waits any more")
    air.pass(.seconds(31))
    #expect(air.linkCount(1) == 1)
    // The next request launches the app, which gets it.
    #expect(error(phone.send(.read(peer, value))) == nil)
    #expect(launcher.launches() == [RestoreIdentifiers(peripherals: ["lamp"])])
    #expect(restore() == ["restored 1 services", "state poweredOn", "read 2 from 0"])
  }

  @Test("A request that a process has not answered when it ends gets an error, and the next request launches the app")
  func unanswered() {
    #expect(error(phone.send(.read(peer, value))) == nil)
    #expect(lamp.take().map(\.text).contains("read 2 from 0"))
    send(.terminated(.system))
    #expect(error(phone.recorder.take()) == .att(.unlikelyError))
    #expect(launcher.launches() == [])
    #expect(error(phone.send(.write(peer, value, [5]))) == nil)
    #expect(launcher.launches() == [RestoreIdentifiers(peripherals: ["lamp"])])
    #expect(restore() == ["restored 1 services", "state poweredOn", "write 2 at 0: 05"])
  }

  @Test("A request gets an error when the launched process ends before it has restored its peripheral manager")
  func unrestored() {
    send(.terminated(.system))
    #expect(error(phone.send(.read(peer, value))) == nil)
    #expect(launcher.launches() == [RestoreIdentifiers(peripherals: ["lamp"])])
    send(.launched(AppManifest(), isInFront: false))
    let central = CentralSession(
      client: CentralRecorder(), owner: SessionOwner(app: "app"), in: air.devices[1].sessions)
    air.run()
    withExtendedLifetime(central) { send(.terminated(.system)) }
    #expect(error(phone.recorder.take()) == .att(.unlikelyError))
    // The pause before the next launch.
    send(.launchPaused)
    air.pass(.seconds(16))
    send(.launchable(true))
    #expect(launcher.launches() == [], "no request waits any more")
    air.pass(.seconds(15))
    #expect(air.linkCount(1) == 1)
    #expect(error(phone.send(.write(peer, value, [5]))) == nil)
    #expect(launcher.launches() == [RestoreIdentifiers(peripherals: ["lamp"])])
    #expect(restore() == ["restored 1 services", "state poweredOn", "write 2 at 0: 05"])
  }

  @Test("A write without response waits for a terminated app, however late its user starts it")
  func command() {
    send(.launchable(false))
    send(.terminated(.system))
    #expect(phone.session.writeCredits(for: peer).take())
    phone.send(.writeWithoutResponse(peer, value, [9]))
    air.pass(.seconds(60))
    send(.launched(AppManifest(), isInFront: true))
    #expect(restore() == ["restored 1 services", "state poweredOn", "command 2 at 0: 09"])
  }
}
