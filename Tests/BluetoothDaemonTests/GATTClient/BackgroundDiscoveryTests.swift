import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

@Suite("Requests that a device sends a new peer by itself")
struct BackgroundDiscoveryTests {
  var preparation = BackgroundDiscovery()
  var database = RemoteDatabase()

  @Test("2.6 The preparation discovers the services and reads the name, and then ends")
  mutating func steps() {
    guard case .discovery(.services)? = preparation.begin(database)?.task else {
      Issue.record("no discovery of services")
      return
    }
    #expect(!preparation.isDue(openRequests: 0, at: .zero))
    preparation.ended()
    database.setPrimaryServices([GATTService(range: 1...5, uuid: 0x1800)])
    guard case .discovery(.characteristics(of: 1))? = preparation.begin(database)?.task else {
      Issue.record("no discovery of the name's characteristic")
      return
    }
    preparation.ended()
    database.setCharacteristics(
      [GATTCharacteristic(declaration: 2, value: 3, properties: .read, uuid: 0x2A00)], of: 1)
    guard case .request(.read(3))? = preparation.begin(database)?.task else {
      Issue.record("the name is not read")
      return
    }
    preparation.ended()
    #expect(preparation.begin(database) == nil)
  }

  @Test("A peer without a GAP service gets no further request")
  mutating func noName() {
    database.setPrimaryServices([])
    #expect(preparation.begin(database) == nil)
  }

  @Test("Apps' requests take precedence, but not forever")
  mutating func deferralLimit() {
    #expect(preparation.isDue(openRequests: 0, at: .zero))
    #expect(!preparation.isDue(openRequests: 1, at: .zero))
    for _ in 0..<BackgroundDiscovery.deferralLimit { preparation.requestCompleted() }
    #expect(preparation.isDue(openRequests: 1, at: .zero))
  }

  @Test("A step waits until the link has been quiet for a while")
  mutating func quiet() {
    let now = Instant.zero + .seconds(1)
    preparation.linkWasUsed(at: now)
    #expect(!preparation.isDue(openRequests: 0, at: now))
    #expect(preparation.deadline(openRequests: 0) == now + BackgroundDiscovery.pause)
    #expect(preparation.deadline(openRequests: 1) == nil)
    #expect(preparation.isDue(openRequests: 0, at: now + BackgroundDiscovery.pause))
  }
}
