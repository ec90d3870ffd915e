import BluetoothWire
import Testing

@testable import BluetoothController

/// A controller in the state described by a row of the sweep, with a second device on the air.
final class SweepWorld {
  let air = PerfectAir()
  let device: ControllerHarness
  let other: ControllerHarness
  /// The connection of `device` to `other`, or 0x0123 if there is none.
  private(set) var handle = HCI.ConnectionHandle(rawValue: 0x0123)

  init(_ change: (inout ControllerConfiguration) -> Void = { _ in }) {
    device = ControllerHarness("device", address: 0x1111_1111_1111, change)
    other = ControllerHarness("other", address: 0x2222_2222_2222)
    air.start(device, other)
  }

  /// Sends a command that must succeed.
  func send(_ opcode: HCI.Opcode, _ octets: [UInt8] = []) {
    let status = device.status(of: opcode, octets)
    #expect(status == .success, "\(opcode) \(octets)")
  }

  /// Connects the two devices.
  func connect(as role: ConnectionRole, isExtended: Bool = false) throws {
    let (central, peripheral) = role == .central ? (device, other) : (other, device)
    if isExtended {
      #expect(peripheral.send(.leSetExtendedAdvertisingParameters(.every100ms(9, .connectable))) == .success)
      peripheral.enable(9)
      central.connectExtended(to: peripheral)
    } else {
      peripheral.advertise()
      central.connect(to: peripheral)
    }
    air.run(until: { [device, other] in
      !device.connectionCompletes.isEmpty && !other.connectionCompletes.isEmpty
    })
    handle = try #require(device.connectionCompletes.first).handle
    if isExtended, role == .peripheral { send(.leRemoveAdvertisingSet, [9]) }
  }

  /// Returns the handle of the connection at `other`.
  func handleOfOther() throws -> HCI.ConnectionHandle { try #require(other.connectionCompletes.first).handle }

  /// Starts encryption; the peripheral's host answers the key request unless `isPending`.
  func encrypt(as role: ConnectionRole, isPending: Bool = false) throws {
    let central = role == .central ? device : other
    let peripheral = role == .central ? other : device
    if !isPending { peripheral.answersKeyRequests() }
    let centralHandle = role == .central ? handle : try handleOfOther()
    central.send(
      .leEnableEncryption(
        centralHandle, random: testRandom, encryptedDiversifier: testDiversifier, longTermKey: testKey))
    let isReached = air.run(until: {
      isPending
        ? peripheral.events.contains { if case .leLongTermKeyRequest = $0 { true } else { false } }
        : !central.encryptionChanges.isEmpty && !peripheral.encryptionChanges.isEmpty
    })
    #expect(isReached)
    peripheral.onEvent = nil
  }
}

/// A state of a controller, and the commands whose status there differs from the status after a reset or on a
/// connection.
struct Situation: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The set of advertising commands that `prepare` uses · Vol 4, Part E, 3.1.1.
  var generation = CommandRow.Generation.both
  var isConnected = false
  /// The opcodes by the status that they have in this state.
  var overrides: [HCI.ErrorCode: [HCI.Opcode]] = [:]
  let prepare: @Sendable (SweepWorld) throws -> Void

  init(
    _ name: String, generation: CommandRow.Generation = .both, isConnected: Bool = false,
    _ overrides: [HCI.ErrorCode: [HCI.Opcode]] = [:], prepare: @escaping @Sendable (SweepWorld) throws -> Void
  ) {
    testDescription = name
    self.generation = generation
    self.isConnected = isConnected
    self.overrides = overrides
    self.prepare = prepare
  }

  /// Returns the status that the specification requires for the command of `row` in this state.
  func status(of row: CommandRow) -> HCI.ErrorCode {
    switch (generation, row.generation) {
    case (.legacy, .extended), (.extended, .legacy): return .commandDisallowed
    default: break
    }
    for (status, opcodes) in overrides where opcodes.contains(row.opcode) { return status }
    return isConnected ? row.connected : row.idle
  }
}

extension Situation {
  /// Commands that affect address resolution in use · 7.8.38 to 7.8.40, 7.8.44, 7.8.77.
  private static let resolving: [HCI.Opcode] = [
    .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList, .leClearResolvingList, .leSetPrivacyMode,
    .leSetAddressResolutionEnable,
  ]
  /// Commands that affect a Filter Accept List in use · 7.8.15 to 7.8.17.
  private static let filtering: [HCI.Opcode] = [
    .leClearFilterAcceptList, .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList,
  ]
  /// Commands that succeed if the sweep's advertising set exists and is disabled.
  private static let ofSet: [HCI.Opcode] = [
    .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
    .leSetExtendedAdvertisingEnable, .leRemoveAdvertisingSet, .leSetDataRelatedAddressChanges,
  ]
  private static let setParameters: [HCI.Opcode] = [
    .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingParametersV2,
  ]

