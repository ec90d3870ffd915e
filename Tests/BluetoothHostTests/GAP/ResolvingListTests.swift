import BluetoothWire
import Requirements
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The resolving list")
struct ResolvingListTests {
  private let phone = HostIdentity(address: HostHarness.peer, peerKey: 1, localKey: 2)
  private let watch = HostIdentity(
    address: DeviceAddress(0x1122_3344_5566, .public), peerKey: 3, localKey: 4, isDevicePrivacy: true)

  private func set(_ bench: inout HostHarness, _ identities: [HostIdentity], isPrivate: Bool = false) {
    bench.perform { host, now in host.setIdentities(identities, usesPrivateAddresses: isPrivate, at: now) }
  }

  @Test(
    "Identities are added with modes and timeout, and resolution is enabled; the empty list disables it again",
    .requirement("L174"))
  func sequence() {
    var bench = HostHarness.extended()
    set(&bench, [phone, watch])
    #expect(
      bench.commands == [
        .leReadResolvingListSize,
        .leAddDeviceToResolvingList(HCI.PeerAddress(phone.address), peerIRK: 1, localIRK: 2),
        .leAddDeviceToResolvingList(HCI.PeerAddress(watch.address), peerIRK: 3, localIRK: 4),
        .leSetPrivacyMode(HCI.PeerAddress(watch.address), isDevicePrivacy: true),
        .leSetResolvablePrivateAddressTimeout(900), .leSetAddressResolutionEnable(true),
      ])
    #expect(bench.host.resolvedIdentities == [phone.address, watch.address])
    bench.forget()
    set(&bench, [watch])
    #expect(bench.commands == [.leRemoveDeviceFromResolvingList(HCI.PeerAddress(phone.address))])
    bench.forget()
    set(&bench, [])
    #expect(
      bench.commands == [
        .leRemoveDeviceFromResolvingList(HCI.PeerAddress(watch.address)), .leSetAddressResolutionEnable(false),
      ])
    #expect(bench.host.resolvedIdentities.isEmpty)
  }

  @Test("The list changes only while advertising, scanning and connecting are paused, and all three resume afterwards")
  func pause() throws {
    var bench = HostHarness.extended()
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    bench.scan()
    bench.connect(watch.address)
    bench.forget()
    set(&bench, [phone])
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetExtendedAdvertisingEnable, .leSetExtendedScanEnable, .leCreateConnectionCancel,
      ])
    bench.forget()
    bench.receive(
      .leEnhancedConnectionComplete(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)))
    let opcodes = bench.commands.map(\.opcode)
    #expect(
      opcodes.prefix(4) == [
        .leReadResolvingListSize, .leAddDeviceToResolvingList, .leSetResolvablePrivateAddressTimeout,
        .leSetAddressResolutionEnable,
      ])
    #expect(
      Set(opcodes.dropFirst(4)) == [
        .leSetExtendedAdvertisingEnable, .leSetExtendedScanEnable, .leExtendedCreateConnection,
      ])
    #expect(bench.failures.isEmpty && bench.advertisingAnswers.isEmpty)
  }

  @Test("Own addresses become private, generated with the first identity's key")
  func privateAddresses() {
    var bench = HostHarness.extended()
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    set(&bench, [phone], isPrivate: true)
    bench.scan()
    let parameters = bench.commands.compactMap {
      if case .leSetExtendedAdvertisingParameters(let parameters) = $0 { parameters } else { nil }
    }
    #expect(parameters.map(\.ownAddressType) == [.random, .resolvableOrRandom])
    #expect(parameters.last?.peer == HCI.PeerAddress(phone.address))
    #expect(
      bench.commands.contains {
        if case .leSetExtendedScanParameters(let scan) = $0 {
          scan.ownAddressType == .resolvableOrRandom
        } else {
          false
        }
      })
  }

  @Test("A short list holds the first identities; zero keys and second identities of an address are left out")
  func short() {
    var bench = HostHarness.extended { bench, _ in
      bench.answers[.leReadResolvingListSize] = .complete(.leResolvingListSize(1))
    }
    let zero = HostIdentity(address: DeviceAddress(9, .public), peerKey: 0, localKey: 0)
    var twin = phone
    twin.peerKey = 77
    set(&bench, [zero, phone, twin, watch])
    #expect(bench.host.resolvedIdentities == [phone.address])
    var lying = HostHarness.extended()
    lying.answers[.leAddDeviceToResolvingList] = .complete(.status(.memoryCapacityExceeded))
    set(&lying, [phone])
    #expect(lying.host.resolvedIdentities.isEmpty)
    lying.expectToServe()
  }

  @Test("After a reset the controller gets the whole list again; a controller without a list gets no command for it")
  func reset() {
    var bench = HostHarness.extended()
    set(&bench, [phone])
    bench.perform { host, now in
      host.setPower(false, at: now)
      host.setPower(true, at: now)
    }
    #expect(bench.host.resolvedIdentities == [phone.address])
    #expect(bench.commands.count { $0.opcode == .leAddDeviceToResolvingList } == 2)
    var plain = HostHarness()
    plain.powerOn()
    set(&plain, [phone])
    #expect(plain.commands.isEmpty)
    plain.expectToServe()
  }

  @Test("Resolved reports and links carry the identity address")
  func identities() {
    var bench = HostHarness.extended()
    set(&bench, [phone])
    bench.scan()
    bench.hearPart([2, 1, 6], [.legacy, .connectable], from: HCI.PeerAddress(type: 3, value: phone.address.value))
    #expect(bench.reports.map(\.address) == [phone.address])
    bench.connect(phone.address)
    var complete = HostHarness.connection(.central, HCI.ConnectionHandle(rawValue: 1), phone.address)
    complete.peer.type = 3
    bench.receive(.leEnhancedConnectionComplete(complete))
    bench.receive(HostHarness.signOfLife(complete.handle))
    #expect(bench.links.map(\.peer) == [phone.address])
  }
}
