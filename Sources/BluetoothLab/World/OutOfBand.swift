import BluetoothCrypto
import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

extension RadioDevice {
  /// Reads the LE Secure Connections data that the other device offers out of band, for example on a tag, a label or
  /// a screen · Vol 3, Part H, 2.3.5.6.4. If the two devices then pair with LE Secure Connections, this device has
  /// authenticated the other one: no numbers are compared, and the key counts as authenticated.
  ///
  /// Out-of-band data that the other device offered before becomes invalid. Both devices must be in the same world
  /// and turned on.
  public func readOutOfBandData(of other: RadioDevice) {
    meet(other) { engine, own, other in
      if let record = engine.outOfBandRecord(of: other) { engine.withHost(own) { $0.take(record) } }
    }
  }

  /// Exchanges out-of-band data in both directions, as two devices held together do: each reads the other's data, and
  /// both get a Temporary Key for LE legacy pairing.
  public func exchangeOutOfBandData(with other: RadioDevice) {
    meet(other) { engine, own, other in
      var key: Block?
      engine.withHost(own) { key = $0.makeTemporaryKey() }
      guard let first = engine.outOfBandRecord(of: own), let second = engine.outOfBandRecord(of: other) else { return }
      engine.withHost(own) { $0.take(second, temporaryKey: key) }
      engine.withHost(other) { $0.take(first, temporaryKey: key) }
    }
  }

  private func meet(_ other: RadioDevice, _ body: @escaping @Sendable (WorldEngine, RadioID, RadioID) -> Void) {
    guard other.world === world, other.radio != radio else { return }
    let (own, other) = (radio, other.radio)
    world.requestQueue.perform { engine in body(engine, own, other) }
  }
}

extension WorldEngine {
  fileprivate func withHost(_ radio: RadioID, _ body: (inout Host) -> Void) {
    let now = now
    withDevice(radio) { device in _ = device.withHost(at: now, body) }
  }

  fileprivate func outOfBandRecord(of radio: RadioID) -> OutOfBandRecord? {
    var record: OutOfBandRecord?
    withHost(radio) { record = $0.makeOutOfBandRecord() }
    return record
  }
}
