import BeaconLocation
import BluetoothTypes
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// A report of an advertiser: an advertising packet or, beside BlueZ, the merged data of its last packets.
struct AdvertiserReport: Sendable {
  let peripheral: Peripheral
  let address: DeviceAddress
  /// The packet; nil: the adapter does not pass it on.
  let packet: AdvertisingPacket?
  /// The AD structures of the packet, or those that carry the merged data.
  let data: Data
  let rssi: Int?
  /// The time of day of the reception.
  let date: Date
  /// True if the device accepts connections; nil: a scan response does not tell it, and BlueZ neither.
  let isConnectable: Bool?
  let ibeacon: IBeaconFrame?
  let eddystone: EddystoneFrame?
  /// The level that the device tells about its transmissions.
  let reference: PowerReference?

  init(_ packet: AdvertisingPacket) {
    (peripheral, address, data, rssi) = (packet.peripheral, packet.address, packet.data, packet.rssi)
    self.packet = packet
    date = packet.date
    isConnectable = [.scanRsp, .auxScanRsp].contains(packet.pduType) ? nil : packet.isConnectable
    ibeacon = IBeaconFrame(packet.data)
    eddystone = EddystoneFrame(packet)
    reference = PowerReference(packet)
  }

  /// Returns nil if the address of the device is not known.
  init?(_ discovery: Discovery) {
    guard let address = discovery.peripheral.address else { return nil }
    (peripheral, self.address, rssi, packet) = (discovery.peripheral, address, discovery.rssi, nil)
    (date, isConnectable) = (Date(), nil)
    let content = discovery.advertisement
    var builder = AdvertisingDataBuilder(capacity: .max)
    builder.appendServices(content.services.compactMap { BluetoothUUID($0.uuidString) })
    for (service, data) in content.serviceData.sorted(by: { $0.key.uuidString < $1.key.uuidString }) {
      if let service = BluetoothUUID(service.uuidString) { builder.appendServiceData(service, Array(data)) }
    }
    if let data = content.manufacturerData { builder.append(.manufacturerData, Array(data)) }
    if let power = content.txPower { builder.appendTxPowerLevel(Int8(clamping: power)) }
    if let name = content.localName { builder.appendLocalName(name) }
    data = Data(builder.octets)
    ibeacon = IBeaconFrame(data)
    eddystone = content.serviceData[CBUUID(string: "FEAA")].flatMap { EddystoneFrame(serviceData: $0) }
    reference = PowerReference(data, txPower: nil)
  }
}
