import CoreBluetooth

/// Data in packets that begin with their number, so that the receiver can say which ones it lacks.
///
/// A packet has its number and the number of packets, 2 octets each with the least significant octet first, the number
/// of the transfer, 1 octet, and then its part of the data.
enum NumberedPackets {
  /// The number of octets in a packet before the data.
  static let headerLength = 5

  /// Splits data into packets of at most `length` octets.
  static func split(_ data: Data, length: Int, transfer: UInt8) -> [Data] {
    let room = max(length - headerLength, 1)
    let count = max((data.count + room - 1) / room, 1)
    return (0..<count).map { number in
      let header = octets(UInt16(number)) + octets(UInt16(count)) + Data([transfer])
      return header + data.dropFirst(number * room).prefix(room)
    }
  }

  /// Returns the two octets of a number.
  static func octets(_ number: UInt16) -> Data { Data([UInt8(number & 0xFF), UInt8(number >> 8)]) }

  /// Returns the numbers in a list of octets.
  static func numbers(_ octets: Data) -> [UInt16] {
    let all = Array(octets)
    return stride(from: 0, to: all.count - 1, by: 2).map { UInt16(all[$0]) | UInt16(all[$0 + 1]) << 8 }
  }
}

/// The receiver's collection of numbered packets: for the peripheral, which answers a read with `missing`.
struct PacketCollection {
  private var parts: [UInt16: Data] = [:]
  private var count: UInt16 = 0
  private var transfer: UInt8?

  /// Adds a packet. A repeated one changes nothing. One of another transfer removes all packets before it.
  mutating func add(_ packet: Data) {
    let header = packet.prefix(NumberedPackets.headerLength)
    let numbers = NumberedPackets.numbers(header)
    guard header.count == NumberedPackets.headerLength, numbers[0] < numbers[1] else { return }
    if header.last != transfer || numbers[1] != count { parts = [:] }
    (transfer, count) = (header.last, numbers[1])
    parts[numbers[0]] = Data(packet.dropFirst(header.count))
  }

  /// The first ten numbers that are missing, which fit into any answer. Empty: the data are complete.
  var missing: Data {
    (0..<count).filter { parts[$0] == nil }.prefix(10).reduce(into: Data()) { $0 += NumberedPackets.octets($1) }
  }

  /// The data; nil: packets are missing.
  var data: Data? {
    guard count > 0, parts.count == Int(count) else { return nil }
    return (0..<count).reduce(into: Data()) { $0 += parts[$1] ?? Data() }
  }
}

/// Sends numbered packets without response, then reads which ones are missing, and sends those again.
///
/// Use it on the manager's queue, as the delegate of the peripheral.
final class NumberedPacketSender: NSObject, CBPeripheralDelegate {
  /// The error for data that need more than 65,535 packets.
  struct TooManyPackets: Error {}

  private let peripheral: CBPeripheral
  private let characteristic: CBCharacteristic
  private var packets: [Data] = []
  private var waiting: [UInt16] = []
  private var transfer: UInt8
  private var completion: ((any Error)?) -> Void = { _ in }

  /// The numbers that were sent again, in their order.
  private(set) var repeated: [UInt16] = []

  /// Creates a sender for a characteristic that can be written without response and read.
  ///
  /// - Parameter transfer: the number before the one of the first transfer. By default it is random, so that the number
  ///   differs, most likely, from that of a transfer which an earlier sender has begun and not ended.
  init(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral, after transfer: UInt8 = .random(in: 0...255)) {
    (self.characteristic, self.peripheral, self.transfer) = (characteristic, peripheral, transfer)
  }

  /// Sends data. Calls `completion` when the receiver has all packets, or with an error: of a read, or
  /// `TooManyPackets`.
  func send(_ data: Data, completion: @escaping ((any Error)?) -> Void) {
    let length = peripheral.maximumWriteValueLength(for: .withoutResponse)
    guard data.count <= Int(UInt16.max) * (length - NumberedPackets.headerLength) else {
      return completion(TooManyPackets())
    }
    self.completion = completion
    transfer &+= 1
    packets = NumberedPackets.split(data, length: length, transfer: transfer)
    waiting = Array(0..<UInt16(packets.count))
    sendWaiting()
  }

  private func sendWaiting() {
    guard !waiting.isEmpty else { return }
    while let number = waiting.first {
      guard peripheral.canSendWriteWithoutResponse else { return }
      peripheral.writeValue(packets[Int(number)], for: characteristic, type: .withoutResponse)
      waiting.removeFirst()
    }
    peripheral.readValue(for: characteristic)
  }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { sendWaiting() }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let error { return completion(error) }
    waiting = NumberedPackets.numbers(characteristic.value ?? Data()).filter { $0 < packets.count }
    guard !waiting.isEmpty else { return completion(nil) }
    repeated += waiting
    sendWaiting()
  }
}
