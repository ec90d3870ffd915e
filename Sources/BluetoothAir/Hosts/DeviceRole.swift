import BluetoothRadio

/// The role of a device in an air.
enum DeviceRole: String, Sendable {
  case accessory, device, host, page

  init(of device: (any SimulatedDevice)?) {
    self =
      switch device {
      case is any PageDevice: .page
      case is ExternalHostDevice: .host
      case let device? where Self.accessory(of: device) != nil: .accessory
      default: .device
      }
  }

  /// Returns the type of a device's accessory; nil: the device is none.
  static func accessory(of device: any SimulatedDevice) -> String? {
    let type = "\(type(of: device))"
    guard let start = type.firstIndex(of: "<"), type.hasSuffix(">") else { return nil }
    return String(type[type.index(after: start)...].dropLast())
  }

  /// The reason why a device with this role can't be removed, behind its name; nil: it can.
  var obstacleToRemoval: String? {
    switch self {
    case .accessory: nil
    case .device: "is a device with apps: end the program that uses it"
    case .host: "is the controller of a host: the host leaves by closing its connection"
    case .page: "is the central of the page"
    }
  }
}

/// A device that belongs to the page of an air.
protocol PageDevice: SimulatedDevice {}
