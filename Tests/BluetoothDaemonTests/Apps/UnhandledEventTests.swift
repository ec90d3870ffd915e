import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothDaemon

/// The events that the process of an app has got and not handled: they go back to the daemon.
@Suite("Events that a process has not handled")
struct UnhandledEventTests {
  let air = DaemonNetwork()
  let sensor: Sensor
  let launcher = StoredAppTests.Launcher()

  init() {
    sensor = Sensor(air, air.add("Sensor"))
    sensor.add(10, 0x180D, [.dynamic(0x2A37, [.notify])])
    sensor.advertise()
    _ = air.add("Phone", policy: .open)
    air.devices[1].sessions.setClient(launcher, ofApp: "app")
  }

  private func send(_ request: AppRequest) {
    air.devices[1].sessions.send(request, ofApp: "app")
    air.run()
  }

  /// Lets a program find the sensor, and returns all its events.
  private func discover(_ program: StoredAppTests.Program) -> [CentralEvent] {
    program.session.send(.scan(ScanRequest(services: [0x180D], solicitedServices: [], allowsDuplicates: false)))
    air.advance()
    program.session.send(.stopScan)
    air.run()
    return program.recorder.take()
  }

  @Test("They launch the app, whose next process gets them once, after its state")
  func launched() {
    send(.launched(AppManifest(), isInFront: true))
    let program = StoredAppTests.Program(air)
    let events = discover(program)
    #expect(events.contains { $0.discovery != nil })
    program.session.putBack(events)
    send(.terminated(.system))
    #expect(launcher.launches() == [RestoreIdentifiers(centrals: ["scale"])])
    let texts = StoredAppTests.Program(air).texts()
    #expect(Array(texts.prefix(2)) == ["restored 0 peers", "state poweredOn"])
    #expect(texts.count == 3)
    #expect(texts.last?.hasPrefix("discovered") == true)
  }

  @Test("They wait for an app that can't be launched, and end with an app that its user ends")
  func waiting() {
    for cause in [AppTermination.system, .user] {
      send(.launched(AppManifest(), isInFront: true))
      send(.launchable(false))
      let program = StoredAppTests.Program(air)
      program.session.putBack(discover(program))
      send(.terminated(cause))
      #expect(launcher.launches() == [])
      send(.launched(AppManifest(), isInFront: true))
      let next = StoredAppTests.Program(air)
      let discoveries = next.texts().count { $0.hasPrefix("discovered") }
      #expect(discoveries == (cause == .system ? 1 : 0))
      next.session.close()
      air.run()
    }
  }

  @Test("They come before the events that wait, except those that a waiting event repeats")
  func order() {
    let session = CentralSessionID(key: SlotKey(index: 0, generation: 0))
    let peer = PeerHandle(index: 1)
    var events = WaitingEvents()
    events.add(CentralEvent.rssiRead(peer, .success(-40)), for: session)
    events.add(CentralEvent.connectionFailed(peer, .timeout), for: session)
    events.putBack([CentralEvent.rssiRead(peer, .success(-50)), .nameChanged(peer, "a")], for: session)
    let texts = events.entries.map { entry -> String in
      switch entry {
      case .central(_, .rssiRead(_, .success(let value))): "rssi \(value)"
      case .central(_, .connectionFailed): "failed"
      case .central(_, .nameChanged): "name"
      default: "other"
      }
    }
    #expect(texts == ["name", "rssi -40", "failed"])
  }
}
