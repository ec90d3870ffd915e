import BluetoothWire
import Testing

@testable import BluetoothDaemon
@testable import BluetoothHost

@Suite("Requests that a device sends a new peer by itself")
struct BackgroundDiscoveryTests {
  var preparation = BackgroundDiscovery()
  var database = RemoteDatabase()
  var discoveries = DiscoveryQueue()

  @Test("2.6 The preparation discovers the services and reads the name, and then ends")
  mutating func steps() {
    guard case .discovery(.services)? = preparation.begin(database, discoveries)?.task else {
      Issue.record("no discovery of services")
      return
    }
    #expect(!preparation.isWaiting)
    #expect(preparation.begin(database, discoveries) == nil, "a step is running")
    preparation.ended()
    #expect(preparation.isWaiting)
    database.found(.services([GATTService(range: 1...5, uuid: 0x1800)]), by: .primaryServices)
    guard case .discovery(.characteristics(of: 1))? = preparation.begin(database, discoveries)?.task else {
      Issue.record("no discovery of the name's characteristic")
      return
    }
    preparation.ended()
    let name = GATTCharacteristic(declaration: 2, value: 3, properties: .read, uuid: 0x2A00)
    database.found(.characteristics([name]), by: .characteristics(in: 1...5))
    guard case .request(.read(3))? = preparation.begin(database, discoveries)?.task else {
      Issue.record("the name is not read")
      return
    }
    preparation.ended()
    #expect(!preparation.isWaiting)
    #expect(preparation.begin(database, discoveries) == nil)
  }

  @Test("A peer without a GAP service gets no further request")
  mutating func noName() {
    database.found(.services([]), by: .primaryServices)
    #expect(preparation.begin(database, discoveries) == nil)
  }

  @Test("A running discovery of an app is awaited, even if the host knows its result already")
  mutating func runningDiscovery() {
    database.found(.services([]), by: .primaryServices)
    discoveries.began(.services)
    guard case .discovery(.services)? = preparation.begin(database, discoveries)?.task else {
      Issue.record("the discovery is not awaited")
      return
    }
    #expect(preparation.awaits(.services))
  }
}
