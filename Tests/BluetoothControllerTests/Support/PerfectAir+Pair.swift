import BluetoothRadio
import BluetoothWire

@testable import BluetoothController

extension PerfectAir {
  /// Returns an air with two controllers that have been started in this order, whose addresses are 0x1111_1111_1111 and
  /// 0x2222_2222_2222.
  ///
  /// - Parameter drift: The drift of the first controller's sleep clock. The clock of the second one drifts as much in
  ///   the other direction.
  static func pair(
    _ first: String, _ second: String, drift: Int64 = 0
  ) -> (air: PerfectAir, first: ControllerHarness, second: ControllerHarness) {
    let air = PerfectAir()
    let first = ControllerHarness(first, address: 0x1111_1111_1111) { $0.sleepClockDrift = drift }
    let second = ControllerHarness(second, address: 0x2222_2222_2222) { $0.sleepClockDrift = -drift }
    air.start(first, second)
    return (air, first, second)
  }
}
