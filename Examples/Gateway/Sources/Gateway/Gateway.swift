import CoreBluetooth
import CoreBluetoothExtras

/// Connects to every sensor in range, and writes a record of each value.
public struct Gateway: Sendable {
  private let central: Central
  private let sensors: [Sensor]
  private let write: @Sendable (Record) -> Void

  /// Creates a gateway.
  ///
  /// - Parameters:
  ///   - central: the central, which must not be in use elsewhere.
  ///   - sensors: the kinds of sensors to read.
  ///   - write: takes the records, on any thread.
  public init(
    _ central: Central, sensors: [Sensor] = [.heartRate, .thermometer], write: @escaping @Sendable (Record) -> Void
  ) {
    (self.central, self.sensors, self.write) = (central, sensors, write)
  }

  /// Reads sensors until the task is cancelled or Bluetooth is turned off.
  public func run() async throws {
    try await central.waitUntilPoweredOn()
    try await withThrowingDiscardingTaskGroup { group in
      var known: Set<UUID> = []
      for try await discovery in central.scan(for: sensors.map { CBUUID($0.service) }) {
        // A sensor that was found once is followed for ever, also after a loss of its link.
        guard known.insert(discovery.peripheral.id).inserted else { continue }
        group.addTask { try await follow(discovery.peripheral) }
      }
      group.cancelAll()
    }
  }

  /// Reads one sensor, and connects again after each loss.
  private func follow(_ peripheral: Peripheral) async throws {
    while true {
      do {
        // Waits until the sensor is in range.
        try await peripheral.connect()
        note(peripheral, .connected)
        try await read(peripheral)
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        guard central.state == .poweredOn else { throw error }
        note(peripheral, .lost)
      }
      try? await peripheral.disconnect()
      // A sensor that loses its link at once must not keep the radio busy.
      try await Task.sleep(for: .seconds(1))
    }
  }

  /// Reads one sensor until its link is lost.
  private func read(_ peripheral: Peripheral) async throws {
    for service in try await peripheral.discoverServices(sensors.map { CBUUID($0.service) }) {
      guard let sensor = sensors.first(where: { CBUUID($0.service) == service.uuid }) else { continue }
      for characteristic in try await service.discoverCharacteristics([CBUUID(sensor.characteristic)]) {
        for try await octets in try await characteristic.subscribe() {
          guard let (number, unit) = sensor.decode(octets) else { continue }
          note(peripheral, .value, sensor.quantity, number, unit)
        }
      }
    }
  }

  private func note(
    _ peripheral: Peripheral, _ event: Record.Event, _ quantity: String? = nil, _ number: Double? = nil,
    _ unit: String? = nil
  ) {
    write(
      Record(
        time: Date(), event: event, device: peripheral.name ?? "\(peripheral.id)", quantity: quantity, number: number,
        unit: unit))
  }
}

extension CBUUID {
  /// Creates a UUID of the Bluetooth SIG from its 16 bits.
  convenience init(_ bits: UInt16) { self.init(data: Data([UInt8(bits >> 8), UInt8(truncatingIfNeeded: bits)])) }
}
