import BluetoothLab
import BluetoothProfiles

// The words in world files for the lab's constants.

enum EnvironmentNames {
  static let all: [String: Environment] = ["free": .free, "line-of-sight": .lineOfSight, "office": .office]
}

/// The shapes of an antenna's pattern in world files.
enum AntennaShape: String, CaseIterable {
  case directional
  case dipole
}

enum GenerationNames {
  static let all: [String: DeviceOptions.Generation] = ["bluetooth54": .bluetooth54, "bluetooth40": .bluetooth40]
}

enum ChipNames {
  static let all: [String: CurrentProfile] = [
    "modern": .modern, "nrf52832": .nRF52832, "first-single-mode": .firstSingleMode, "bcm4330": .bcm4330,
    "bcm4334": .bcm4334,
  ]
}

enum CellNames {
  static let all: [String: Cell] = [
    "cr2025": .cr2025, "cr2032": .cr2032, "cr2450": .cr2450, "two-aaa": .twoAAA, "telephone": .telephone,
  ]
}

enum AdvertisingKindNames {
  static let all: [String: Advertising.Kind] = [
    "connectable": .connectable, "scannable": .scannable, "broadcast": .broadcast, "directed": .directed,
  ]
}

enum ProtectionNames {
  static let all: [String: CharacteristicProtection] = ["none": .none, "encrypted": .encrypted]
}

enum PermissionNames {
  static let all: [String: AttributePermissions] = [
    "readable": .readable, "writeable": .writeable, "readEncryptionRequired": .readEncryptionRequired,
    "writeEncryptionRequired": .writeEncryptionRequired, "readAuthenticationRequired": .readAuthenticationRequired,
    "writeAuthenticationRequired": .writeAuthenticationRequired,
    "readAuthorizationRequired": .readAuthorizationRequired,
    "writeAuthorizationRequired": .writeAuthorizationRequired,
  ]
}

enum AccessNames {
  static let all: [String: AttributeAccess] = ["read": .read, "write": .write]
}

enum AlertLevelNames {
  static let all: [String: AlertLevel] = ["none": .noAlert, "mild": .mildAlert, "high": .highAlert]
}

enum LightNames {
  static let all: [String: FinderTag.Light] = ["off": .off, "on": .on, "flashing": .flashing]
}

enum PressureUnitNames {
  static let all: [String: PressureUnit] = ["mmHg": .millimetresOfMercury, "kPa": .kilopascal]
}

enum PositionStatusNames {
  static let all: [String: PositionStatus] = [
    "none": .noPosition, "ok": .positionOK, "estimated": .estimatedPosition, "last-known": .lastKnownPosition,
  ]
}

enum AlertCategoryNames {
  static let all: [String: AlertCategory] = [
    "simple-alert": .simpleAlert, "email": .email, "news": .news, "call": .call, "missed-call": .missedCall,
    "sms": .sms, "voice-mail": .voiceMail, "schedule": .schedule, "high-prioritized-alert": .highPrioritizedAlert,
    "instant-message": .instantMessage,
  ]
}

enum AlertStatusNames {
  static let all: [String: AlertStatus] = ["ringer": .ringer, "vibrate": .vibrate, "display": .display]
}

enum RingerSettingNames {
  static let all: [String: RingerSetting] = ["silent": .silent, "normal": .normal]
}

enum NotificationCategoryNames {
  static let all: [String: DeviceNotification.Category] = [
    "other": .other, "incoming-call": .incomingCall, "missed-call": .missedCall, "voicemail": .voicemail,
    "social": .social, "schedule": .schedule, "email": .email, "news": .news,
    "health-and-fitness": .healthAndFitness, "business-and-finance": .businessAndFinance, "location": .location,
    "entertainment": .entertainment,
  ]
}

enum RecordingStartNames {
  static let all: [String: DeviceRecording.Start] = ["power-on": .powerOn, "subscription": .subscription]
}

enum OutputNames {
  static let all: [String: ValueProgram.Output] = ["text": .text, "octets": .octets, "value": .value]
}

enum PropertyNames {
  static let all: [String: CharacteristicProperties] = [
    "broadcast": .broadcast, "read": .read, "write-without-response": .writeWithoutResponse, "write": .write,
    "notify": .notify, "indicate": .indicate, "signed-write": .authenticatedSignedWrites,
  ]
}