  /// Returns the table's advertising set with some octets replaced.
  private static func set(_ changes: [Int: UInt8]) -> [UInt8] {
    changes.reduce(into: CommandTable.advertisingSet) { $0[$1.key] = $1.value }
  }

  static let all = [afterReset] + legacy + extended + connected + secured

  static let afterReset = Situation("after a reset") { _ in }

  static let central = Situation(
    "central", generation: .legacy, isConnected: true, [.success: [.leSetDataRelatedAddressChanges]]
  ) {
    try $0.connect(as: .central)
  }

  static let encryptedCentral = Situation(
    "encrypted central", generation: .legacy, isConnected: true, [.success: [.leSetDataRelatedAddressChanges]]
  ) {
    try $0.connect(as: .central)
    try $0.encrypt(as: .central)
  }

  static let initiating = Situation(
    "legacy initiating with both lists", generation: .legacy,
    [
      .commandDisallowed: [.leSetRandomAddress, .leCreateConnection] + resolving + filtering,
      .success: [.leCreateConnectionCancel, .leSetDataRelatedAddressChanges],
    ]
  ) {
    $0.send(.leSetAddressResolutionEnable, [1])
    $0.send(.leCreateConnection, [16, 0, 16, 0, 1] + CommandTable.peer + [0] + CommandTable.connection)
  }

  static let synchronizing = Situation(
    "synchronizing with address resolution", generation: .extended,
    [
      .commandDisallowed: resolving + [
        .lePeriodicAdvertisingCreateSync, .leAddDeviceToPeriodicAdvertiserList,
        .leRemoveDeviceFromPeriodicAdvertiserList, .leClearPeriodicAdvertiserList,
      ],
      .success: [.lePeriodicAdvertisingCreateSyncCancel],
    ]
  ) {
    $0.send(.leSetAddressResolutionEnable, [1])
    $0.send(.lePeriodicAdvertisingCreateSync, [0, 0] + CommandTable.peer + [0, 0, 100, 0, 0])
  }

  private static let legacy: [Situation] = [
    Situation(
      "legacy advertising", generation: .legacy,
      [
        .commandDisallowed: [.leSetRandomAddress, .leSetAdvertisingParameters, .leSetAddressResolutionEnable],
        .success: [.leSetDataRelatedAddressChanges],
      ]
    ) {
      $0.send(.leSetAdvertisingParameters, [32, 0, 64, 0, 0, 0] + CommandTable.peer + [7, 0])
      $0.send(.leSetAdvertisingEnable, [1])
    },
    Situation(
      "legacy advertising with both lists", generation: .legacy,
      [
        .commandDisallowed: [.leSetRandomAddress, .leSetAdvertisingParameters] + resolving + filtering,
        .success: [.leSetDataRelatedAddressChanges],
      ]
    ) {
      $0.send(.leSetAddressResolutionEnable, [1])
      $0.send(.leSetAdvertisingParameters, [32, 0, 64, 0, 0, 0] + CommandTable.peer + [7, 3])
      $0.send(.leSetAdvertisingEnable, [1])
    },
    Situation(
      "legacy directed advertising, which ignores the filter policy", generation: .legacy,
      [
        .commandDisallowed: [.leSetRandomAddress, .leSetAdvertisingParameters, .leSetAddressResolutionEnable],
        .success: [.leSetDataRelatedAddressChanges],
      ]
    ) {
      $0.send(.leSetAdvertisingParameters, [32, 0, 64, 0, 4, 0] + CommandTable.peer + [7, 3])
      $0.send(.leSetAdvertisingEnable, [1])
    },
    Situation(
      "legacy scanning with both lists", generation: .legacy,
      [
        .commandDisallowed: [.leSetRandomAddress, .leSetScanParameters] + resolving + filtering,
        .success: [.leSetDataRelatedAddressChanges],
      ]
    ) {
      $0.send(.leSetAddressResolutionEnable, [1])
      $0.send(.leSetScanParameters, [1, 16, 0, 16, 0, 0, 1])
      $0.send(.leSetScanEnable, [1, 0])
    },
    initiating,
  ]

