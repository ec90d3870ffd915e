import Testing

@Suite("The two coverage tables") struct CoverageAgreementTests {
  /// Symbols, and the requirements that ask for them.
  static let subjects: [(symbols: [String], requirements: [String])] = [
    (["CBCentralManager.supports(_:)"], ["A027", "A028"]),
    (["CBCentralManager.isScanning"], ["A021"]),
    (["CBCentralManager.retrievePeripherals(withIdentifiers:)"], ["A024"]),
    (["CBCentralManager.retrieveConnectedPeripherals(withServices:)"], ["A025"]),
    (["CBCentralManager.registerForConnectionEvents(options:)"], ["A026"]),
    (["CBCentralManagerDelegate.centralManager(_:connectionEventDidOccur:for:)"], ["A031"]),
    (["CBCentralManagerDelegate.centralManager(_:didFailToConnect:error:)"], ["A030"]),
    (["CBCentralManagerOptionShowPowerAlertKey", "CBPeripheralManagerOptionShowPowerAlertKey"], ["A017"]),
    (["CBCentralManagerOptionRestoreIdentifierKey", "CBPeripheralManagerOptionRestoreIdentifierKey"], ["A018"]),
    (["CBCentralManagerScanOptionAllowDuplicatesKey"], ["A019", "G012"]),
    (["CBCentralManagerScanOptionSolicitedServiceUUIDsKey"], ["A020"]),
    (
      [
        "CBConnectPeripheralOptionNotifyOnConnectionKey", "CBConnectPeripheralOptionNotifyOnDisconnectionKey",
        "CBConnectPeripheralOptionNotifyOnNotificationKey",
      ], ["A022", "K008", "K009", "K010"]
    ),
    (["CBConnectPeripheralOptionStartDelayKey"], ["A023"]),
    (
      [
        "CBCentralManagerRestoredStatePeripheralsKey", "CBCentralManagerRestoredStateScanServicesKey",
        "CBCentralManagerRestoredStateScanOptionsKey", "CBCentralManagerDelegate.centralManager(_:willRestoreState:)",
      ], ["A032", "A099"]
    ),
    (
      [
        "CBPeripheralManagerRestoredStateServicesKey", "CBPeripheralManagerRestoredStateAdvertisementDataKey",
        "CBPeripheralManagerDelegate.peripheralManager(_:willRestoreState:)",
      ], ["A041", "A100"]
    ),
    (
      [
        "CBPeripheral.ancsAuthorized", "CBConnectPeripheralOptionRequiresANCS",
        "CBCentralManagerDelegate.centralManager(_:didUpdateANCSAuthorizationFor:)",
      ], ["A033"]
    ),
    (["CBPeripheral.canSendWriteWithoutResponse"], ["A042", "A056"]),
    (["CBPeripheral.openL2CAPChannel(_:)"], ["A043"]),
    (["CBPeripheral.readRSSI()"], ["A046"]),
    (["CBPeripheral.discoverIncludedServices(_:for:)"], ["G030"]),
    (["CBPeripheralDelegate.peripheralDidUpdateName(_:)"], ["A044"]),
    (["CBPeripheralDelegate.peripheral(_:didModifyServices:)"], ["A045"]),
    (["CBPeripheralDelegate.peripheralDidUpdateRSSI(_:error:)"], ["K020"]),
    (
      [
        "CBPeripheralManager.add(_:)", "CBPeripheralManager.remove(_:)", "CBPeripheralManager.removeAllServices()",
      ], ["A034"]
    ),
    (["CBPeripheralManager.publishL2CAPChannel(withEncryption:)"], ["A038"]),
    (["CBPeripheralManager.authorizationStatus()"], ["A039"]),
    (["CBPeripheralManager.setDesiredConnectionLatency(_:for:)"], ["A037", "K041", "K042"]),
    (["CBMutableCharacteristic.subscribedCentrals"], ["A050"]),
    (["CBUUID.init(cfuuid:)"], ["K018"]),
    (["CBCentral.maximumUpdateValueLength"], ["A052"]),
    (["CBCharacteristic.isBroadcasted"], ["K029"]),
    (
      ["CBCharacteristicProperties.notifyEncryptionRequired", "CBCharacteristicProperties.indicateEncryptionRequired"],
      ["K033"]
    ),
    (["CBAdvertisementDataIsConnectable"], ["G017"]),
  ]

  @Test("A symbol and the requirements that ask for it are in the same state")
  func states() throws {
    let symbols = try CoverageTable.symbol.rows().map(\.claim)
    let requirements = try CoverageTable.requirement.rows().map(\.claim)
    for subject in Self.subjects {
      let claims =
        subject.symbols.flatMap { name in symbols.filter { $0.subject == name } }
        + subject.requirements.flatMap { id in requirements.filter { $0.subject == id } }
      #expect(claims.count == subject.symbols.count + subject.requirements.count, "\(subject) names unknown rows")
      let states = claims.map { "\($0.subject) \($0.state)" }
      #expect(Set(claims.map(\.state)).count == 1, "\(states)")
    }
  }
}
