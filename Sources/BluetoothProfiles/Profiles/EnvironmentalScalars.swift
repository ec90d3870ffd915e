// The scalars of the Environmental Sensing Service 1.0, 3.1 · GATT Specification Supplement.

/// The elevation above sea level in metres; 0x2A6C.
public typealias Elevation = Scalar<ElevationKind>

/// A pressure; 0x2A6D.
public typealias Pressure = Scalar<PressureKind>

/// A temperature, -273.15 to 327.67 °C; 0x2A6E.
public typealias Temperature = Scalar<TemperatureKind>

/// A relative humidity, 0 to 100 %; 0x2A6F.
public typealias Humidity = Scalar<HumidityKind>

/// The speed of the wind relative to the ground; 0x2A70.
public typealias TrueWindSpeed = Scalar<TrueWindSpeedKind>

/// The direction from which the wind blows relative to the ground, clockwise from north; 0x2A71.
public typealias TrueWindDirection = Scalar<TrueWindDirectionKind>

/// The speed of the wind relative to a moving observer; 0x2A72.
public typealias ApparentWindSpeed = Scalar<ApparentWindSpeedKind>

/// The direction from which the wind blows relative to a moving observer, clockwise from the direction ahead; 0x2A73.
public typealias ApparentWindDirection = Scalar<ApparentWindDirectionKind>

/// The ratio of the speed of gusts to the mean wind speed; 0x2A74.
public typealias GustFactor = Scalar<GustFactorKind>

/// The concentration of pollen in the air; 0x2A75.
public typealias PollenConcentration = Scalar<PollenConcentrationKind>

/// The intensity of ultraviolet radiation; 0x2A76.
public typealias UVIndex = Scalar<UVIndexKind>

/// The power of light per area; 0x2A77.
public typealias Irradiance = Scalar<IrradianceKind>

/// The depth of the rainfall; 0x2A78.
public typealias Rainfall = Scalar<RainfallKind>

/// The perceived temperature due to wind; 0x2A79.
public typealias WindChill = Scalar<WindChillKind>

/// The perceived temperature due to humidity; 0x2A7A.
public typealias HeatIndex = Scalar<HeatIndexKind>

/// The temperature at which dew forms; 0x2A7B.
public typealias DewPoint = Scalar<DewPointKind>

/// The direction in which a compass points, clockwise from north; 0x2A2C.
public typealias MagneticDeclination = Scalar<MagneticDeclinationKind>

/// The concentration of carbon dioxide in the air; 0x2B8C.
public typealias CO2Concentration = Scalar<CO2ConcentrationKind>

/// The concentration of volatile organic compounds in the air; 0x2BE7.
public typealias VOCConcentration = Scalar<VOCConcentrationKind>

public enum ElevationKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A6C
  public static let format = ScalarFormat(
    "Elevation", octets: 3, isSigned: true, exponent: -2, unit: .metre)
}

public enum PressureKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A6D
  public static let format = ScalarFormat(
    "Pressure", octets: 4, exponent: -1, unit: .pascal)
}

public enum TemperatureKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A6E
  public static let format = ScalarFormat(
    "Temperature", octets: 2, isSigned: true, exponent: -2, unit: .degreeCelsius, range: -27_315...32_767,
    special: [-32_768: "not known"])
}

public enum HumidityKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A6F
  public static let format = ScalarFormat(
    "Humidity", octets: 2, exponent: -2, unit: .percentage, range: 0...10_000,
    special: [0xFFFF: "not known"])
}

public enum TrueWindSpeedKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A70
  public static let format = ScalarFormat(
    "True Wind Speed", octets: 2, exponent: -2, unit: .metresPerSecond)
}

public enum TrueWindDirectionKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A71
  public static let format = ScalarFormat(
    "True Wind Direction", octets: 2, exponent: -2, unit: .degree, range: 0...35_999)
}

public enum ApparentWindSpeedKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A72
  public static let format = ScalarFormat(
    "Apparent Wind Speed", octets: 2, exponent: -2, unit: .metresPerSecond)
}

public enum ApparentWindDirectionKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A73
  public static let format = ScalarFormat(
    "Apparent Wind Direction", octets: 2, exponent: -2, unit: .degree, range: 0...35_999)
}

public enum GustFactorKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A74
  public static let format = ScalarFormat(
    "Gust Factor", octets: 1, exponent: -1, unit: .unitless)
}

public enum PollenConcentrationKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A75
  public static let format = ScalarFormat(
    "Pollen Concentration", octets: 3, unit: .countPerCubicMetre)
}

public enum UVIndexKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A76
  public static let format = ScalarFormat(
    "UV Index", octets: 1, unit: .unitless)
}

public enum IrradianceKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A77
  public static let format = ScalarFormat(
    "Irradiance", octets: 2, exponent: -1, unit: .wattPerSquareMetre)
}

public enum RainfallKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A78
  public static let format = ScalarFormat(
    "Rainfall", octets: 2, exponent: -3, unit: .metre)
}

public enum WindChillKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A79
  public static let format = ScalarFormat(
    "Wind Chill", octets: 1, isSigned: true, unit: .degreeCelsius)
}

public enum HeatIndexKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A7A
  public static let format = ScalarFormat(
    "Heat Index", octets: 1, isSigned: true, unit: .degreeCelsius)
}

public enum DewPointKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A7B
  public static let format = ScalarFormat(
    "Dew Point", octets: 1, isSigned: true, unit: .degreeCelsius)
}

public enum MagneticDeclinationKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A2C
  public static let format = ScalarFormat(
    "Magnetic Declination", octets: 2, exponent: -2, unit: .degree, range: 0...35_999)
}

public enum CO2ConcentrationKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2B8C
  public static let format = ScalarFormat(
    "CO₂ Concentration", octets: 2, unit: .partsPerMillion, range: 0...65_533,
    special: [0xFFFE: "65534 ppm or more", 0xFFFF: "not known"])
}

public enum VOCConcentrationKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2BE7
  public static let format = ScalarFormat(
    "VOC Concentration", octets: 2, unit: .partsPerBillion, range: 0...65_533,
    special: [0xFFFE: "65534 ppb or more", 0xFFFF: "not known"])
}
