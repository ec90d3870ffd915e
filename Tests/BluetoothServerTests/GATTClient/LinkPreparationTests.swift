import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothServer

@Suite("What the service asks a peer by itself")
struct LinkPreparationTests {
  var preparation = LinkPreparation()
  var database = RemoteDatabase()

  @Test("2.6 It finds the services, then the name, then nothing more")
  mutating func steps() {
    guard case .discovery(.services)? = preparation.begin(database)?.task else {
      Issue.record("no discovery of services")
      return
    }
    #expect(!preparation.isDue(openRequests: 0))
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

  @Test("A peer without a GAP service is asked for nothing more")
  mutating func noName() {
    database.setPrimaryServices([])
    #expect(preparation.begin(database) == nil)
  }

  @Test("Apps' requests go first, but not for ever")
  mutating func patience() {
    #expect(preparation.isDue(openRequests: 0))
    #expect(!preparation.isDue(openRequests: 1))
    for _ in 0..<LinkPreparation.patience { preparation.requestCompleted() }
    #expect(preparation.isDue(openRequests: 1))
  }
}
