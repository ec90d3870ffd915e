import BluetoothTypes
import BluetoothWire

/// The devices of a capture that can be played: those that advertise, and those with a GATT server.
package struct CapturedDevices: Sendable {
  package struct Device: Sendable {
    /// The packets of one interface. A capture of a world has those of the air and those of each host, which must not
    /// be counted twice.
    fileprivate struct View: Sendable {
      var advertising = RecordedAdvertising()
      var server = CapturedServer()
      /// The number of PDUs of the server.
      var count = 0
      /// The number of packets of its links whose content is encrypted.
      var encryptedPackets = 0
    }

    package let address: DeviceAddress
    /// The contents of the advertising data.
    fileprivate var fields = AdvertisingFields()
    /// The name that the advertising data tell.
    package var name: String? { fields.localName }
    fileprivate var views: [CaptureInterface: View] = [:]

    init(address: DeviceAddress) { self.address = address }

    /// The advertising on the air, or else that of which the first host was told.
    package var advertising: RecordedAdvertising {
      views.filter(\.value.advertising.isHeard).min { Self.isBefore($0.key, $1.key) }?.value.advertising
        ?? RecordedAdvertising()
    }

    /// The interface that shows most of the GATT server.
    private var best: View {
      views.max { one, other in
        one.value.count == other.value.count
          ? Self.isBefore(other.key, one.key) : one.value.count < other.value.count
      }?.value ?? View()
    }
    package var server: CapturedServer { best.server }
    package var encryptedPackets: Int { best.encryptedPackets }

    private static func isBefore(_ one: CaptureInterface, _ other: CaptureInterface) -> Bool {
      one.link.isAir == other.link.isAir ? one.index < other.index : one.link.isAir
    }

    /// The device in messages.
    package var title: String { name.map { "\($0.debugDescription) (\(address))" } ?? "\(address)" }
  }

  package private(set) var devices: [DeviceAddress: Device] = [:]
  /// The order of appearance.
  private var order: [DeviceAddress] = []
  /// The last request on a link to the server of a device, by the number of the link.
  private var requests: [Int: [DeviceAddress: ATT.PDU]] = [:]
  /// The number of links whose last requests are kept.
  private static let maximumLinks = 4_096

  /// True if the capture has more devices, which are left out.
  package private(set) var isIncomplete = false

  package var all: [Device] { order.compactMap { devices[$0] } }

  /// The time of the first packet in nanoseconds; nil: there was no packet.
  package private(set) var start: Int64?

  /// Takes no packets yet.
  package init() {}

  /// Notes a packet.
  package mutating func add(_ packet: PacketDescription) {
    if start == nil { start = packet.time }
    guard !packet.hasWrongCRC, !packet.isRetransmission else { return }
    for report in packet.advertising {
      change(report.address) { device in
        device.views[packet.interface, default: Device.View()].advertising.add(
          report.type, report.data, isConnectable: report.isConnectable, at: .nanoseconds(packet.time))
        device.fields.merge(AdvertisingFields(ByteSlice(report.data)))
      }
    }
    guard let link = packet.link else { return }
    if packet.isEncrypted, let peripheral = packet.addresses.last {
      change(peripheral) { $0.views[packet.interface, default: Device.View()].encryptedPackets += 1 }
    }
    guard let pdu = packet.attribute, let server = Self.server(of: pdu, packet) else { return }
    switch pdu.opcode.kind {
    case .request:
      requests[link, default: [:]][server] = pdu
      if requests.count > Self.maximumLinks {
        let middle = requests.keys.sorted()[Self.maximumLinks / 2]
        requests = requests.filter { $0.key >= middle }
      }
    case .response, .notification, .indication:
      var request = pdu.opcode.kind == .response ? requests[link]?[server] : nil
      if pdu.opcode.kind == .response, request == nil, requests[link]?.count == 1 {
        // A sniffer that gives all packets one direction: the response belongs to the only request.
        request = requests[link]?.values.first
      }
      change(server) { device in
        device.views[packet.interface, default: Device.View()].server.add(pdu, to: request, at: packet.time)
        device.views[packet.interface]?.count += 1
      }
    case .command, .confirmation: break
    }
  }

  /// Returns the device whose server a PDU is for or from; nil: it is not known, or it is that of the captured host.
  private static func server(of pdu: ATT.PDU, _ packet: PacketDescription) -> DeviceAddress? {
    let isToServer =
      switch pdu.opcode.kind {
      case .request, .command, .confirmation: true
      case .response, .notification, .indication: false
      }
    switch packet.direction {
    case .toPeripheral?, .toCentral?:
      guard packet.addresses.count == 2 else { return nil }
      return packet.addresses[(packet.direction == .toPeripheral) == isToServer ? 1 : 0]
    case .toController?: return isToServer ? packet.addresses.first : nil
    case .toHost?: return isToServer ? nil : packet.addresses.first
    // A sniffer that tells no directions: the server is that of the peripheral, as with most devices.
    case nil: return packet.interface.link.isAir && packet.addresses.count == 2 ? packet.addresses[1] : nil
    }
  }

  /// The largest number of devices. Private addresses that change look like further devices.
  private static let maximumDevices = 1 << 16

  private mutating func change(_ address: DeviceAddress, _ body: (inout Device) -> Void) {
    if devices[address] == nil {
      guard order.count < Self.maximumDevices else {
        isIncomplete = true
        return
      }
      order.append(address)
    }
    body(&devices[address, default: Device(address: address)])
  }

  /// Returns the device with this address or name; without one, the only device with a server, or the only advertiser.
  ///
  /// - Throws: an error if no device or more than one is possible.
  package func choose(_ text: String?) throws(CapturedDeviceError) -> Device {
    let playable = all.filter { $0.advertising.isHeard || $0.server.hasServices }
    guard !playable.isEmpty else { throw .none }
    var found = playable
    if let text {
      let wanted = text.lowercased()
      let exact = playable.filter { $0.address.digits.lowercased() == wanted || $0.name?.lowercased() == wanted }
      found = exact.isEmpty ? playable.filter { $0.name?.lowercased().contains(wanted) == true } : exact
      guard !found.isEmpty else {
        throw .unknown(text, names: playable.flatMap { [$0.address.digits] + [$0.name].compactMap { $0 } })
      }
    } else {
      let servers = playable.filter(\.server.hasServices)
      if !servers.isEmpty { found = servers }
    }
    guard found.count == 1, let device = found.first else { throw .several(found) }
    return device
  }
}

/// The reason why a capture does not tell which device is meant.
package enum CapturedDeviceError: Error, Sendable, CustomStringConvertible {
  /// The capture has no advertising and no GATT server.
  case none
  /// No device has this address or name. `names` are the addresses and the names of the capture.
  case unknown(String, names: [String])
  /// These devices are possible.
  case several([CapturedDevices.Device])

  package var description: String {
    switch self {
    case .none: "the capture has no advertising and no GATT server"
    case .unknown(let text, _): "the capture has no device \"\(text)\""
    case .several(let devices):
      "the capture has \(devices.count) such devices: "
        + devices.map { $0.address.digits + ($0.name.map { " " + $0.debugDescription } ?? "") }.joined(separator: ", ")
    }
  }
}
