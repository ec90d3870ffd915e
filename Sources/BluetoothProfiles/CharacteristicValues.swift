/// The supported value types, by the UUIDs of their characteristics and descriptors.
public enum CharacteristicValues {
  /// All supported types.
  public static let types: [any CharacteristicValue.Type] =
    general + time + health + sport + alerts + devices + environment + descriptors

  private static let byUUID = Dictionary(uniqueKeysWithValues: types.map { ($0.uuid, $0) })

  /// Returns the value type of a characteristic or descriptor; nil if it is not supported.
  public static func type(of uuid: UInt16) -> (any CharacteristicValue.Type)? { byUUID[uuid] }

  /// Decodes `octets` as the value of a characteristic or descriptor; nil if its type is not supported.
  public static func value(of uuid: UInt16, _ octets: some Sequence<UInt8>) throws(ValueError)
    -> (any CharacteristicValue)?
  {
    guard let type = byUUID[uuid] else { return nil }
    return try type.init(octets)
  }

  /// Returns a readable text for `octets`: decoded by the UUID, else by the presentation format, else as hexadecimal
  /// digits.
  public static func text(
    of uuid: UInt16, _ octets: some Sequence<UInt8>, format: PresentationFormat? = nil
  ) -> String {
    let octets = Array(octets)
    if let type = byUUID[uuid], let value = try? type.init(octets) { return value.description }
    if let text = try? format?.text(of: octets) { return text }
    return octets.hexadecimal
  }

  private static let general: [any CharacteristicValue.Type] = [
    DeviceName.self, Appearance.self, PeripheralPreferredConnectionParameters.self, CentralAddressResolution.self,
    ServiceChanged.self, DatabaseHash.self, BatteryLevel.self,
  ]

  private static let time: [any CharacteristicValue.Type] = [
    DateTime.self, DayOfWeek.self, DayDateTime.self, ExactTime256.self, CurrentTime.self, DSTOffset.self,
    TimeZoneOffset.self, LocalTimeInformation.self, TimeWithDST.self, TimeAccuracy.self, TimeSource.self,
    ReferenceTimeInformation.self, TimeUpdateControlPoint.self, TimeUpdateState.self,
  ]

  private static let health: [any CharacteristicValue.Type] = [
    HeartRateMeasurement.self, BodySensorLocation.self, HeartRateControlPoint.self, TemperatureMeasurement.self,
    IntermediateTemperature.self, TemperatureType.self, MeasurementInterval.self, BloodPressureMeasurement.self,
    IntermediateCuffPressure.self, BloodPressureFeature.self, GlucoseMeasurement.self,
    GlucoseMeasurementContext.self, GlucoseFeature.self, RecordAccessControlPoint.self,
    WeightMeasurement.self, WeightScaleFeature.self,
  ]

  private static let sport: [any CharacteristicValue.Type] = [
    CSCMeasurement.self, CSCFeature.self, RSCMeasurement.self, RSCFeature.self, SensorLocation.self,
    SCControlPoint.self, CyclingPowerMeasurement.self, CyclingPowerVector.self, CyclingPowerFeature.self,
    CyclingPowerControlPoint.self, LocationAndSpeed.self, Navigation.self, PositionQuality.self, LNFeature.self,
    LNControlPoint.self,
  ]

  private static let alerts: [any CharacteristicValue.Type] = [
    AlertCategory.self, AlertCategoryIDBitMask.self, SupportedNewAlertCategory.self,
    SupportedUnreadAlertCategory.self, NewAlert.self, UnreadAlertStatus.self, AlertNotificationControlPoint.self,
    AlertStatus.self, RingerSetting.self, RingerControlPoint.self, AlertLevel.self, TxPowerLevel.self,
  ]

  private static let devices: [any CharacteristicValue.Type] = [
    ManufacturerNameString.self, ModelNumberString.self, SerialNumberString.self, FirmwareRevisionString.self,
    HardwareRevisionString.self, SoftwareRevisionString.self, RegulatoryCertificationDataList.self, SystemID.self,
    PnPID.self, HIDInformation.self, ReportMap.self, HIDControlPoint.self, HIDReport.self, ProtocolMode.self,
    BootKeyboardInputReport.self, BootKeyboardOutputReport.self, BootMouseInputReport.self,
  ]

  private static let environment: [any CharacteristicValue.Type] = [
    Elevation.self, Pressure.self, Temperature.self, Humidity.self, TrueWindSpeed.self, TrueWindDirection.self,
    ApparentWindSpeed.self, ApparentWindDirection.self, GustFactor.self, PollenConcentration.self, UVIndex.self,
    Irradiance.self, Rainfall.self, WindChill.self, HeatIndex.self, DewPoint.self, MagneticDeclination.self,
    CO2Concentration.self, VOCConcentration.self, BarometricPressureTrend.self, MagneticFluxDensity2D.self,
    MagneticFluxDensity3D.self, DescriptorValueChanged.self,
  ]

  private static let descriptors: [any CharacteristicValue.Type] = [
    CharacteristicDeclaration.self, CharacteristicExtendedProperties.self, CharacteristicUserDescription.self,
    ClientCharacteristicConfiguration.self, ServerCharacteristicConfiguration.self, PresentationFormat.self,
    AggregateFormat.self, ValidRange.self, ExternalReportReference.self, ReportReference.self,
    EnvironmentalSensingConfiguration.self,
    EnvironmentalSensingMeasurement.self, EnvironmentalSensingTriggerSetting.self,
  ]
}
