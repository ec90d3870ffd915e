import BluetoothLab
import CoreBluetooth

/// A phone with Apple's notification service. Its app connects to each accessory that solicits the service, again after
/// each disconnection. The user allows pairing and notifications.
///
/// Unchecked: the fields that change are used on `queue` only.
final class Phone: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
  private static let notifications = CBUUID(string: "7905F431-B5CE-4E99-A40F-4B1E122D00D0")

  private let device: Device
  private let queue = DispatchQueue(label: "phone")
  private var manager: CBCentralManager?
  private var accessory: CBPeripheral?

  init(in world: World) {
    var options = DeviceOptions()
    options.policy = .ios
    device = world.makeDevice(named: "phone", options, prompts: ScriptedPrompts(.noInputNoOutput, otherwise: .yes))
    super.init()
    manager = CBCentralManager(delegate: self, queue: queue, options: [CBManagerOptionAdapterKey: device])
  }

  /// Performs what the user or an app does.
  func perform(_ words: [Substring]) {
    let name = words.dropFirst().first.map(String.init) ?? ""
    let text = words.dropFirst(2).joined(separator: " ")
    switch words.first {
    case "email":
      var email = DeviceNotification(name, app: "com.example.mail", title: "Mail from Ann", message: text)
      email.category = .email
      email.appName = "Mail"
      email.negativeAction = "Clear"
      device.post(email)
    case "call":
      var call = DeviceNotification(name, app: "com.example.phone", title: text)
      call.category = .incomingCall
      call.positiveAction = "Answer"
      call.negativeAction = "Decline"
      call.isImportant = true
      device.post(call)
    case "remove": device.removeNotification(name)
    case "share": for bond in device.bonds { device.setNotificationSharing(name == "yes", with: bond.identifier) }
    default:
      let actions = device.notificationActions.map { "\($0.notification) \($0.isPositive ? "positive" : "negative")" }
      let notifications = device.notifications.map(\.identifier)
      say("bonds: \(device.bonds.count), notifications: \(notifications), actions: \(actions)")
    }
  }

  // MARK: The app

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    let solicited = advertisementData[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID]
    guard accessory == nil, solicited?.contains(Self.notifications) == true else { return }
    accessory = peripheral
    central.stopScan()
    connect()
  }

  private func connect() {
    guard let accessory else { return }
    manager?.connect(accessory, options: [CBConnectPeripheralOptionRequiresANCS: true])
  }

  func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
    connect()
  }

  func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
    say("notifications are shared: \(peripheral.ancsAuthorized)")
  }
}
