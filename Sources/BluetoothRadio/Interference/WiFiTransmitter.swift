import BluetoothWire

/// A Wi-Fi network of IEEE 802.11b/g/n, 22 MHz wide.
package struct WiFiTransmitter: Hashable, Sendable {
  /// The Wi-Fi channel, 1 to 13; channels 1, 6 and 11 do not overlap.
  package let channel: Int
  package let pattern: BurstPattern

  /// Creates a Wi-Fi network. Channels outside 1…13 are clamped.
  package init(channel: Int, dutyCyclePerMille: Int, burstLength: TimeSpan = .milliseconds(1)) {
    self.channel = min(max(channel, 1), 13)
    pattern = BurstPattern(length: burstLength, dutyCyclePerMille: dutyCyclePerMille)
  }

  private var megahertz: Int { 2_407 + 5 * channel }

  /// Returns the attenuation of the Wi-Fi signal in a receiver on `channel`, in decibels.
  ///
  /// Within the signal's bandwidth, a receiver gets the share of the power that falls into the receiver's bandwidth.
  /// Outside, the receiver gets the larger of two powers: that share after attenuation by the spectral mask, or the
  /// whole signal after attenuation by the receiver's selectivity.
  func rejection(on channel: RadioChannel, _ modulation: Modulation) -> Decibel {
    let distance = Int((channel.megahertz - megahertz).magnitude)
    let beside = Selectivity.rejection(atOffset: distance, modulation)
    let coding = Selectivity.rejection(atOffset: 0, modulation)
    // The share of the power: 1 MHz of 22 MHz, or 2 MHz on LE 2M.
    let share = modulation == .le2M ? Decibel(steps: 2_666) : Decibel(steps: 3_437)
    // IEEE 802.11-2016, 15.4.5.5: −30 dBr from 11, −50 dBr from 22 MHz on.
    let mask = distance <= 11 ? Decibel(0) : distance <= 22 ? Decibel(30) : Decibel(50)
    let within = share + mask + coding
    return distance <= 11 ? within : min(within, beside)
  }
}
