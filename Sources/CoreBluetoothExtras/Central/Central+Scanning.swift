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
    begin(continuation, discoveries: continuation) { manager in
      manager.scanForPeripherals(
        withServices: services, options: [CBCentralManagerScanOptionAllowDuplicatesKey: allowsDuplicates])
    }
    return stream
  }

  /// The maximum number of discoveries or packets that wait for a slow consumer.
  static var bufferedDiscoveries: Int { 1_000 }

  /// Begins a scan, which ends the previous one, and ends with the sequence.
  func begin<Element>(
    _ continuation: AsyncThrowingStream<Element, any Error>.Continuation,
    discoveries: AsyncThrowingStream<Discovery, any Error>.Continuation? = nil, _ start: (CBCentralManager) -> Void
  ) {
    let (number, previous) = with { state -> (Int?, Scan?) in
      guard let manager = state.manager, manager.state == .poweredOn else { return (nil, nil) }
      let previous = state.scan
      state.scanCount += 1
      state.scan = Scan(
        number: state.scanCount, discoveries: discoveries, finish: { continuation.finish(throwing: $0) })
      start(manager)
      return (state.scanCount, previous)
    }
    previous?.finish(CBError.cancelled("Another scan of the same central began."))
    guard let number else { return continuation.finish(throwing: CBError.unavailable(state)) }
    continuation.onTermination = { [weak self] _ in self?.endScan(number) }
  }

  private func endScan(_ number: Int) {
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
    guard let discoveries = with({ $0.scan })?.discoveries else { return }
    discoveries.yield(
      Discovery(
        peripheral: peripheral(for: peer), advertisement: Advertisement(data), rssi: rssi == 127 ? nil : rssi))
  }
}
