import BluetoothNumbers

/// A unit assigned by the SIG, identified by its 16-bit UUID · Assigned Numbers, 3.5.
public struct BluetoothUnit: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The UUID; assigned units have 0x2700 to 0x27FF.
  public let rawValue: UInt16

  /// Creates the unit with this UUID.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The assigned name, such as "Celsius temperature (degree Celsius)"; nil if the UUID is not assigned to a unit.
  public var name: String? { AssignedNumbers.unitName(rawValue) }

  /// The name, or the UUID if the unit has no name.
  public var description: String { name ?? "unit " + rawValue.hexadecimal }

  /// Returns `number` followed by the unit's symbol: "36.6 °C", "72 /min". Returns only the number for a unitless
  /// value.
  public func text(_ number: String) -> String {
    let symbol = symbol
    return symbol.isEmpty ? number : number + " " + symbol
  }

  /// The symbol that follows a number, such as "°C". If there is no common symbol, the part of the name in
  /// parentheses.
  public var symbol: String {
    if let common = Self.symbols[rawValue] { return common }
    guard let name else { return rawValue.hexadecimal }
    guard let open = name.firstIndex(of: "("), name.last == ")" else { return name }
    return String(name[name.index(after: open)...].dropLast())
  }

  public static let unitless = Self(rawValue: 0x2700)
  public static let metre = Self(rawValue: 0x2701)
  public static let kilogram = Self(rawValue: 0x2702)
  public static let second = Self(rawValue: 0x2703)
  public static let metresPerSecond = Self(rawValue: 0x2712)
  public static let kilogramPerSquareMetre = Self(rawValue: 0x2716)
  public static let newton = Self(rawValue: 0x2723)
  public static let pascal = Self(rawValue: 0x2724)
  public static let joule = Self(rawValue: 0x2725)
  public static let watt = Self(rawValue: 0x2726)
  public static let tesla = Self(rawValue: 0x272D)
  public static let degreeCelsius = Self(rawValue: 0x272F)
  public static let newtonMetre = Self(rawValue: 0x2741)
  public static let minute = Self(rawValue: 0x2760)
  public static let hour = Self(rawValue: 0x2761)
  public static let day = Self(rawValue: 0x2762)
  public static let degree = Self(rawValue: 0x2763)
  public static let millimetreOfMercury = Self(rawValue: 0x2781)
  public static let inch = Self(rawValue: 0x27A2)
  public static let degreeFahrenheit = Self(rawValue: 0x27AC)
  public static let percentage = Self(rawValue: 0x27AD)
  public static let beatsPerMinute = Self(rawValue: 0x27AF)
  public static let revolutionsPerMinute = Self(rawValue: 0x27A8)
  public static let countPerCubicMetre = Self(rawValue: 0x27B5)
  public static let wattPerSquareMetre = Self(rawValue: 0x27B6)
  public static let pound = Self(rawValue: 0x27B8)
  public static let stepsPerMinute = Self(rawValue: 0x27BA)
  public static let partsPerMillion = Self(rawValue: 0x27C4)
  public static let partsPerBillion = Self(rawValue: 0x27C5)

  private static let symbols: [UInt16: String] = [
    0x2700: "", 0x2701: "m", 0x2702: "kg", 0x2703: "s", 0x2704: "A", 0x2705: "K", 0x2706: "mol", 0x2707: "cd",
    0x2710: "m²", 0x2711: "m³", 0x2712: "m/s", 0x2713: "m/s²", 0x2715: "kg/m³", 0x2716: "kg/m²",
    0x271A: "mol/m³", 0x271B: "kg/m³",
    0x271D: "", 0x271E: "", 0x2720: "rad", 0x2721: "sr", 0x2722: "Hz", 0x2723: "N", 0x2724: "Pa", 0x2725: "J",
    0x2726: "W", 0x2727: "C", 0x2728: "V", 0x2729: "F", 0x272A: "Ω", 0x272B: "S", 0x272C: "Wb", 0x272D: "T",
    0x272E: "H", 0x272F: "°C", 0x2730: "lm", 0x2731: "lx", 0x2732: "Bq", 0x2733: "Gy", 0x2734: "Sv", 0x2735: "kat",
    0x2741: "N·m", 0x2743: "rad/s", 0x2744: "rad/s²", 0x2760: "min", 0x2761: "h", 0x2762: "d", 0x2763: "°",
    0x2764: "′", 0x2765: "″", 0x2766: "ha", 0x2767: "l", 0x2768: "t", 0x2780: "bar", 0x2781: "mmHg", 0x2782: "Å",
    0x2785: "kn", 0x2786: "Np", 0x2787: "B", 0x27A0: "yd", 0x27A2: "in", 0x27A3: "ft", 0x27A4: "mi", 0x27A5: "psi",
    0x27A6: "km/h", 0x27A7: "mph", 0x27A8: "/min", 0x27A9: "cal", 0x27AA: "kcal", 0x27AB: "kWh", 0x27AC: "°F",
    0x27AD: "%", 0x27AE: "‰", 0x27AF: "/min", 0x27B0: "Ah", 0x27B1: "mg/dl", 0x27B2: "mmol/l", 0x27B3: "a",
    0x27B4: "months", 0x27B5: "/m³", 0x27B6: "W/m²", 0x27B8: "lb", 0x27B9: "MET", 0x27BA: "/min", 0x27BC: "/min",
    0x27C1: "g/s", 0x27C2: "l/s", 0x27C3: "dB", 0x27C4: "ppm", 0x27C5: "ppb",
  ]
}
