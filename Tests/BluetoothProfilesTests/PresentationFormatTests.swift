import BluetoothProfiles
import Requirements
import Testing

@Suite struct PresentationFormatTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var format: PresentationFormat
    var octets: [UInt8]
    var text: String
    var testDescription: String { text }

    init(
      _ format: PresentationFormat.Format, _ exponent: Int8, _ unit: BluetoothUnit, _ octets: [UInt8], _ text: String
    ) {
      self.format = PresentationFormat(format, exponent: exponent, unit: unit)
      self.octets = octets
      self.text = text
    }
  }

  @Test(
    "A presentation format turns octets of every type into text with its unit", .requirement("L161"),
    arguments: [
      Case(.boolean, 0, .unitless, [1], "true"), Case(.boolean, 0, .unitless, [0], "false"),
      Case(.uint2, 0, .unitless, [0xFF], "3"), Case(.uint4, 0, .unitless, [0xFF], "15"),
      Case(.uint8, 0, .percentage, [87], "87 %"), Case(.uint12, 0, .unitless, [0xFF, 0xFF], "4095"),
      Case(.uint16, -1, .degree, [0x0A, 0x0E], "359.4 °"), Case(.uint24, 0, .unitless, [0, 0, 1], "65536"),
      Case(.uint32, -1, .pascal, [0x1A, 0x77, 0x0F, 0], "101353 Pa"),
      Case(.uint48, 0, .unitless, [0, 0, 0, 0, 1, 0], "4294967296"),
      Case(.uint64, 0, .unitless, [UInt8](repeating: 0xFF, count: 8), "18446744073709551615"),
      Case(
        .uint128, 0, .unitless, [UInt8](repeating: 0xFF, count: 16), "340282366920938463463374607431768211455"),
      Case(.sint8, 3, .metre, [0xFE], "-2000 m"), Case(.sint12, 0, .unitless, [0xFF, 0x0F], "-1"),
      Case(.sint16, -2, .degreeCelsius, [0xF6, 0x09], "25.5 °C"),
      Case(.sint16, -2, .degreeCelsius, [0xFB, 0xFF], "-0.05 °C"),
      Case(.sint24, 0, .unitless, [0, 0, 0x80], "-8388608"),
      Case(.sint32, 0, .unitless, [0xFF, 0xFF, 0xFF, 0xFF], "-1"),
      Case(.sint48, 0, .unitless, [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "-2"),
      Case(.sint64, 0, .unitless, [0, 0, 0, 0, 0, 0, 0, 0x80], "-9223372036854775808"),
      Case(.sint128, 0, .unitless, [UInt8](repeating: 0xFF, count: 16), "-1"),
      Case(.float32, 0, .watt, [0, 0, 0xC0, 0x3F], "1.5 W"),
      Case(.float64, 0, .watt, [0, 0, 0, 0, 0, 0, 0xF8, 0xBF], "-1.5 W"),
      Case(.medfloat16, 0, .degreeCelsius, [0x6E, 0xF1], "36.6 °C"),
      Case(.medfloat32, 0, .degreeCelsius, [0xFF, 0xFF, 0x7F, 0], "NaN °C"),
      Case(.nomenclature, 0, .unitless, [2, 0, 0xDC, 0x4B], "2:19420"),
      Case(.utf8, 0, .unitless, Array("23 °C".utf8), "23 °C"), Case(.utf16, 0, .unitless, [0x42, 0x30, 0x41, 0], "あA"),
      Case(.opaque, 0, .unitless, [0xDE, 0xAD], "dead"), Case(.medicalASN1, 0, .unitless, [1], "01"),
      Case(0xEE, 0, .unitless, [1, 2], "0102"),
    ])
  func text(_ example: Case) throws {
    #expect(try example.format.text(of: example.octets) == example.text)
  }

  @Test("Too few or too many octets for a presentation format are an error")
  func lengths() {
    let format = PresentationFormat(.sint16, exponent: -2, unit: .degreeCelsius)
    #expect(throws: ValueError.tooShort) { try format.text(of: [0xF6]) }
    #expect(throws: ValueError.tooLong) { try format.text(of: [0xF6, 0x09, 0]) }
    #expect(throws: ValueError.tooShort) { try PresentationFormat(.utf16, unit: .unitless).text(of: [0x42]) }
    #expect(throws: ValueError.tooShort) { try PresentationFormat([0x04, 0, 0xAD, 0x27, 1, 0]) }
  }

  @Test("The namespace and description of a format identify one of several values", .requirement("L162"))
  func descriptions() throws {
    let format = try PresentationFormat([0x0E, 0xFE, 0x2F, 0x27, 0x01, 0x0D, 0x01])
    #expect(format.details.name == "left")
    #expect(format.unit == .degreeCelsius)
    #expect(
      format.description == "format sint16, exponent -2, unit Celsius temperature (degree Celsius), description left")
    let foreign = try PresentationFormat([0x04, 0, 0xAD, 0x27, 2, 0, 1])
    #expect(foreign.description == "format uint8, exponent 0, unit percentage, description 256 of namespace 2")
    #expect(PresentationFormat.Description(number: 3).name == "number 3")
    #expect(PresentationFormat.Description(number: 0).name == nil)
    #expect(PresentationFormat.Description(number: 0x111).name == nil)
    #expect(PresentationFormat.Description(namespace: 2, number: 0x100).name == nil)
  }

  @Test("An aggregate format splits a value in the order of its handles", .requirement("L163"))
  func aggregate() throws {
    let formats: [UInt16: PresentationFormat] = [
      7: PresentationFormat(.sint32, exponent: -7, unit: .degree),
      9: PresentationFormat(.uint8, unit: .percentage),
    ]
    let aggregate = try AggregateFormat([9, 0, 7, 0])
    #expect(aggregate.handles == [9, 7])
    #expect(try aggregate.texts(of: [50, 0x00, 0xB4, 0xC4, 0x04], formats: formats) == ["50 %", "8 °"])
    #expect(throws: ValueError.tooShort) { try aggregate.texts(of: [50, 0], formats: formats) }
    #expect(throws: ValueError.tooLong) { try aggregate.texts(of: [50, 0, 0, 0, 0, 0], formats: formats) }
    #expect(throws: ValueError.outOfRange(field: "Handle")) { try aggregate.texts(of: [50, 0, 0, 0, 0], formats: [:]) }
    #expect(throws: ValueError.tooShort) { try AggregateFormat([9]) }
  }

  @Test("A value of an unknown characteristic is shown by its presentation format, or else as hexadecimal digits")
  func unknownCharacteristics() {
    let format = PresentationFormat(.uint16, exponent: -1, unit: .watt)
    #expect(CharacteristicValues.text(of: 0xFFF0, [0x0F, 0], format: format) == "1.5 W")
    #expect(CharacteristicValues.text(of: 0xFFF0, [0x0F], format: format) == "0f")
    #expect(CharacteristicValues.text(of: 0xFFF0, [0x0F, 0xAB]) == "0fab")
    #expect(CharacteristicValues.text(of: 0x2A19, [101]) == "65")
  }
}
