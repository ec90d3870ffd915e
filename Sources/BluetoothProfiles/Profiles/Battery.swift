/// The charge level of a battery · Battery Service 1.0, 3.1; 0x2A19: 0 to 100 %.
public typealias BatteryLevel = Scalar<BatteryLevelKind>

public enum BatteryLevelKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A19
  public static let format = ScalarFormat("Battery Level", octets: 1, unit: .percentage, range: 0...100)
}
