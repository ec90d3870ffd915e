import BluetoothWire
import Testing

@testable import BluetoothHost

@Suite("GATT client: requests that can wait")
struct BackgroundScheduleTests {
  var schedule = BackgroundSchedule()
  let start = Instant.zero + .seconds(1)

  /// Begins and ends a request at `now`.
  private mutating func perform(_ priority: GATTPriority, at now: Instant, count: Int = 1) {
    for _ in 0..<count {
      schedule.requestBegan(priority, at: now)
      schedule.requestEnded(priority, hasRun: true, at: now)
    }
  }

  @Test("A background request waits until the bearer has been quiet for 100 ms after the last request")
  mutating func quiet() {
    perform(.app, at: start)
    schedule.awaitTurn()
    #expect(schedule.turnDeadline == start + .milliseconds(100))
    #expect(schedule.takeTurn(at: start + .milliseconds(99)) == false)
    schedule.noteUse(at: start + .milliseconds(50))
    #expect(schedule.takeTurn(at: start + .milliseconds(100)) == false)
    #expect(schedule.takeTurn(at: start + .milliseconds(150)) == true)
  }

  @Test("Each turn for a background request is given once, and only if it is awaited")
  mutating func oneTurn() {
    #expect(schedule.turnDeadline == nil)
    #expect(schedule.takeTurn(at: start) == false)
    schedule.awaitTurn()
    #expect(schedule.takeTurn(at: start) == true)
    #expect(schedule.turnDeadline == nil)
    #expect(schedule.takeTurn(at: start) == false)
  }

  @Test("A background request waits for open requests of apps, but not for those of the system")
  mutating func openRequests() {
    schedule.awaitTurn()
    schedule.requestBegan(.system, at: start)
    #expect(schedule.turnDeadline == start + .milliseconds(100))
    schedule.requestBegan(.app, at: start)
    #expect(schedule.turnDeadline == nil)
    #expect(schedule.takeTurn(at: start + .seconds(9)) == false)
    schedule.priorityChanged(from: .app, to: .system)
    #expect(schedule.takeTurn(at: start + .seconds(9)) == true)
  }

  @Test("On a busy bearer a background request gets its turn after 8 requests of apps")
  mutating func busyBearer() {
    schedule.awaitTurn()
    schedule.requestBegan(.app, at: start)
    perform(.app, at: start, count: 7)
    perform(.system, at: start, count: 9)
    #expect(schedule.takeTurn(at: start) == false)
    perform(.app, at: start)
    #expect(schedule.takeTurn(at: start) == true)
    schedule.awaitTurn()
    #expect(schedule.takeTurn(at: start) == false, "the count begins again")
  }

  @Test("Background requests follow each other without a pause, and delay cache validation")
  mutating func order() {
    perform(.app, at: start)
    let idle = start + .milliseconds(100)
    perform(.background, at: idle)
    schedule.awaitTurn()
    #expect(schedule.takeTurn(at: idle) == true)
    #expect(schedule.validationDeadline == idle + .milliseconds(150))
    #expect(schedule.startValidation(at: idle + .milliseconds(149)) == false)
    #expect(schedule.startValidation(at: idle + .milliseconds(150)) == true)
  }

  @Test("On a busy bearer a step of cache validation starts after 16 requests of any kind that have run")
  mutating func busyValidation() {
    perform(.app, at: start, count: 5)
    perform(.system, at: start, count: 5)
    perform(.background, at: start, count: 5)
    schedule.requestBegan(.app, at: start)
    schedule.requestEnded(.app, hasRun: false, at: start)
    #expect(schedule.startValidation(at: start) == false)
    perform(.app, at: start)
    #expect(schedule.startValidation(at: start) == true)
    #expect(schedule.startValidation(at: start) == false, "the count begins again")
  }
}

@Suite("GATT client: background requests")
struct BackgroundRequestTests {
  var client = BearerHarness(.central)

  /// The number of turns reported so far.
  private var turns: Int { client.events.count { $0 == .backgroundTurn } }

  @Test("The turn is reported when the bearer has been quiet for 100 ms after an app's request")
  mutating func turn() {
    #expect(client.request(.read(3)) == [hex("0a0300")])
    client.bearer.awaitBackgroundTurn(at: client.now)
    client.pass(.seconds(1))
    _ = client.take()
    #expect(turns == 0, "the request is open")
    #expect(client.send("0b00") == [])
    #expect(client.bearer.deadline == client.now + .milliseconds(100))
    client.pass(.milliseconds(100))
    _ = client.take()
    #expect(turns == 1)
    #expect(client.bearer.deadline == nil)
  }

  @Test("The turn on a busy bearer follows the result of the eighth request")
  mutating func busyBearer() {
    client.bearer.awaitBackgroundTurn(at: client.now)
    for token in 1...10 { _ = client.request(.read(3), token: GATTToken(token)) }
    for _ in 1...10 { _ = client.send("0b00") }
    #expect(client.events.firstIndex(of: .backgroundTurn) == 8)
  }

  @Test("Background requests do not wait for requests whose priority is lowered, in progress or queued")
  mutating func priority() {
    client.bearer.client.noteUse(at: client.now)
    client.bearer.awaitBackgroundTurn(at: client.now)
    _ = client.request(.read(3), token: 1)
    _ = client.request(.read(5), token: 2)
    _ = client.request(.read(7), token: 3)
    client.bearer.client.setPriority(.system, of: [1, 3])
    client.pass(.seconds(1))
    _ = client.take()
    #expect(turns == 0)
    client.bearer.client.setPriority(.system, of: [2])
    client.pass(.zero)
    _ = client.take()
    #expect(turns == 1)
  }

  @Test("A background request holds its place among the requests of apps, and does not restart the quiet time")
  mutating func place() {
    _ = client.request(.read(3), token: 1)
    client.bearer.request(.read(5), token: 2, priority: .background, at: client.now)
    _ = client.request(.read(7), token: 3)
    #expect(client.send("0b00") == [hex("0a0500")])
    #expect(client.send("0b00") == [hex("0a0700")])
    _ = client.send("0b00")
    client.pass(.milliseconds(50))
    client.bearer.request(.read(5), token: 4, priority: .background, at: client.now)
    client.bearer.awaitBackgroundTurn(at: client.now)
    #expect(client.bearer.deadline == client.now + .milliseconds(50), "not yet sent")
    _ = client.take()
    _ = client.send("0b00")
    #expect(client.bearer.deadline == client.now + .milliseconds(50))
  }
}
