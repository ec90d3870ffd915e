import BluetoothLab
import CoreBluetooth
import Testing

/// An app that calls a closure in each callback.
private final class App: NSObject, CBCentralManagerDelegate {
  private let onCallback: () -> Void

  init(_ onCallback: @escaping () -> Void) { self.onCallback = onCallback }

  func centralManagerDidUpdateState(_ central: CBCentralManager) { onCallback() }
}

/// What a callback has seen. Unchecked, because the test reads it after the callback has returned.
private final class Seen: @unchecked Sendable {
  var queues: [Bool] = []
}

@Suite struct QueueTests {
  @Test("Callbacks run on the app's own queue, whose quality of service stays as it is")
  func quality() {
    for (quality, time) in [(DispatchQoS.userInitiated, World.Time.virtual), (.utility, .real(speed: 100))] {
      let key = DispatchSpecificKey<Bool>()
      let queue = DispatchQueue(label: "app", qos: quality)
      queue.setSpecific(key: key, value: true)
      let world = World(seed: 1, time: time)
      let seen = Seen()
      let app = App { seen.queues.append(DispatchQueue.getSpecific(key: key) == true) }
      let central = CBCentralManager(
        delegate: app, queue: queue, options: [CBManagerOptionAdapterKey: world.makeDevice(named: "phone")])
      #expect(world.run(until: { queue.sync { !seen.queues.isEmpty } }))
      #expect(central.state == .poweredOn)
      #expect(queue.sync { seen.queues } == [true])
      #expect(queue.qos == quality)
    }
  }

  @Test("A callback on the main queue that waits for the main queue stops the program")
  func blockedMainQueue() async {
    await #expect(processExitsWith: .failure) {
      let world = World(seed: 1)
      let app = App { DispatchQueue.main.sync {} }
      let central = CBCentralManager(
        delegate: app, queue: nil, options: [CBManagerOptionAdapterKey: world.makeDevice(named: "phone")])
      await world.run(for: .seconds(1))
      withExtendedLifetime(central) {}
    }
  }

  @Test("A callback on the main queue that hands work over to the main queue goes on")
  func asynchronousMainQueue() async {
    let world = World(seed: 1)
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let app = App {
      DispatchQueue.main.async { continuation.yield(2) }
      continuation.yield(1)
    }
    let central = CBCentralManager(
      delegate: app, queue: nil, options: [CBManagerOptionAdapterKey: world.makeDevice(named: "phone")])
    await world.run(for: .seconds(1))
    var iterator = stream.makeAsyncIterator()
    #expect(await iterator.next() == 1)
    #expect(await iterator.next() == 2)
    #expect(central.state == .poweredOn)
  }
}
