import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// The services of peers without a bond and without Service Changed, by the policy of the platform.
@Suite struct UnbondedServicesTests {
  /// Connects again to a sensor whose services change while there is no link, and returns those that an app then finds,
  /// before and after its adapter was off.
  private func services(
    of policy: PlatformPolicy, hasServiceChanged: Bool = false
  ) throws -> (again: [BluetoothUUID], afterPower: [BluetoothUUID]) {
    let air = DaemonNetwork()
    let device = air.add("Sensor")
    let sensor = Sensor(air, device)
    if !hasServiceChanged {
      air.rewriting = { octets, from in
        // Read By Type Response and Find Information Response of the sensor: Service Changed becomes a characteristic
        // that is not assigned.
        guard from == device, octets.count > 4, [0x09, 0x05].contains(octets[4]) else { return octets }
        return octets.indices.map { $0 > 5 && octets[$0 - 1] == 0x05 && octets[$0] == 0x2A ? 0xFF : octets[$0] }
      }
    }
    let phone = Phone(air, air.add("Phone", policy: policy))
    sensor.add(10, 0x180D, [.dynamic(0x2A37, .read)])
    sensor.advertise()
    _ = phone.takeEvents()
    let peer = try phone.findAndConnect()
    #expect(try phone.services(peer).map(\.uuid) == [0x180D])
    disconnect(phone, peer)
    #expect(sensor.add(20, 0x1816, [.dynamic(0x2A5B, .read)]).contains("added 20 ok"))
    let again = try reconnect(phone, peer, sensor)
    disconnect(phone, peer)
    air.setPower(false, of: phone.device)
    air.setPower(true, of: phone.device)
    // The peripherals of an app are void after a change of the power.
    sensor.advertise()
    _ = phone.takeEvents()
    let found = try phone.findAndConnect()
    return (again, try phone.services(found).map(\.uuid))
  }

  private func disconnect(_ phone: Phone, _ peer: PeerHandle) {
    phone.send(.cancelConnection(peer))
    phone.air.advance()
    _ = phone.takeEvents()
  }

  private func reconnect(_ phone: Phone, _ peer: PeerHandle, _ sensor: Sensor) throws -> [BluetoothUUID] {
    sensor.advertise()
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    phone.air.advance(2)
    _ = phone.takeEvents()
    return try phone.services(peer).map(\.uuid)
  }

  @Test("In the field, iOS keeps the services of a peer without bond and Service Changed until Bluetooth is off")
  func kept() throws {
    let found = try services(of: .iosInTheField)
    #expect(found.again == [0x180D])
    #expect(Set(found.afterPower) == [0x180D, 0x1816])
  }

  @Test("Other policies find the services again on each link, and so does iOS in the field with Service Changed")
  func foundAgain() throws {
    for policy in [PlatformPolicy.ios, .macos] {
      #expect(Set(try services(of: policy).again) == [0x180D, 0x1816], "\(policy.name)")
    }
    #expect(Set(try services(of: .iosInTheField, hasServiceChanged: true).again) == [0x180D, 0x1816])
  }
}
