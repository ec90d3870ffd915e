// Scalars that occur as fields of larger values.

/// Event times in steps of 1/1024 s, which wrap around after 64 s.
public enum Seconds1024: ScalarKind {
  public static let format = ScalarFormat(
    "Event Time", octets: 2, multiplier: 9_765_625, exponent: -10, unit: .second)
}

/// Event times in steps of 1/2048 s, which wrap around after 32 s.
public enum Seconds2048: ScalarKind {
  public static let format = ScalarFormat(
    "Event Time", octets: 2, multiplier: 48_828_125, exponent: -11, unit: .second)
}

/// Speeds in steps of 1/256 m/s.
public enum MetresPerSecond256: ScalarKind {
  public static let format = ScalarFormat(
    "Instantaneous Speed", octets: 2, multiplier: 390_625, exponent: -8, unit: .metresPerSecond)
}

/// Speeds in steps of 1/100 m/s.
public enum MetresPerSecond100: ScalarKind {
  public static let format = ScalarFormat("Instantaneous Speed", octets: 2, exponent: -2, unit: .metresPerSecond)
}

/// Lengths up to 655 m in steps of 1/100 m.
public enum Metres100: ScalarKind {
  public static let format = ScalarFormat("Stride Length", octets: 2, exponent: -2, unit: .metre)
}

/// Distances of 32 bits in steps of 1/10 m.
public enum Metres10Wide: ScalarKind {
  public static let format = ScalarFormat("Total Distance", octets: 4, exponent: -1, unit: .metre)
}

/// Distances of 24 bits in steps of 1/10 m.
public enum Metres10: ScalarKind {
  public static let format = ScalarFormat("Distance", octets: 3, exponent: -1, unit: .metre)
}

/// Signed heights in steps of 1/100 m.
public enum HeightMetres100: ScalarKind {
  public static let format = ScalarFormat("Elevation", octets: 3, isSigned: true, exponent: -2, unit: .metre)
}

/// Position errors in steps of 1/100 m.
public enum ErrorMetres100: ScalarKind {
  public static let format = ScalarFormat("Estimated Position Error", octets: 4, exponent: -2, unit: .metre)
}

/// Dilutions of precision in steps of 1/5.
public enum DilutionOfPrecision: ScalarKind {
  public static let format = ScalarFormat(
    "Dilution of Precision", octets: 1, multiplier: 2, exponent: -1, unit: .unitless)
}

/// Times in steps of 1/10 s.
public enum Seconds10: ScalarKind {
  public static let format = ScalarFormat("Time", octets: 2, exponent: -1, unit: .second)
}

/// Headings and bearings in steps of 1/100°, 0 to 359.99°.
public enum Degrees100: ScalarKind {
  public static let format = ScalarFormat("Heading", octets: 2, exponent: -2, unit: .degree, range: 0...35_999)
}

/// Latitudes in steps of 10⁻⁷°, -90° to 90°; north is positive.
public enum Latitude: ScalarKind {
  public static let format = ScalarFormat(
    "Latitude", octets: 4, isSigned: true, exponent: -7, unit: .degree, range: -900_000_000...900_000_000)
}

/// Longitudes in steps of 10⁻⁷°, -180° to 180°; east is positive.
public enum Longitude: ScalarKind {
  public static let format = ScalarFormat(
    "Longitude", octets: 4, isSigned: true, exponent: -7, unit: .degree, range: -1_800_000_000...1_800_000_000)
}

/// Percentages in steps of half a percent, 0 to 100 %.
public enum HalfPercents: ScalarKind {
  public static let format = ScalarFormat(
    "Pedal Power Balance", octets: 1, multiplier: 5, exponent: -1, unit: .percentage, range: 0...200,
    special: [255: "not known"])
}

/// Accumulated torques in steps of 1/32 N·m, which wrap around.
public enum AccumulatedNewtonMetres32: ScalarKind {
  public static let format = ScalarFormat(
    "Accumulated Torque", octets: 2, multiplier: 3_125, exponent: -5, unit: .newtonMetre)
}

/// Torques in steps of 1/32 N·m.
public enum NewtonMetres32: ScalarKind {
  public static let format = ScalarFormat(
    "Torque Magnitude", octets: 2, isSigned: true, multiplier: 3_125, exponent: -5, unit: .newtonMetre)
}

/// Signed time offsets in minutes.
public enum OffsetMinutes: ScalarKind {
  public static let format = ScalarFormat(
    "Time Offset", octets: 2, isSigned: true, unit: .minute, range: -32_767...32_766,
    special: [32_767: "overrun", -32_768: "underrun"])
}

/// Crank lengths in steps of half a millimetre.
public enum HalfMillimetres: ScalarKind {
  public static let format = ScalarFormat("Crank Length", octets: 2, multiplier: 5, exponent: -4, unit: .metre)
}

/// Connection intervals in steps of 1.25 ms.
public enum PreferredInterval: ScalarKind {
  public static let format = ScalarFormat(
    "Connection Interval", octets: 2, multiplier: 125, exponent: -5, unit: .second,
    special: [0xFFFF: "no specific value"])
}

/// Supervision timeouts in steps of 10 ms.
public enum PreferredTimeout: ScalarKind {
  public static let format = ScalarFormat(
    "Supervision Timeout", octets: 2, exponent: -2, unit: .second, special: [0xFFFF: "no specific value"])
}

/// Periods in seconds, 24 bits.
public enum PeriodSeconds: ScalarKind {
  public static let format = ScalarFormat(
    "Period", octets: 3, unit: .second, special: [0: "not in use"])
}

/// Uncertainties in steps of half a percent.
public enum UncertaintyPercents: ScalarKind {
  public static let format = ScalarFormat(
    "Measurement Uncertainty", octets: 1, multiplier: 5, exponent: -1, unit: .percentage,
    special: [255: "not known"])
}

/// Magnetic flux densities in steps of 10⁻⁷ T.
public enum MagneticFlux: ScalarKind {
  public static let format = ScalarFormat(
    "Magnetic Flux Density", octets: 2, isSigned: true, exponent: -7, unit: .tesla)
}

/// Body mass indices in steps of 0.1 kg/m².
public enum BodyMassIndex: ScalarKind {
  public static let format = ScalarFormat(
    "BMI", octets: 2, exponent: -1, unit: .kilogramPerSquareMetre)
}
