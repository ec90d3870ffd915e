/// The names of icons for values of Appearance, as the icon naming specification of freedesktop.org has them.
enum DeviceIcon {
  /// The icons of whole categories: the upper ten bits of the appearance.
  private static let categories: [UInt16: String] = [
    0x00: "unknown", 0x01: "phone", 0x02: "computer", 0x05: "video-display", 0x0A: "multimedia-player",
    0x0B: "scanner",
  ]
  /// The icons of input devices, by the whole appearance.
  private static let inputDevices: [UInt16: String] = [
    0x03C1: "input-keyboard", 0x03C2: "input-mouse", 0x03C3: "input-gaming", 0x03C4: "input-gaming",
    0x03C5: "input-tablet", 0x03C8: "scanner",
  ]

  /// Returns the icon for an appearance; nil: BlueZ has none.
  static func name(_ appearance: UInt16) -> String? { inputDevices[appearance] ?? categories[appearance >> 6] }
}
