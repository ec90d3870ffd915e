import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// An app that calls a closure in each callback.
private final class App: NSObject, CBCentralManagerDelegate {
  private let onCallback: () -> Void

  init(_ onCallback: @escaping () -> Void) { self.onCallback = onCallback }

  func centralManagerDidUpdateState(_ central: CBCentralManager) { onCallback() }
}

/// The queues on which callbacks ran: true for the queue of the app. Unchecked, because only that queue uses it.
private final class Seen: @unchecked Sendable {
  var queues: [Bool] = []
}

@Suite struct QueueTests {
  @Test("Callbacks run on the queue that the app has passed, in virtual and in real time", .requirement("A083"))
  func quality() {
    for (quality, time) in [(DispatchQoS.userInitiated, World.Time.virtual), (.utility, .real(speed: 100))] {
      let key = DispatchSpecificKey<Bool>()
      let root = DispatchQueue.global(qos: quality.qosClass)
      let queue = DispatchQueue(label: "app", qos: quality, target: root)
      queue.setSpecific(key: key, value: true)
      let world = World(seed: 1, time: time)
      let seen = Seen()
      let app = App {
        // Threads of one quality of service serve each global queue.
        dispatchPrecondition(condition: .onQueue(root))
        seen.queues.append(DispatchQueue.getSpecific(key: key) == true)
      }
      let central = CBCentralManager(
        delegate: app, queue: queue, options: [CBManagerOptionAdapterKey: world.makeDevice(named: "phone")])
      // The limit is an hour of real time.
      #expect(world.run(until: { queue.sync { !seen.queues.isEmpty } }, limit: .seconds(360_000)))
      #expect(central.state == .poweredOn)
      #expect(queue.sync { seen.queues } == [true])
    }
  }

  @Test("A callback on the main queue that waits for the main queue stops the program", .requirement("A081"))
  func blockedMainQueue() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardOutputContent]) {
      let world = World(seed: 1)
      let app = App {
        FileHandle.standardOutput.write(Data("before\n".utf8))
        DispatchQueue.main.sync {}
        FileHandle.standardOutput.write(Data("after\n".utf8))
      }
      let central = CBCentralManager(
        delegate: app, queue: nil, options: [CBManagerOptionAdapterKey: world.makeDevice(named: "phone")])
      await world.run(for: .seconds(1))
      withExtendedLifetime(central) {}
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(output.contains("before") && !output.contains("after"))
  }

  @Test("A callback on the main queue that hands work over to the main queue goes on", .requirement("A081"))
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
