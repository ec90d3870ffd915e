@testable import BluetoothWire

extension AdvertisingData.Field {
  /// Returns a random field of any kind.
  static func sample(using generator: inout RandomStream) -> AdvertisingData.Field {
    var source = Source(generator: generator)
    defer { generator = source.generator }
    switch source.number(35) {
    case 0: return .flags(AdvertisingData.Flags(rawValue: source.draw()))
    case 1: return .services(source.list(), isComplete: source.draw() & 1 as UInt8 == 1)
    case 2: return .localName(source.text(0...40), isComplete: source.draw() & 1 as UInt8 == 1)
    case 3: return .txPowerLevel(Int8(truncatingIfNeeded: source.draw() as UInt8))
    case 4: return .classOfDevice(source.draw() & 0xFF_FFFF)
    case 5: return .simplePairingHash192(source.key())
    case 6: return .simplePairingRandomizer192(source.key())
    case 7: return .simplePairingHash256(source.key())
    case 8: return .simplePairingRandomizer256(source.key())
    case 9:
      return .deviceID(
        AdvertisingData.DeviceID(
          vendorSource: source.draw(), vendor: source.draw(), product: source.draw(), version: source.draw()))
    case 10: return .securityManagerTK(source.key())
    case 11: return .outOfBandFlags(AdvertisingData.OutOfBandFlags(rawValue: source.draw()))
    case 12:
      let minimum = source.number(6...3200)
      let range = AdvertisingData.ConnectionIntervalRange(
        minimum: source.number(4) == 0 ? nil : UInt16(minimum),
        maximum: source.number(4) == 0 ? nil : UInt16(source.number(minimum...3200)))
      return range.map { .connectionIntervalRange($0) } ?? .appearance(0)
    case 13: return .solicitedServices(source.list())
    case 14: return .serviceData(source.uuid(), source.slice(0...200))
    case 15:
      let kind: DeviceAddress.Kind = source.number(2) == 0 ? .public : .random
      return .targetAddresses((0...source.number(3)).map { _ in DeviceAddress(source.draw(), kind) }, kind)
    case 16: return .appearance(source.draw())
    case 17: return .advertisingInterval(source.draw() >> UInt32(source.number(32)))
    case 18: return .leDeviceAddress(DeviceAddress(source.draw(), source.number(2) == 0 ? .public : .random))
    case 19: return .leRole(AdvertisingData.LERole.allCases[source.number(4)])
    case 20: return .leSecureConnectionsConfirmation(source.key())
    case 21: return .leSecureConnectionsRandom(source.key())
    case 22:
      return .uri(
        ["https:", "z39.50s:", "mqtt:", "", "ms-settings-cloudstorage:"][source.number(5)] + "//" + source.text(0...9))
    case 23: return .leSupportedFeatures(HCI.LEFeatures(rawValue: source.draw() >> UInt64(source.number(64))))
    case 24: return .channelMapUpdate(ChannelMap(bits: source.draw()), instant: source.draw())
    case 25: return .broadcastCode(source.key())
    case 26: return .resolvableSetIdentifier(hash: source.draw() & 0xFF_FFFF, random: source.draw() & 0xFF_FFFF)
    case 27: return .broadcastName(source.text(4...32))
    case 28:
      return .encryptedData(
        AdvertisingData.EncryptedData(
          randomizer: source.draw(), payload: source.slice(0...200), messageIntegrityCheck: source.draw()))
    case 29:
      return .periodicResponseTiming(
        AdvertisingData.PeriodicResponseTiming(
          accessAddress: source.draw(), subevents: source.draw(), subeventInterval: source.draw(),
          responseSlotDelay: source.draw(), responseSlotSpacing: source.draw()))
    case 30: return .manufacturerData(company: source.draw(), source.slice(0...250))
    default:
      let types: [ADType] = [
        .indoorPositioning, .transportDiscoveryData, .pbADV, .meshMessage, .meshBeacon, .bigInfo, .electronicShelfLabel,
        .information3D,
      ]
      return .other(types[source.number(types.count)], source.slice(0...254))
    }
  }
}

/// Draws the parts of fields.
private struct Source {
  var generator: RandomStream

  mutating func draw<Number: FixedWidthInteger>() -> Number { Number(truncatingIfNeeded: generator.next()) }
  mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
  mutating func key() -> UInt128 { UInt128(generator.next()) << 64 | UInt128(generator.next()) }

  mutating func slice(_ range: ClosedRange<Int>) -> ByteSlice {
    ByteSlice((0..<number(range)).map { _ in draw() as UInt8 })
  }

  mutating func text(_ range: ClosedRange<Int>) -> String {
    String((0..<number(range)).map { _ in "aé€😀".randomElement(using: &generator) ?? "a" })
  }

  mutating func uuid() -> BluetoothUUID {
    switch number(3) {
    case 0: BluetoothUUID(draw() as UInt16)
    case 1: BluetoothUUID(draw() as UInt32)
    default: BluetoothUUID(high: draw(), low: draw())
    }
  }

  mutating func list() -> UUIDList {
    let width = [BluetoothUUID.Width.bits16, .bits32, .bits128][number(3)]
    let services = (0..<number(10)).map { _ in
      switch width {
      case .bits16: BluetoothUUID(draw() as UInt16)
      case .bits32: BluetoothUUID(draw() as UInt32)
      case .bits128: BluetoothUUID(high: draw(), low: draw())
      }
    }
    return UUIDList(services, width: width) ?? UUIDList(width: width, data: [])
  }
}
