import CoreBluetooth

/// Small run-time facts that need no radio.
func runSemantics(_ t: inout Tally) {
  // delegates: every method is a real requirement reached through the protocol type
  let c = FullCBCentralManagerDelegate()
  callAll(c)
  let p = FullCBPeripheralDelegate()
  callAll(p)
  let m = FullCBPeripheralManagerDelegate()
  callAll(m)
  #if CB_IOS27
    let extra = 2
  #else
    let extra = 0
  #endif
  #if os(macOS)
    let centralMethods = 7
  #else
    let centralMethods = 9
  #endif
  t.equal("CBCentralManagerDelegate methods reached", Set(c.log).count, centralMethods)
  t.equal("CBPeripheralDelegate methods reached", Set(p.log).count, 15 + extra)
  t.equal("CBPeripheralManagerDelegate methods reached", Set(m.log).count, 12)
  // the required method alone is enough, and calling the others does nothing
  callAll(MinimalCBCentralManagerDelegate())
  callAll(MinimalCBPeripheralDelegate())
  callAll(MinimalCBPeripheralManagerDelegate())
  t.ok("minimal delegates accept every call", true)

  // UUIDs
  let short = CBUUID(string: "180d")
  let long = CBUUID(string: "0000180D-0000-1000-8000-00805F9B34FB")
  t.equal("uuidString of a 16-bit id", short.uuidString, "180D")
  t.equal("data of a 16-bit id", short.data, Data([0x18, 0x0D]))
  t.equal("uuidString of a 32-bit id", CBUUID(string: "12345678").uuidString, "12345678")
  t.equal("data length of a 128-bit id", CBUUID(string: "12345678-90ab-cdef-cafe-c80c20443d0b").data.count, 16)
  t.equal(
    "uuidString is upper case", CBUUID(string: "12345678-90ab-cdef-cafe-c80c20443d0b").uuidString,
    "12345678-90AB-CDEF-CAFE-C80C20443D0B")
  t.ok("short and long form are equal", short == long)
  t.ok("isEqual short and long form", short.isEqual(long))
  t.equal("short and long form hash alike", short.hash, long.hash)
  t.ok("found in a Set by the other form", Set([short]).contains(long))
  t.ok(
    "32-bit equals its long form", CBUUID(string: "12345678") == CBUUID(string: "12345678-0000-1000-8000-00805f9b34fb"))
  t.ok("16-bit is not 32-bit of other value", CBUUID(string: "1234") != CBUUID(string: "12345678"))
  t.ok("data init equals string init", CBUUID(data: Data([0x12, 0x34])) == CBUUID(string: "1234"))
  let u = UUID()
  t.equal("nsuuid init", CBUUID(nsuuid: u).uuidString, u.uuidString)
  t.ok("copy is equal", (short.copy() as? CBUUID) == short)
  t.ok("usable as dictionary key", [short: 1][long] == 1)
  #if CB_CFUUID && canImport(CoreFoundation)
    t.equal("cfuuid init", CBUUID(cfuuid: CFUUIDCreate(nil)).data.count, 16)
  #endif

  // errors
  let boxed: any Error = CBError(.connectionTimeout, userInfo: [NSLocalizedDescriptionKey: "late"])
  t.equal("as? CBError", (boxed as? CBError)?.code, .connectionTimeout)
  t.ok("not a CBATTError", (boxed as? CBATTError) == nil)
  t.equal("as NSError domain", (boxed as NSError).domain, CBErrorDomain)
  t.equal("as NSError code", (boxed as NSError).code, 6)
  t.equal("localizedDescription", boxed.localizedDescription, "late")
  t.equal("userInfo", (boxed as? CBError)?.userInfo[NSLocalizedDescriptionKey] as? String, "late")
  t.equal("errorCode", (boxed as? CBError)?.errorCode, 6)
  t.ok("Code ~= error", CBError.Code.connectionTimeout ~= boxed)
  t.ok("Code ~= other error is false", !(CBError.Code.connectionTimeout ~= (CBATTError(.invalidOffset) as any Error)))
  do { throw boxed } catch CBError.connectionTimeout { t.ok("catch CBError.member", true) } catch {
    t.ok("catch CBError.member", false)
  }
  do { throw CBATTError(.readNotPermitted) } catch let e as CBATTError {
    t.equal("catch let as", e.code, .readNotPermitted)
  } catch { t.ok("catch let as", false) }
  t.ok("equal errors", CBError(.unknown) == CBError(.unknown))
  t.ok("different errors", CBError(.unknown) != CBError(.notConnected))
  t.ok("errors hash", Set([CBError(.unknown), CBError(.unknown), CBError(.outOfSpace)]).count == 2)
  t.ok("unknownDevice is unkownDevice", CBError.Code.unknownDevice == CBError.Code.unkownDevice)
  t.equal("application ATT error 0x80", CBATTError.Code(rawValue: 0x80)?.rawValue, 0x80)
  t.equal("application ATT error 0x9F", CBATTError.Code(rawValue: 0x9F)?.rawValue, 0x9F)
  t.equal("common ATT error 0xFD", CBATTError.Code(rawValue: 0xFD)?.rawValue, 0xFD)
  t.equal("application ATT error as error", CBATTError.Code(rawValue: 0x85).map { CBATTError($0).errorCode }, 0x85)

  // local attributes
  let ch = CBMutableCharacteristic(type: short, properties: [.read, .notify], value: nil, permissions: .readable)
  t.equal("characteristic uuid", ch.uuid, short)
  t.equal("characteristic properties", ch.properties, [.read, .notify])
  t.equal("characteristic permissions", ch.permissions, .readable)
  t.ok("characteristic value nil", ch.value == nil)
  t.ok("characteristic descriptors nil", ch.descriptors == nil)
  t.ok("characteristic not notifying", !ch.isNotifying)
  t.ok("no subscribers", (ch.subscribedCentrals ?? []).isEmpty)
  t.ok("no service yet", ch.service == nil)
  ch.properties = [.write]
  ch.permissions = [.writeable]
  ch.value = Data([1])
  t.equal("properties settable", ch.properties, .write)
  t.equal("permissions settable", ch.permissions, .writeable)
  t.equal("value settable", ch.value, Data([1]))
  let ds = CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "text")
  t.equal("descriptor value", ds.value as? String, "text")
  ch.descriptors = [ds]
  t.equal("descriptors settable", ch.descriptors?.count, 1)
  let sv = CBMutableService(type: short, primary: false)
  t.equal("service uuid", sv.uuid, short)
  t.ok("secondary service", !sv.isPrimary)
  t.ok("primary service", CBMutableService(type: short, primary: true).isPrimary)
  t.ok("service characteristics start nil", sv.characteristics == nil)
  t.ok("service included start nil", sv.includedServices == nil)
  sv.characteristics = [ch]
  sv.includedServices = [CBMutableService(type: long, primary: false)]
  t.equal("service characteristics", sv.characteristics?.count, 1)
  t.equal("service included", sv.includedServices?.count, 1)
  t.ok("local service has no peripheral", sv.peripheral == nil)
  t.ok("same object back", sv.characteristics?.first === ch)

  // option sets
  t.ok("option set algebra", CBCharacteristicProperties([.read, .write]).subtracting(.read) == .write)
  t.ok("string-typed key", CBConnectionEventMatchingOption(rawValue: "x").rawValue == "x")
  t.ok(
    "constants not empty",
    !CBCentralManagerOptionShowPowerAlertKey.isEmpty && !CBUUIDCharacteristicObservationScheduleString.isEmpty)
  #if !os(macOS)
    t.ok("DeviceAccessForMedia not empty", !CBCentralManagerOptionDeviceAccessForMedia.isEmpty)
  #endif
  #if CB_IOS27
    t.equal("Feature.channelSounding", CBCentralManager.Feature.channelSounding.rawValue, 1 << 10)
  #endif
}

