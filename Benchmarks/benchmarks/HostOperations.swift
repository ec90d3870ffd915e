import BluetoothHost
import BluetoothWire

/// The cost of the host's protocol layers, without controllers and radio.
enum HostOperations {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] =
    HostsInMemory.Operation.allCases.map { operation in
      ("host: " + operation.rawValue, { try measure(operation, divisor: $0) })
    }

  private static func measure(_ operation: HostsInMemory.Operation, divisor: Int) throws -> Measurement {
    let count = (operation == .sdu ? 20_000 : 100_000) / divisor
    var hosts = try HostsInMemory()
    try hosts.run(operation, 1_000)
    let time = try bestTime(of: 5) { try hosts.run(operation, count) }
    let storages = hosts.pool.count
    let allocated = try allocations { try hosts.run(operation, count) }
    let perOperation = allocated.map { (Double($0) / Double(count)).rounded(to: 2) } ?? "not counted"
    return Measurement(
      name: "two hosts in memory: " + operation.rawValue,
      result: "\(Int(Double(count) / time).grouped)/s, \(perOperation) allocations", aim: "0 allocations",
      method: "\(count.grouped) in a row, both sides, best of 5; \(operation.meaning); \(storages) storages in the pool"
    )
  }
}

extension HostOperations {
  /// Returns the heap allocations per operation on both sides together, averaged over `count` operations; nil if they
  /// cannot be counted.
  static func allocationsPerOperation(_ operation: HostsInMemory.Operation, _ count: Int) throws -> Double? {
    var hosts = try HostsInMemory()
    try hosts.run(operation, 1_000)
    let allocated = try allocations { try hosts.run(operation, count) }
    return allocated.map { Double($0) / Double(count) }
  }
}

extension HostsInMemory.Operation {
  fileprivate var meaning: String {
    switch self {
    case .read: "20 octets, each begun when the one before has ended"
    case .write: "the same with Write Request"
    case .writeCommand: "244 octets, 8 on their way"
    case .notification: "244 octets, 8 on their way"
    case .sdu: "2,048 octets in frames of 247 on an LE credit based channel"
    }
  }
}
