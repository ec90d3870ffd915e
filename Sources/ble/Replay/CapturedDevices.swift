import BluetoothAir
import BluetoothTypes
import BluetoothWire
import CoreBluetoothExtras

/// The devices of a capture that can be played: those that advertise, and those with a GATT server.
struct CapturedDevices {
  struct Device {
    /// The packets of one interface. A capture of a world has those of the air and those of each host, which must not
    /// be counted twice.
    fileprivate struct View {
      var advertising = RecordedAdvertising()
      var server = CapturedServer()
      /// The number of PDUs of the server.
      var count = 0
      /// The number of packets of its links whose content is encrypted.
      var encryptedPackets = 0
    }

    let address: DeviceAddress
    /// The name that the advertising data tell.
    fileprivate(set) var name: String?
    fileprivate var views: [CaptureInterface: View] = [:]

    init(address: DeviceAddress) { self.address = address }

    /// The advertising on the air, or else that of which the first host was told.
    var advertising: RecordedAdvertising {
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
    var server: CapturedServer { best.server }
    var encryptedPackets: Int { best.encryptedPackets }

    private static func isBefore(_ one: CaptureInterface, _ other: CaptureInterface) -> Bool {
      one.link.isAir == other.link.isAir ? one.index < other.index : one.link.isAir
    }

    /// The device in messages.
    var title: String { name.map { "\($0.debugDescription) (\(address))" } ?? "\(address)" }
  }

  private(set) var devices: [DeviceAddress: Device] = [:]
  /// The order of appearance.
  private var order: [DeviceAddress] = []
  /// The last request on a link to the server of a device.
  private var requests: [Dissector.LinkKey: [DeviceAddress: ATT.PDU]] = [:]

  var all: [Device] { order.compactMap { devices[$0] } }

  /// Reads all packets of a capture.
  init(of input: CaptureInput) throws {
    var dissector = Dissector()
    while let element = try input.next() {
      if case .packet(let packet) = element { add(dissector.describe(packet)) }
    }
  }

  /// Takes no packets yet.
  init() {}

  /// Notes a packet.
  mutating func add(_ packet: PacketDescription) {
    guard !packet.hasWrongCRC, !packet.isRetransmission else { return }
    for report in packet.advertising {
      change(report.address) { device in
        device.views[packet.interface, default: Device.View()].advertising.add(
          report.type, report.data, isConnectable: report.isConnectable, at: .nanoseconds(packet.time))
        device.name = AdvertisingFields(ByteSlice(report.data)).localName ?? device.name
      }
    }
    guard let number = packet.connection else { return }
    if packet.isEncrypted, let peripheral = packet.addresses.last {
      change(peripheral) { $0.views[packet.interface, default: Device.View()].encryptedPackets += 1 }
    }
    guard let pdu = packet.attribute, let server = Self.server(of: pdu, packet) else { return }
    let key = Dissector.LinkKey(interface: packet.interface.index, number: number)
    switch pdu.opcode.kind {
    case .request: requests[key, default: [:]][server] = pdu
    case .response, .notification, .indication:
      let request = pdu.opcode.kind == .response ? requests[key]?[server] : nil
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
    case nil: return nil
    }
  }

  private mutating func change(_ address: DeviceAddress, _ body: (inout Device) -> Void) {
    if devices[address] == nil { order.append(address) }
    body(&devices[address, default: Device(address: address)])
  }

  /// Returns the device with this address or name; without one, the only device with a server, or the only advertiser.
  ///
  /// - Throws: `Failure` if no device or more than one is possible.
  func choose(_ text: String?) throws -> Device {
    let playable = all.filter { $0.advertising.isHeard || $0.server.hasServices }
    guard !playable.isEmpty else {
      throw Failure("the capture has no advertising and no GATT server", status: ExitStatus.notFound)
    }
    var found = playable
    if let text {
      let wanted = text.lowercased()
      let exact = playable.filter { $0.address.digits.lowercased() == wanted || $0.name?.lowercased() == wanted }
      found = exact.isEmpty ? playable.filter { $0.name?.lowercased().contains(wanted) == true } : exact
      guard !found.isEmpty else {
        let names = playable.flatMap { [$0.address.digits] + [$0.name].compactMap { $0 } }
        throw Failure(
          "the capture has no device \"\(text)\"" + SpellingSuggestion.suggestion(for: text, among: names),
          status: ExitStatus.notFound)
      }
    } else {
      let servers = playable.filter(\.server.hasServices)
      if !servers.isEmpty { found = servers }
    }
    guard found.count == 1, let device = found.first else {
      throw Failure(
        "the capture has \(found.count) such devices; choose one with --device:\n"
          + found.map { device in
            "  \(device.address.digits)\(device.name.map { "  \($0.debugDescription)" } ?? "")"
              + (device.server.hasServices ? "  with a GATT server" : "")
          }.joined(separator: "\n"), status: ExitStatus.ambiguous)
    }
    return device
  }
}
