import BluetoothWire

/// A Wi-Fi network of IEEE 802.11b/g/n, 22 MHz wide.
package struct WiFiTransmitter: Hashable, Sendable {
  /// 1 to 13; 1, 6 and 11 do not overlap.
  package let channel: Int
  package let pattern: BurstPattern

  /// Channels outside 1…13 are held there.
  package init(channel: Int, dutyCyclePerMille: Int, burstLength: TimeSpan = .milliseconds(1)) {
    self.channel = min(max(channel, 1), 13)
    pattern = BurstPattern(length: burstLength, dutyCyclePerMille: dutyCyclePerMille)
  }

  private var megahertz: Int { 2_407 + 5 * channel }

  /// Of its width a receiver takes in what its own width is; beside it, what the spectral mask leaves, or what the receiver's
  /// selectivity lets through of the whole.
  func rejection(on channel: RadioChannel, _ modulation: Modulation) -> Decibel {
    let distance = Int((channel.megahertz - megahertz).magnitude)
    let beside = Selectivity.rejection(atOffset: distance, modulation)
    let coding = Selectivity.rejection(atOffset: 0, modulation)
    // 1 MHz of 22, or 2 of them on LE 2M.
    let share = modulation == .le2M ? Decibel(steps: 2_666) : Decibel(steps: 3_437)
    // IEEE 802.11-2016, 15.4.5.5: −30 dBr from 11, −50 dBr from 22 MHz on.
    let mask = distance <= 11 ? Decibel(0) : distance <= 22 ? Decibel(30) : Decibel(50)
    let within = share + mask + coding
    return distance <= 11 ? within : min(within, beside)
  }
}
