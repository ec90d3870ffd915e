/// The context of a glucose measurement: meals, exercise, medication · Glucose Service 1.0, 3.2; 0x2A34.
public struct GlucoseMeasurementContext: CharacteristicValue {
  public struct Carbohydrate: Hashable, Sendable {
    public var kind: Meal
    /// The amount in kg.
    public var amount: MedicalFloat16

    public init(_ kind: Meal, amount: MedicalFloat16) {
      self.kind = kind
      self.amount = amount
    }
  }

  public struct Exercise: Hashable, Sendable {
    /// The duration in seconds; 65,535 stands for any longer duration.
    public var duration: UInt16
    /// The intensity in percent.
    public var intensity: UInt8

    public init(duration: UInt16, intensity: UInt8) {
      self.duration = duration
      self.intensity = intensity
    }
  }

  public struct Medication: Hashable, Sendable {
    public var kind: Insulin
    /// The amount in litres if `isVolume`, else in kg.
    public var amount: MedicalFloat16
    public var isVolume: Bool

    public init(_ kind: Insulin, amount: MedicalFloat16, isVolume: Bool = false) {
      self.kind = kind
      self.amount = amount
      self.isVolume = isVolume
    }
  }

  /// The person who did the test and the health of the patient, four bits each.
  public struct TesterAndHealth: Hashable, Sendable {
    public let tester: Tester
    public let health: Health

    /// Returns nil if a code exceeds four bits.
    public init?(tester: Tester, health: Health) {
      guard tester.rawValue < 16, health.rawValue < 16 else { return nil }
      self.tester = tester
      self.health = health
    }
  }

  /// The sequence number of the measurement.
  public var sequenceNumber: UInt16
  /// The Extended Flags, of which no bit is defined yet.
  public var extendedFlags: UInt8?
  public var carbohydrate: Carbohydrate?
  public var meal: MealTime?
  public var testerAndHealth: TesterAndHealth?
  public var exercise: Exercise?
  public var medication: Medication?
  /// The HbA1c value in percent.
  public var hba1c: MedicalFloat16?

  public init(sequenceNumber: UInt16) { self.sequenceNumber = sequenceNumber }

  public static let uuid: UInt16 = 0x2A34
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint8()
    sequenceNumber = try reader.uint16()
    extendedFlags = try flags.has(7) ? reader.uint8() : nil
    carbohydrate = try flags.has(0) ? Carbohydrate(reader.code(), amount: reader.medicalFloat()) : nil
    meal = try flags.has(1) ? reader.code() : nil
    if flags.has(2) {
      let codes = try reader.uint8()
      testerAndHealth = TesterAndHealth(
        tester: Tester(rawValue: codes.bits(0, 4)), health: Health(rawValue: codes.bits(4, 4)))
    }
    exercise = try flags.has(3) ? Exercise(duration: reader.uint16(), intensity: reader.uint8()) : nil
    medication =
      try flags.has(4) ? Medication(reader.code(), amount: reader.medicalFloat(), isVolume: flags.has(5)) : nil
    hba1c = try flags.has(6) ? reader.medicalFloat() : nil
  }

  public func write(to writer: inout ValueWriter) {
    var flags: UInt8 = (carbohydrate != nil).bit(0) | (meal != nil).bit(1) | (testerAndHealth != nil).bit(2)
    flags |= (exercise != nil).bit(3) | (medication != nil).bit(4) | (medication?.isVolume == true).bit(5)
    writer.integer(flags | (hba1c != nil).bit(6) | (extendedFlags != nil).bit(7))
    writer.integer(sequenceNumber)
    if let extendedFlags { writer.integer(extendedFlags) }
    if let carbohydrate {
      writer.code(carbohydrate.kind)
      writer.medicalFloat(carbohydrate.amount)
    }
    if let meal { writer.code(meal) }
    if let testerAndHealth {
      writer.integer(testerAndHealth.tester.rawValue | testerAndHealth.health.rawValue << 4)
    }
    if let exercise {
      writer.integer(exercise.duration)
      writer.integer(exercise.intensity)
    }
    if let medication {
      writer.code(medication.kind)
      writer.medicalFloat(medication.amount)
    }
    if let hba1c { writer.medicalFloat(hba1c) }
  }

  public var fields: [ValueField] {
    var fields = [ValueField("sequence number", sequenceNumber)]
    fields.add("extended flags", extendedFlags.map(\.hexadecimal))
    fields.add("carbohydrate", carbohydrate.map { "\($0.amount) kg for \($0.kind)" })
    fields.add("meal", meal)
    fields.add("tester", testerAndHealth?.tester)
    fields.add("health", testerAndHealth?.health)
    fields.add("exercise", exercise.map { "\($0.duration) s at \($0.intensity) %" })
    fields.add("medication", medication.map { "\($0.amount) \($0.isVolume ? "l" : "kg") of \($0.kind)" })
    fields.add("HbA1c", hba1c, .percentage)
    return fields
  }

  /// The meal to which the carbohydrate belongs.
  public struct Meal: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let breakfast: Self = 1
    public static let lunch: Self = 2
    public static let dinner: Self = 3
    public static let snack: Self = 4
    public static let drink: Self = 5
    public static let supper: Self = 6
    public static let brunch: Self = 7
    public static let firstNamed: UInt8 = 1
    public static let names = ["breakfast", "lunch", "dinner", "snack", "drink", "supper", "brunch"]
  }

  /// The time of the measurement relative to meals.
  public struct MealTime: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let preprandial: Self = 1
    public static let postprandial: Self = 2
    public static let fasting: Self = 3
    public static let casual: Self = 4
    public static let bedtime: Self = 5
    public static let firstNamed: UInt8 = 1
    public static let names = ["before a meal", "after a meal", "fasting", "casual", "bedtime"]
  }

  public struct Tester: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let patient: Self = 1
    public static let healthCareProfessional: Self = 2
    public static let labTest: Self = 3
    public static let notAvailable: Self = 15
    public static let firstNamed: UInt8 = 1
    public static let names = ["self", "health care professional", "lab test"]
    public static let furtherNames: [UInt8: String] = [15: "not available"]
  }

  public struct Health: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let minorIssues: Self = 1
    public static let majorIssues: Self = 2
    public static let duringMenses: Self = 3
    public static let underStress: Self = 4
    public static let noIssues: Self = 5
    public static let notAvailable: Self = 15
    public static let firstNamed: UInt8 = 1
    public static let names = ["minor issues", "major issues", "during menses", "under stress", "no issues"]
    public static let furtherNames: [UInt8: String] = [15: "not available"]
  }

  public struct Insulin: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let rapidActing: Self = 1
    public static let shortActing: Self = 2
    public static let intermediateActing: Self = 3
    public static let longActing: Self = 4
    public static let preMixed: Self = 5
    public static let firstNamed: UInt8 = 1
    public static let names = [
      "rapid acting insulin", "short acting insulin", "intermediate acting insulin", "long acting insulin",
      "pre-mixed insulin",
    ]
  }
}
