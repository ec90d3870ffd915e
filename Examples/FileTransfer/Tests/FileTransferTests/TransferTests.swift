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
