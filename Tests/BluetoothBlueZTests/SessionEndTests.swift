import BluetoothDaemon
import BluetoothLab
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import BluetoothBlueZ

/// The service's ends of the sessions of an adapter.
@Suite struct BlueZSessionEndTests {
  @Test("A state that comes before the session is attached counts, so that the daemon takes commands")
  func earlyState() {
    let world = World(seed: 1)
    world.add(Flashlight(), named: "lamp", at: Position(x: 1))
    let adapter = world.makeDevice(
      named: "adapter", DeviceOptions(), bondFolder: nil, serving: ServingOptions()
    ).adapter
    let loop = EmbeddedEventLoop()
    let packets = NIOLockedValueBox(0)
    let states = NIOLockedValueBox([AdapterState]())
    let end = SessionEnd<CentralEvent, CentralRole>(on: loop) { event in
      switch event {
      case .packetReceived: packets.withLockedValue { $0 += 1 }
      case .stateChanged(let state): states.withLockedValue { $0.append(state) }
      default: break
      }
    }
    let session = adapter.openCentralSession(for: end)
    world.run(for: .seconds(1))
    #expect(states.withLockedValue { $0 }.isEmpty)
    end.attach(session)
    loop.run()
    #expect(states.withLockedValue { $0 }.last == .poweredOn)
    var request = ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: true)
    request.packets = PacketScan(isActive: true, includesLECoded: false)
    session.send(.scan(request))
    world.run(for: .seconds(2))
    #expect(packets.withLockedValue { $0 } > 0)
    session.close()
  }
}
