import BluetoothLab
import CoreBluetooth
import FileTransfer
import Testing

@MainActor struct TransferTests {
  let world = World(seed: 1)
  let desktop: Device
  let phone: Device
  let file = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

  init() {
    desktop = world.makeDevice(named: "desktop")
    phone = world.makeDevice(named: "phone", at: Position(x: 2))
  }

  @Test("A file arrives whole, and progress ends at its length")
  func whole() throws {
    let (receiver, sender) = (FileReceiver(), FileSender(file))
    var received: Data?
    var isSent = false
    var progress: [Int] = []
    receiver.onFile = { received = try? $0.get() }
    sender.onProgress = { sent, _ in progress.append(sent) }
    sender.onEnd = { isSent = (try? $0.get()) != nil }
    desktop.run { receiver.start() }
    phone.run { sender.start() }
    try world.expect("the file has arrived") { received != nil && isSent }
    #expect(received == file)
    #expect(progress == progress.sorted())
    #expect(progress.last == file.count)
  }

  @Test("A loss of the link in the middle ends both sides with an error")
  func interrupted() throws {
    let (receiver, sender) = (FileReceiver(), FileSender(file))
    var failure: FileTransfer.Failure?
    var ending: (any Error)?
    receiver.onFile = { if case .failure(let error) = $0 { failure = error } }
    sender.onEnd = { if case .failure(let error) = $0 { ending = error } }
    receiver.onProgress = { received, total in
      if received > total / 2 { self.desktop.move(to: Position(x: 5_000)) }
    }
    desktop.run { receiver.start() }
    phone.run { sender.start() }
    try world.expect("both sides notice") { failure != nil && ending != nil }
    guard case .incomplete(let octets, file.count) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect((file.count / 2..<file.count).contains(octets))
  }

  @Test("After the end of a transfer, a sender does nothing when Bluetooth goes off and on")
  func powerCycleAfterwards() throws {
    let (receiver, sender) = (FileReceiver(), FileSender(file))
    var ends = 0
    sender.onEnd = { _ in ends += 1 }
    desktop.run { receiver.start() }
    phone.run { sender.start() }
    try world.expect("the file has arrived") { ends == 1 }
    world.run(for: .seconds(1))
    try expectNoCalls(afterPowerCycleOf: sender)
    #expect(ends == 1)
  }

  @Test("Bluetooth that goes off in the middle ends a transfer, and the sender does not begin again")
  func powerCycle() throws {
    let (receiver, sender) = (FileReceiver(), FileSender(file))
    var failures: [any Error] = []
    sender.onEnd = { if case .failure(let error) = $0 { failures.append(error) } }
    sender.onProgress = { sent, total in
      if sent > total / 2 { self.phone.setPower(false) }
    }
    desktop.run { receiver.start() }
    phone.run { sender.start() }
    try world.expect("the transfer ends") { !failures.isEmpty }
    try expectNoCalls(afterPowerCycleOf: sender)
    #expect(failures.count == 1)
  }

  /// Turns Bluetooth of the phone off and on, and expects no call of its app.
  private func expectNoCalls(afterPowerCycleOf sender: FileSender) throws {
    phone.setPower(false)
    world.run(for: .seconds(3))
    let start = world.now
    phone.setPower(true)
    world.run(for: .seconds(10))
    let calls = withExtendedLifetime(sender) { world.trace.of(phone).only(.call).since(start).entries }
    #expect(calls.isEmpty)
  }

  @Test("The receiver refuses a file that is too long")
  func tooLong() throws {
    let (receiver, sender) = (FileReceiver(maximumLength: 1_000), FileSender(file))
    var failure: FileTransfer.Failure?
    receiver.onFile = { if case .failure(let error) = $0 { failure = error } }
    desktop.run { receiver.start() }
    phone.run { sender.start() }
    try world.expect("the receiver closes the channel") { failure != nil }
    #expect(failure == .tooLong)
  }
}
