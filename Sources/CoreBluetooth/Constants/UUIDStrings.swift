// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The UUID of Characteristic Extended Properties. The descriptor's value is an `NSNumber`.
public let CBUUIDCharacteristicExtendedPropertiesString: String = "2900"
/// The UUID of Characteristic User Description. The descriptor's value is a `String`.
public let CBUUIDCharacteristicUserDescriptionString: String = "2901"
/// The UUID of Client Characteristic Configuration. The descriptor's value is an `NSNumber`; apps write it with
/// `setNotifyValue(_:for:)`.
public let CBUUIDClientCharacteristicConfigurationString: String = "2902"
/// The UUID of Server Characteristic Configuration. The descriptor's value is an `NSNumber`.
public let CBUUIDServerCharacteristicConfigurationString: String = "2903"
/// The UUID of Characteristic Presentation Format. The descriptor's value is a `Data` of 7 octets.
public let CBUUIDCharacteristicFormatString: String = "2904"
/// The UUID of Characteristic Aggregate Format. The descriptor's value is a `Data` of attribute handles.
public let CBUUIDCharacteristicAggregateFormatString: String = "2905"
/// The UUID of Valid Range. The descriptor's value is a `Data`.
public let CBUUIDCharacteristicValidRangeString: String = "2906"
/// The UUID of Observation Schedule. The descriptor's value is a `Data`.
public let CBUUIDCharacteristicObservationScheduleString: String = "2910"
/// The UUID of a characteristic that holds the PSM of an L2CAP channel, a little-endian `UInt16`.
public let CBUUIDL2CAPPSMCharacteristicString: String = "ABDD3056-28FA-441D-A470-55A75A52553A"
