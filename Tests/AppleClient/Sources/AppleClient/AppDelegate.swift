import Combine
@preconcurrency import CoreBluetooth
import ObjectiveC
import UIKit
import os

private let logger = Logger(subsystem: "com.example.client", category: "central")
nonisolated(unsafe) private var nameKey: UInt8 = 0

extension CBPeripheral {
  /// A name that the user has given the peripheral.
  var nickname: String? {
    get { objc_getAssociatedObject(self, &nameKey) as? String }
    set { objc_setAssociatedObject(self, &nameKey, newValue, .OBJC_ASSOCIATION_RETAIN_NONATOMIC) }
  }
}

public final class AppDelegate: UIResponder, UIApplicationDelegate, CBCentralManagerDelegate {
  private static let identifier = "central"
  private var central: CBCentralManager!
  private var strap: CBPeripheral?
  private var cancellables: Set<AnyCancellable> = []
  private let connected = CurrentValueSubject<Bool, Never>(false)
  private let visible = PassthroughSubject<Bool, Never>()
  private let notes = PassthroughSubject<String, Never>()
  public private(set) var log: [String] = []

  public func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    connected.combineLatest(visible).map { "connected \($0), visible \($1)" }.merge(with: notes)
      .sink { [weak self] in self?.log.append($0) }.store(in: &cancellables)
    if let identifiers = launchOptions?[.bluetoothCentrals] as? [String] {
      notes.send("launched for \(identifiers.joined(separator: ", "))")
    }
    central = CBCentralManager(
      delegate: self, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: Self.identifier])
    return true
  }

  public func applicationDidBecomeActive(_ application: UIApplication) { visible.send(true) }
  public func applicationDidEnterBackground(_ application: UIApplication) { visible.send(false) }

  public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    strap = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
  }

  public func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn, strap == nil else { return }
    central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
  }

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    strap = peripheral
    peripheral.nickname = "my strap"
    central.stopScan()
    central.connect(peripheral)
  }

  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    logger.info("connected to \(peripheral.nickname ?? "unknown", privacy: .public)")
    notes.send("\(peripheral.nickname ?? "restored") in \(UIApplication.shared.applicationState)")
    connected.send(true)
  }

  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    connected.send(false)
    central.connect(peripheral)
  }
}
