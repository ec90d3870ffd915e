import BluetoothProfiles
import TestVectors
import Testing

/// A generator that repeats the same numbers (SplitMix64).
private struct Random {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  mutating func octets(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}

/// Returns true if the octets decode to a value. Such a value must survive encoding and decoding, and have a
/// description.
@discardableResult
private func check<Value: CharacteristicValue>(_ type: Value.Type, _ octets: [UInt8]) -> Bool {
  guard let value = try? Value(octets) else { return false }
  let again = value.octets
  #expect((try? Value(again)) == value, "\(Value.self) \(digits(octets)) became \(digits(again))")
  #expect((try? Value(again))?.octets == again, "\(Value.self) \(digits(octets))")
  _ = value.description
  return true
}

@Suite struct ValuePropertyTests {
  @Test("Random octets never trap, and a decoded value survives encoding and decoding")
  func randomOctets() {
    var random = Random(state: 1)
    for type in CharacteristicValues.types {
      for count in 0...24 {
        for _ in 0..<20 { check(type, random.octets(count)) }
      }
    }
  }

  @Test("A vector with a wrong octet, truncated or extended, decodes to a value that survives encoding, or throws")
  func changedVectors() throws {
    var random = Random(state: 2)
    for row in try ValueVectors.rows("values") {
      let type = try #require(CharacteristicValues.type(of: row.uuid))
      let isValue = check(type, row.octets)
      #expect(isValue)
      for end in row.octets.indices { check(type, Array(row.octets[..<end])) }
      for _ in 0..<50 {
        var octets = row.octets + random.octets(random.below(4))
        octets[random.below(octets.count)] = UInt8(random.below(256))
        check(type, octets)
      }
    }
  }

  @Test("Every combination of flags decodes and encodes its fields in order")
  func flags() throws {
    // Octets of 7 are a valid date, a valid time, and a number in every range.
    let fields = [UInt8](repeating: 7, count: 64)
    func check<Value: CharacteristicValue>(_ type: Value.Type, octets: Int, bits: Int) {
      for flags in 0..<1 << bits {
        let head = (0..<octets).map { UInt8(truncatingIfNeeded: flags >> ($0 * 8)) }
        // A list of 16-bit numbers that takes the rest of the octets needs an even number of octets.
        guard let value = (try? Value(head + fields)) ?? (try? Value(head + fields.dropLast())) else {
          Issue.record("\(Value.self) with the flags \(flags)")
          continue
        }
        let written = value.octets
        #expect(written.dropFirst(octets).allSatisfy { $0 == 7 }, "\(Value.self) with the flags \(flags)")
        #expect((try? Value(written)) == value)
        // A missing last octet is an error, unless the last field has a variable length.
        if written.count > octets, !(Value.self is HeartRateMeasurement.Type) {
          #expect(throws: ValueError.tooShort) { try Value(written.dropLast()) }
        }
      }
    }
    check(HeartRateMeasurement.self, octets: 1, bits: 5)
    check(TemperatureMeasurement.self, octets: 1, bits: 8)
    check(BloodPressureMeasurement.self, octets: 1, bits: 8)
    check(GlucoseMeasurement.self, octets: 1, bits: 8)
    check(WeightMeasurement.self, octets: 1, bits: 8)
    check(GlucoseMeasurementContext.self, octets: 1, bits: 8)
    check(CSCMeasurement.self, octets: 1, bits: 8)
    check(RSCMeasurement.self, octets: 1, bits: 8)
    check(CyclingPowerMeasurement.self, octets: 2, bits: 13)
    check(LocationAndSpeed.self, octets: 2, bits: 13)
    check(Navigation.self, octets: 2, bits: 9)
    check(PositionQuality.self, octets: 2, bits: 9)
  }

  @Test("Every SFLOAT is rebuilt from its mantissa and exponent, and every special one from its meaning")
  func medicalFloats() throws {
    var special = 0
    for bits in UInt16.min...UInt16.max {
      let float = MedicalFloat16(rawValue: bits)
      if let meaning = float.special {
        special += 1
        #expect(MedicalFloat16(meaning) == float)
        #expect(float.number == nil)
      } else {
        let number = try #require(float.number)
        #expect((-2048...2047).contains(number.mantissa) && (-8...7).contains(number.exponent))
        #expect(MedicalFloat16(mantissa: number.mantissa, exponent: number.exponent) == float)
        #expect(MedicalFloat16(float.value, exponent: number.exponent) == float)
      }
    }
    #expect(special == 5)
    #expect(MedicalFloat16(mantissa: 2047, exponent: 0) == nil)
    #expect(MedicalFloat16(mantissa: 2047, exponent: 1)?.value == 20470)
    #expect(MedicalFloat16(mantissa: 2048, exponent: 1) == nil)
    #expect(MedicalFloat16(.infinity, exponent: 0) == nil)
    #expect(MedicalFloat32(36.6, exponent: -1)?.rawValue == 0xFF00_016E)
    #expect(MedicalFloat32(.nan, exponent: 0) == nil)
  }

  @Test("Scalars across their range are rebuilt from their values")
  func scalars() throws {
    func check<Kind: ScalarKind>(_ type: Scalar<Kind>.Type) throws {
      let format = Kind.format
      for rawValue in Set(stride(from: format.range.lowerBound, through: format.range.upperBound, by: 97))
        .union([format.range.upperBound]) where format.special[rawValue] == nil
      {
        let scalar = try #require(Scalar<Kind>(rawValue: rawValue))
        let value = try #require(scalar.value)
        #expect(Scalar<Kind>(value)?.rawValue == rawValue, "\(Kind.self) \(rawValue)")
      }
      for (rawValue, meaning) in format.special {
        #expect(Scalar<Kind>(rawValue: rawValue)?.value == nil)
        #expect(Scalar<Kind>(rawValue: rawValue)?.description == meaning)
      }
      #expect(Scalar<Kind>(.nan) == nil)
      #expect(Scalar<Kind>(.infinity) == nil)
      #expect(Scalar<Kind>(1e300) == nil)
    }
    try check(BatteryLevel.self)
    try check(Temperature.self)
    try check(Humidity.self)
    try check(TimeZoneOffset.self)
    try check(TimeAccuracy.self)
    try check(GustFactor.self)
    try check(WindChill.self)
    try check(Scalar<Seconds1024>.self)
    try check(Scalar<Seconds2048>.self)
    try check(Scalar<MetresPerSecond256>.self)
    try check(Scalar<HalfPercents>.self)
    try check(Scalar<NewtonMetres32>.self)
    try check(Scalar<PreferredInterval>.self)
    #expect(BatteryLevel(101) == nil && BatteryLevel(rawValue: 101) == nil)
    #expect(Temperature(-273.16) == nil)
  }
}
