/// The declaration of an interface of D-Bus: its methods, properties and signals with their signatures.
package struct InterfaceDeclaration: Sendable {
  package struct Argument: Sendable {
    package let name: String
    package let signature: String
  }

  package struct Method: Sendable {
    package let name: String
    package let input: [Argument]
    package let output: [Argument]
  }

  package struct Property: Sendable {
    package let name: String
    package let signature: String
    package let isWritable: Bool
  }

  package struct Signal: Sendable {
    package let name: String
    package let arguments: [Argument]
  }

  package let name: String
  package let methods: [Method]
  package let properties: [Property]
  package var signals: [Signal] = []

  /// - Parameters:
  ///   - methods: each as `Name(signature name, …) signature name, …`; see `parse`.
  ///   - properties: each as `signature Name`, with ` rw` behind it if clients can set the property.
  init(_ name: String, methods: [String] = [], properties: [String] = [], signals: [String] = []) {
    self.name = name
    self.methods = methods.map { text in
      let parts = text.split(separator: "(", maxSplits: 1)
      let rest = parts[1].split(separator: ")", maxSplits: 1, omittingEmptySubsequences: false)
      return Method(name: String(parts[0]), input: Self.arguments(rest[0]), output: Self.arguments(rest[1]))
    }
    self.properties = properties.map { text in
      let words = text.split(separator: " ").map(String.init)
      return Property(name: words[1], signature: words[0], isWritable: words.count == 3)
    }
    self.signals = signals.map { text in
      let parts = text.split(separator: "(", maxSplits: 1)
      return Signal(name: String(parts[0]), arguments: Self.arguments(parts[1].dropLast()))
    }
  }

  /// Reads `signature name, …`.
  private static func arguments(_ text: Substring) -> [Argument] {
    text.split(separator: ",").map { item in
      let words = item.split(separator: " ").map(String.init)
      return Argument(name: words[1], signature: words[0])
    }
  }
}

/// The interfaces that the service exports · doc/org.bluez.*.rst of BlueZ.
package enum BlueZInterface {
  static let adapter = InterfaceDeclaration(
    "org.bluez.Adapter1",
    methods: [
      "StartDiscovery()", "SetDiscoveryFilter(a{sv} properties)", "StopDiscovery()", "RemoveDevice(o device)",
      "GetDiscoveryFilters()as filters",
    ],
    properties: [
      "s Address", "s AddressType", "s Name", "s Alias rw", "u Class", "b Powered rw", "b Discoverable rw",
      "u DiscoverableTimeout rw", "b Pairable rw", "u PairableTimeout rw", "b Discovering", "as UUIDs", "s Modalias",
      "as Roles", "s PowerState",
    ])

  static let device = InterfaceDeclaration(
    "org.bluez.Device1",
    methods: [
      "Disconnect()", "Connect()", "ConnectProfile(s UUID)", "DisconnectProfile(s UUID)", "Pair()", "CancelPairing()",
    ],
    properties: [
      "s Address", "s AddressType", "s Name", "s Alias rw", "q Appearance", "s Icon", "b Paired", "b Bonded",
      "b Trusted rw", "b Blocked rw", "b LegacyPairing", "n RSSI", "b Connected", "as UUIDs", "o Adapter",
      "a{qv} ManufacturerData", "a{sv} ServiceData", "n TxPower", "b ServicesResolved", "ay AdvertisingFlags",
      "a{yv} AdvertisingData",
    ])

  static let service = InterfaceDeclaration(
    "org.bluez.GattService1", properties: ["q Handle", "s UUID", "o Device", "b Primary", "ao Includes"])

  static let characteristic = InterfaceDeclaration(
    "org.bluez.GattCharacteristic1",
    methods: [
      "ReadValue(a{sv} options)ay value", "WriteValue(ay value,a{sv} options)",
      "AcquireWrite(a{sv} options)h fd,q mtu", "AcquireNotify(a{sv} options)h fd,q mtu", "StartNotify()",
      "StopNotify()",
    ],
    properties: [
      "q Handle", "s UUID", "o Service", "ay Value", "b Notifying", "as Flags", "b WriteAcquired", "b NotifyAcquired",
      "q MTU",
    ])

  static let descriptor = InterfaceDeclaration(
    "org.bluez.GattDescriptor1",
    methods: ["ReadValue(a{sv} options)ay value", "WriteValue(ay value,a{sv} options)"],
    properties: ["q Handle", "s UUID", "o Characteristic", "ay Value"])

  static let battery = InterfaceDeclaration("org.bluez.Battery1", properties: ["y Percentage", "s Source"])

  static let agentManager = InterfaceDeclaration(
    "org.bluez.AgentManager1",
    methods: ["RegisterAgent(o agent,s capability)", "UnregisterAgent(o agent)", "RequestDefaultAgent(o agent)"])

  static let profileManager = InterfaceDeclaration(
    "org.bluez.ProfileManager1",
    methods: ["RegisterProfile(o profile,s UUID,a{sv} options)", "UnregisterProfile(o profile)"])

  static let gattManager = InterfaceDeclaration(
    "org.bluez.GattManager1",
    methods: ["RegisterApplication(o application,a{sv} options)", "UnregisterApplication(o application)"])

  static let advertisingManager = InterfaceDeclaration(
    "org.bluez.LEAdvertisingManager1",
    methods: ["RegisterAdvertisement(o advertisement,a{sv} options)", "UnregisterAdvertisement(o service)"],
    properties: [
      "y ActiveInstances", "y SupportedInstances", "as SupportedIncludes", "as SupportedSecondaryChannels",
      "as SupportedFeatures", "a{sv} SupportedCapabilities",
    ])

  static let monitorManager = InterfaceDeclaration(
    "org.bluez.AdvertisementMonitorManager1",
    methods: ["RegisterMonitor(o application)", "UnregisterMonitor(o application)"],
    properties: ["as SupportedMonitorTypes", "as SupportedFeatures"])

  /// All interfaces.
  package static let all = [
    adapter, device, service, characteristic, descriptor, battery, agentManager, profileManager, gattManager,
    advertisingManager, monitorManager,
  ]

  /// The interfaces that BlueZ calls on objects of its clients.
  static let agent = "org.bluez.Agent1"
  static let advertisement = "org.bluez.LEAdvertisement1"
  static let monitor = "org.bluez.AdvertisementMonitor1"
  static let properties = "org.freedesktop.DBus.Properties"
  static let objectManager = "org.freedesktop.DBus.ObjectManager"
}