  private static let extended: [Situation] = [
    Situation(
      "an advertising set that is not enabled", generation: .extended,
      [
        .success: ofSet + [.leSetPeriodicAdvertisingParameters],
        .commandDisallowed: [.leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable],
      ]
    ) { $0.send(.leSetExtendedAdvertisingParameters, CommandTable.advertisingSet) },
    Situation(
      "extended connectable advertising with both lists", generation: .extended,
      [
        .success: [
          .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable,
          .leSetDataRelatedAddressChanges,
        ],
        .commandDisallowed: setParameters + [
          .leSetAdvertisingSetRandomAddress, .leRemoveAdvertisingSet, .leClearAdvertisingSets,
          .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable,
        ] + resolving + filtering,
        .invalidHCICommandParameters: [.leSetPeriodicAdvertisingParameters],
      ]
    ) {
      $0.send(.leSetAddressResolutionEnable, [1])
      $0.send(.leSetExtendedAdvertisingParameters, set([1: 1, 18: 3]))
      $0.send(.leSetExtendedAdvertisingEnable, [1, 1, 1, 0, 0, 0])
    },
    Situation(
      "periodic advertising", generation: .extended,
      [
        .success: ofSet.filter { $0 != .leRemoveAdvertisingSet } + [
          .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable,
        ],
        .commandDisallowed: setParameters + [
          .leRemoveAdvertisingSet, .leClearAdvertisingSets, .leSetPeriodicAdvertisingParameters,
          .leSetAddressResolutionEnable,
        ],
      ]
    ) {
      $0.send(.leSetExtendedAdvertisingParameters, CommandTable.advertisingSet)
      $0.send(.leSetPeriodicAdvertisingParameters, [1, 80, 0, 160, 0, 0, 0])
      $0.send(.leSetPeriodicAdvertisingEnable, [1, 1])
      $0.send(.leSetExtendedAdvertisingEnable, [1, 1, 1, 0, 0, 0])
    },
    Situation(
      "extended scanning with both lists", generation: .extended,
      [.commandDisallowed: [.leSetRandomAddress, .leSetExtendedScanParameters] + resolving + filtering]
    ) {
      $0.send(.leSetAddressResolutionEnable, [1])
      $0.send(.leSetExtendedScanParameters, [0, 1, 1, 0, 16, 0, 16, 0])
      $0.send(.leSetExtendedScanEnable, [1, 0, 0, 0, 0, 0])
    },
    Situation(
      "extended initiating with both lists", generation: .extended,
      [
        .commandDisallowed: [.leSetRandomAddress, .leExtendedCreateConnection] + resolving + filtering,
        .success: [.leCreateConnectionCancel],
      ]
    ) {
      $0.send(.leSetAddressResolutionEnable, [1])
      $0.send(
        .leExtendedCreateConnection, [1, 0] + CommandTable.peer + [1, 16, 0, 16, 0] + CommandTable.connection)
    },
    synchronizing,
  ]

  private static let connected: [Situation] = [
    central,
    Situation("central by extended commands", generation: .extended, isConnected: true) {
      try $0.connect(as: .central, isExtended: true)
    },
    Situation(
      "peripheral", generation: .legacy, isConnected: true,
      [.success: [.leSetDataRelatedAddressChanges], .commandDisallowed: [.leEnableEncryption]]
    ) { try $0.connect(as: .peripheral) },
    Situation(
      "peripheral by extended commands", generation: .extended, isConnected: true,
      [.commandDisallowed: [.leEnableEncryption]]
    ) { try $0.connect(as: .peripheral, isExtended: true) },
    asked,
    Situation(
      "disconnecting", generation: .legacy, isConnected: true,
      [
        .success: [.leSetDataRelatedAddressChanges], .commandDisallowed: [.disconnect, .leEnableEncryption],
      ]
    ) {
      try $0.connect(as: .central)
      #expect($0.device.send(.disconnect($0.handle, reason: .remoteUserTerminatedConnection)) == .success)
    },
  ]

  static let asked = Situation(
    "central that was asked for other parameters", generation: .legacy, isConnected: true,
    [
      .success: [
        .leSetDataRelatedAddressChanges, .leRemoteConnectionParameterRequestReply,
        .leRemoteConnectionParameterRequestNegativeReply,
      ]
    ]
  ) {
    try $0.connect(as: .central)
    let wanted = LinkParameters(minimumInterval: 40, maximumInterval: 40, latency: 0, supervisionTimeout: 200)
    $0.other.send(.leConnectionUpdate(try $0.handleOfOther(), wanted, HCI.ConnectionEventLength()))
    let device = $0.device
    let isAsked = $0.air.run(until: {
      device.events.contains { if case .leRemoteConnectionParameterRequest = $0 { true } else { false } }
    })
    #expect(isAsked)
  }

  private static let secured: [Situation] = [
    encryptedCentral,
    Situation(
      "encrypted peripheral", generation: .legacy, isConnected: true,
      [.success: [.leSetDataRelatedAddressChanges], .commandDisallowed: [.leEnableEncryption]]
    ) {
      try $0.connect(as: .peripheral)
      try $0.encrypt(as: .peripheral)
    },
    Situation(
      "central while encryption starts", generation: .legacy, isConnected: true,
      [.success: [.leSetDataRelatedAddressChanges], .commandDisallowed: [.leEnableEncryption]]
    ) {
      try $0.connect(as: .central)
      try $0.encrypt(as: .central, isPending: true)
    },
    Situation(
      "peripheral while encryption starts", generation: .legacy, isConnected: true,
      [
        .success: [
          .leSetDataRelatedAddressChanges, .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply,
        ],
        .commandDisallowed: [.leEnableEncryption],
      ]
    ) {
      try $0.connect(as: .peripheral)
      try $0.encrypt(as: .peripheral, isPending: true)
    },
  ]
}
