// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Characteristic Extended Properties: the descriptor's value is an `NSNumber`.
public let CBUUIDCharacteristicExtendedPropertiesString: String = "2900"
/// Characteristic User Description: the descriptor's value is a `String`.
public let CBUUIDCharacteristicUserDescriptionString: String = "2901"
/// Client Characteristic Configuration: the descriptor's value is an `NSNumber`. Apps use `setNotifyValue(_:for:)`.
public let CBUUIDClientCharacteristicConfigurationString: String = "2902"
/// Server Characteristic Configuration: the descriptor's value is an `NSNumber`.
public let CBUUIDServerCharacteristicConfigurationString: String = "2903"
/// Characteristic Presentation Format: the descriptor's value is a `Data` of 7 octets.
public let CBUUIDCharacteristicFormatString: String = "2904"
/// Characteristic Aggregate Format: the descriptor's value is a `Data` of handles.
public let CBUUIDCharacteristicAggregateFormatString: String = "2905"
/// Valid Range: the descriptor's value is a `Data`.
public let CBUUIDCharacteristicValidRangeString: String = "2906"
/// Observation Schedule: the descriptor's value is a `Data`.
public let CBUUIDCharacteristicObservationScheduleString: String = "2910"
/// A characteristic that holds the PSM of an L2CAP channel, a little-endian `UInt16`.
public let CBUUIDL2CAPPSMCharacteristicString: String = "ABDD3056-28FA-441D-A470-55A75A52553A"
