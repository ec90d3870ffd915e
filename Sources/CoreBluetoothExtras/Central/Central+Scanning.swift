import CoreBluetooth

extension Central {
  /// Returns a sequence of discovered peripherals. Each iteration is a scan, which ends with the iteration or when its
  /// task is cancelled.
  ///
  /// A central has one scan at a time: a new one ends the previous one, whose sequence throws
  /// `CBError.operationCancelled`, as it does when Bluetooth is turned off. If the consumer is slower than the
  /// advertisers, the oldest of more than 1,000 discoveries are dropped.
  ///
  /// - Parameters:
  ///   - services: the services of which a peripheral must advertise one; nil: any peripheral is reported.
  ///   - allowsDuplicates: true to get each received advertising packet, false to get each peripheral once.
  public func scan(for services: [CBUUID]? = nil, allowsDuplicates: Bool = false) -> ThrowingEventSequence<Discovery> {
    ThrowingEventSequence(owner: self) { [self] in startScan(for: services, allowsDuplicates) }
  }

  private func startScan(
    for services: [CBUUID]?, _ allowsDuplicates: Bool
  ) -> AsyncThrowingStream<Discovery, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: Discovery.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(Self.bufferedDiscoveries))
    let number = begin(.discoveries(continuation)) { manager in
      manager.scanForPeripherals(
        withServices: services, options: [CBCentralManagerScanOptionAllowDuplicatesKey: allowsDuplicates])
    }
    if let number { continuation.onTermination = { [weak self] _ in self?.endScan(number) } }
    return stream
  }

  /// The maximum number of discoveries or packets that wait for a slow consumer.
  static var bufferedDiscoveries: Int { 1_000 }

  /// Begins a scan, which ends the previous one. Returns the number of the scan; nil: Bluetooth is not on, and the
  /// sequence has ended.
  func begin(_ receiver: Scan.Receiver, _ start: (CBCentralManager) -> Void) -> Int? {
    let (number, previous) = with { state -> (Int?, Scan?) in
      guard let manager = state.manager, manager.state == .poweredOn else { return (nil, nil) }
      let previous = state.scan
      state.scanCount += 1
      state.scan = Scan(number: state.scanCount, receiver: receiver)
      start(manager)
      return (state.scanCount, previous)
    }
    previous?.finish(CBError.cancelled("Another scan of the same central began."))
    if number == nil { Scan(number: 0, receiver: receiver).finish(unavailable) }
    return number
  }

  func endScan(_ number: Int) {
    // The continuation is released outside the lock.
    _ = with { state -> Scan? in
      guard let scan = state.scan, scan.number == number else { return nil }
      state.scan = nil
      if let manager = state.manager, manager.state == .poweredOn { manager.stopScan() }
      return scan
    }
  }

  /// True while an iteration scans.
  public var isScanning: Bool { with { $0.scan != nil } }

  func discovered(_ peer: CBPeripheral, _ data: [String: Any], rssi: Int) {
    guard case .discoveries(let continuation)? = with({ $0.scan })?.receiver else { return }
    continuation.yield(
      Discovery(
        peripheral: peripheral(for: peer), advertisement: Advertisement(data), rssi: rssi == 127 ? nil : rssi))
  }
}
