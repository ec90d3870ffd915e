import Foundation

/// A connection between two hosts.
final class Link {
  private let central: Host
  private let peripheral: Host
  private var handle: UInt16 = 0

  /// Connects the hosts, with data PDUs of 251 octets.
  ///
  /// - Parameters:
  ///   - interval: The connection interval in units of 1.25 ms.
  ///   - is2M: True for LE 2M.
  init(central: Host, peripheral: Host, interval: Int, is2M: Bool) throws {
    (self.central, self.peripheral) = (central, peripheral)
    for host in [central, peripheral] {
      try host.command(0x0C03)
      try host.command(0x0C01, [UInt8](repeating: 0xFF, count: 7) + [0x3F])
      try host.command(0x2001, [0xFF, 0xFF, 0x0F, 0, 0, 0, 0, 0])
      // 251 octets, 2,120 µs.
      try host.command(0x2024, [251, 0, 0x48, 0x08])
    }
    let address = try peripheral.address()
    try peripheral.command(0x2006, [0x20, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0])
    try peripheral.command(0x200A, [1])
    let (low, high) = (UInt8(interval & 0xFF), UInt8(interval >> 8))
    try central.command(
      0x200D, [0x30, 0, 0x30, 0, 0, 0] + address + [0, low, high, low, high, 0, 0, 0xC8, 0, 0, 0, 0, 0])
    let complete = try central.meta([0x01, 0x0A])
    handle = UInt16(complete[2]) | UInt16(complete[3]) << 8
    _ = try peripheral.meta([0x01, 0x0A])
    let (first, second) = (UInt8(handle & 0xFF), UInt8(handle >> 8))
    // The controllers start the Data Length Update procedure themselves, because of the suggested default data lengths.
    _ = try central.meta([0x07])
    guard is2M else { return }
    try central.command(0x2032, [first, second, 0, 2, 2, 0, 0])
    _ = try central.meta([0x0C])
  }

  /// The result of a transfer.
  struct Poured {
    /// The octets per second, from the arrival of the first packet to that of the last one.
    var rate = 0.0
    /// The octets that did not arrive, or arrived out of order.
    var lost = 0
  }

  /// The number of the controller's buffers that the host fills.
  private static let buffers = 64
  private static let payload = 251

  /// Sends numbered packets from the central to the peripheral for `seconds`, as fast as the central's controller
  /// accepts them. A separate thread receives them. Returns the rate and the losses.
  func pour(for seconds: Double) throws -> Poured {
    let receiver = Receiver(peripheral, octets: Self.payload)
    let thread = Thread { receiver.run() }
    thread.start()
    let end = ContinuousClock.now + .seconds(seconds)
    var header: [UInt8] = [2, UInt8(handle & 0xFF), UInt8(handle >> 8), UInt8(Self.payload), 0]
    header.reserveCapacity(5)
    var (number, credits) = (0, Self.buffers)
    var block: [UInt8] = []
    while ContinuousClock.now < end {
      block.removeAll(keepingCapacity: true)
      for _ in 0..<credits {
        block += header
        withUnsafeBytes(of: UInt32(number).littleEndian) { block.append(contentsOf: $0) }
        block.append(contentsOf: repeatElement(0x5A, count: Self.payload - 4))
        number += 1
      }
      credits = 0
      if !block.isEmpty { try central.write(block) }
      credits += try completed()
    }
    while credits < Self.buffers { credits += try completed() }
    receiver.finish(after: number)
    return Poured(rate: receiver.rate, lost: number * Self.payload - receiver.received)
  }

  /// Waits for a Number Of Completed Packets event. Returns the number of completed packets.
  private func completed() throws -> Int {
    var count = 0
    _ = try central.packets { packet in
      let first = packet.startIndex
      guard packet[first] == 4, packet[first + 1] == 0x13 else { return false }
      for entry in 0..<Int(packet[first + 3]) {
        count += Int(packet[first + 6 + 4 * entry]) | Int(packet[first + 7 + 4 * entry]) << 8
      }
      return true
    }
    return count
  }
}

/// Receives packets until all have arrived.
private final class Receiver: @unchecked Sendable {
  // Only its own thread uses the host and writes the results; the lock guards `expected` and `isDone`.
  private let host: Host
  private let octets: Int
  private let lock = NSCondition()
  private var expected: Int?
  private var isDone = false
  /// The octets that arrived in order; valid after `finish`.
  private(set) var received = 0
  private var times: (first: ContinuousClock.Instant, latest: ContinuousClock.Instant)?
  /// The octets of the first packet; the measured time starts at its arrival.
  private var firstOctets = 0

  /// The octets per second; valid after `finish`.
  var rate: Double {
    guard let times, times.first < times.latest else { return 0 }
    return Double(received - firstOctets) / times.first.duration(to: times.latest).seconds
  }

  init(_ host: Host, octets: Int) {
    self.host = host
    self.octets = octets
    host.setTimeout(milliseconds: 200)
  }

  func run() {
    var next: UInt32 = 0
    // A packet may arrive in several fragments; the first one contains the number.
    while true {
      let target = lock.withLock { expected }
      if let target, received >= target * octets { break }
      let came = try? host.packets { packet in
        let first = packet.startIndex
        guard packet[first] == 2 else { return false }
        if packet[first + 2] & 0x30 == 0x20 {
          var number: UInt32 = 0
          for index in (0..<4).reversed() { number = number << 8 | UInt32(packet[first + 5 + index]) }
          if number == next { received += packet.count - 5 }
          next = number + 1
        } else {
          received += packet.count - 5
        }
        if let times {
          self.times = (times.first, .now)
        } else {
          let now = ContinuousClock.now
          times = (now, now)
          firstOctets = received
        }
        return next % 64 == 0 || target != nil
      }
      // No more packets will arrive.
      if came != true, target != nil || came == nil { break }
    }
    lock.withLock {
      isDone = true
      lock.signal()
    }
  }

  func finish(after count: Int) {
    lock.withLock {
      expected = count
      while !isDone { lock.wait() }
    }
  }
}
