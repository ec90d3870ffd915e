import BluetoothCrypto
import BluetoothLab
import BluetoothWire

/// Counts that do not depend on the machine's speed, for `Benchmarks/counts`.
enum Counts {
  /// The workloads that `Benchmarks/counts` runs under callgrind with two numbers of repetitions.
  ///
  /// The difference of two runs contains no one-time work.
  enum Work: String, CaseIterable {
    /// A read of 20 octets through both managers, hosts and controllers.
    case apiRead
    /// A notification of 244 octets through both managers, hosts and controllers.
    case apiNotification
    /// A value of 244 octets from the daemon's event to the end of the delegate's callback on the app's own queue.
    case ownQueueNotification
    /// One radio second of an idle connection at an interval of 30 ms, with apps on both sides.
    case idleSecond
    /// 100 ms of radio time of a link on LE 1M with an interval of 30 ms that is full of packets of 251 octets, without
    /// hosts.
    case fullLink
    /// The same, encrypted.
    case encryptedLink
    /// 100 ms of radio time of 200 advertisers with an interval of 100 ms and two scanners, without hosts.
    case crowd
    /// A service that an app publishes and another app discovers. The number of repetitions is the number of services,
    /// so a cost that grows with the number shows.
    case service
    /// A host that joins an air over a Unix socket. The number of repetitions is the number of hosts.
    case joiningHost

    func run(_ times: Int) throws {
      switch self {
      case .apiRead:
        let pair = Pair()
        try pair.meet()
        pair.client.read(times)
        try pair.run(until: { pair.client.hasFinishedReading })
      case .apiNotification:
        let pair = try WholeStack.streaming()
        try pair.run(until: { pair.client.values >= times })
      case .ownQueueNotification: try APILayer.deliverNotifications(times)
      case .idleSecond:
        let pair = Pair()
        try pair.meet()
        pair.world.run(for: .seconds(times))
      case .fullLink: try LinkEncryption.streaming(isEncrypted: false).run(for: .milliseconds(100 * Int64(times)))
      case .encryptedLink: try LinkEncryption.streaming(isEncrypted: true).run(for: .milliseconds(100 * Int64(times)))
      case .crowd:
        let crowd = RadioCrowd.world(of: 200, interval: .milliseconds(100), scanners: 2)
        crowd.world.run(for: .milliseconds(100 * Int64(times)))
      case .service: try ManyServices(times).run()
      case .joiningHost: try JoinedHosts.join(times)
      }
    }
  }

  /// Prints one line for each count of allocations or octets: name, tab, number.
  static func printMemory() throws {
    for operation in HostsInMemory.Operation.allCases {
      try line("allocations: host \(operation.rawValue)", HostOperations.allocationsPerOperation(operation, 10_000))
    }
    try line(
      "allocations: encrypted packet of 251 octets",
      LinkEncryption.allocationsPerPacket(length: LinkLayerCipher.maximumLength, 10_000))
    try line("allocations: read below the API", BelowTheAPI.allocationsPerRead(10_000))
    try line("allocations: read with the API", WholeStack.allocationsPerRead(10_000))
    try line("allocations: notification with the API", WholeStack.allocationsPerNotification(10_000))
    try line("allocations: notification on an own queue, the API's part", APILayer.allocationsPerNotification(10_000))
    try line("octets: scanned advertiser", APILayer.octetsPerAdvertiser(10_000, retains: false))
    try line("octets: scanned and retained advertiser", APILayer.octetsPerAdvertiser(10_000, retains: true))
    try line("octets: idle device", Memory.octetsPerIdleDevice(10_000))
    try line("octets: advertising device", Memory.octetsPerAdvertisingDevice(10_000))
  }

  private static func line(_ name: String, _ value: Double?) throws {
    guard let value else { throw DidNotHappen() }
    print("\(name)\t\(value.rounded(to: 2))")
  }
}