/// Creates both managers (`api-check --managers`). Touches the Bluetooth stack of a real implementation.
func runManagers(_ t: inout Tally) {
  var d: FullCBCentralManagerDelegate? = FullCBCentralManagerDelegate()
  let c = CBCentralManager(delegate: d, queue: nil, options: [CBCentralManagerOptionShowPowerAlertKey: false])
  t.equal("central state starts unknown", c.state, .unknown)
  t.ok("central not scanning", !c.isScanning)
  t.ok("central keeps its delegate", c.delegate === d)
  d = nil
  t.ok("central holds the delegate weakly", c.delegate == nil)
  t.ok("unknown identifier is left out", c.retrievePeripherals(withIdentifiers: [UUID()]).isEmpty)
  var e: FullCBPeripheralManagerDelegate? = FullCBPeripheralManagerDelegate()
  let p = CBPeripheralManager(delegate: e, queue: DispatchQueue(label: "p"))
  t.equal("peripheral manager state starts unknown", p.state, .unknown)
  t.ok("not advertising", !p.isAdvertising)
  t.ok("peripheral manager keeps its delegate", p.delegate === e)
  e = nil
  t.ok("peripheral manager holds the delegate weakly", p.delegate == nil)
  // commands before poweredOn are logged and dropped, never a crash
  c.scanForPeripherals(withServices: nil)
  c.stopScan()
  p.startAdvertising(nil)
  p.stopAdvertising()
  p.removeAllServices()
  t.ok("commands before poweredOn do not crash", true)
  let plain = CBCentralManager()
  let plainP = CBPeripheralManager()
  t.ok("init() works", plain.delegate == nil && plainP.delegate == nil)
}
