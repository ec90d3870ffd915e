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
    #expect(!preparation.isWaiting)
    #expect(preparation.begin(database) == nil, "a step is running")
    preparation.ended()
    #expect(preparation.isWaiting)
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
    #expect(!preparation.isWaiting)
    #expect(preparation.begin(database) == nil)
  }

  @Test("A peer without a GAP service gets no further request")
  mutating func noName() {
    database.setPrimaryServices([])
    #expect(preparation.begin(database) == nil)
  }
}
