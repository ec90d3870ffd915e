import BluetoothWire

/// What a host has learned of its controller.
struct ControllerFacts {
  var supportedCommands = HCI.SupportedCommands()
  var lmpFeatures: HCI.LMPFeatures = []
  var leFeatures: HCI.LEFeatures = []
  /// The octets that an ACL packet holds; those that LE and BR/EDR share, where LE has none of its own.
  var aclLength = 0
  /// How many ACL packets the controller takes.
  var aclCount = 0
  var acceptListSize = 0
  /// Octets and time of the longest data channel PDU that the controller sends.
  var maximumDataLength: HCI.DataLength?
  var ownAddressType = HCI.OwnAddressType.public
  /// BD_ADDR; nil: it has none.
  var publicAddress: DeviceAddress?
  /// Commands that it says it has, and does not answer.
  var silent: Set<HCI.Opcode> = []
  /// Extended commands for advertising, scanning or connecting were taken: it takes no legacy ones until it is reset.
  var hasTakenExtendedCommands = false

  /// Commands that a controller may lack although the bitmap of supported commands says nothing at all.
  private static let optional: Set<HCI.Opcode> = [
    .writeLEHostSupport, .leSetDataLength, .leReadMaximumDataLength, .leWriteSuggestedDefaultDataLength,
    .leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply, .leReadBufferSizeV2,
    .leSetDefaultPHY, .leSetPHY,
  ]

  /// An empty bitmap, which some controllers have, stands for what the specification demands of every LE controller.
  func supports(_ opcode: HCI.Opcode) -> Bool {
    guard silent.isEmpty || !silent.contains(opcode) else { return false }
    return supportedCommands.isEmpty ? !Self.optional.contains(opcode) : supportedCommands.contains(opcode)
  }
}

/// The commands that make a controller ready, adapted to what it has · Vol 6, Part D, 2.
struct Startup {
  private enum Step: Int, CaseIterable {
    case reset, supportedCommands, localFeatures, publicAddress, leHostSupport, leFeatures, leBufferSize, bufferSize,
      eventMask
    case leEventMask, acceptListSize, clearAcceptList, maximumDataLength, suggestedDataLength
    case defaultPHY, randomAddress, done
  }

  enum Outcome {
    case goOn
    case ready
    /// It does not answer, or it has no Low Energy.
    case unusable
  }

  private var step = Step.reset
  /// True if the step's command was sent twice, because the first one was not answered.
  private var isRepeated = false
  /// The controller is being reset: what it reports may be of the time before.
  var isResetting: Bool { step == .reset }
  private(set) var facts = ControllerFacts()
  private let address: DeviceAddress?
  private let preferredPHYs: HCI.PHYs?

  /// - Parameters:
  ///   - address: the random address that the controller gets; nil: the device uses its public address.
  ///   - silent: commands that this controller is known not to answer.
  init(address: DeviceAddress?, preferredPHYs: HCI.PHYs?, silent: Set<HCI.Opcode> = []) {
    self.address = address
    self.preferredPHYs = preferredPHYs
    facts.silent = silent
  }

  /// The command of the step that is reached; nil: this controller does not need it.
  var command: HCI.Command? {
    switch step {
    case .reset: .reset
    case .supportedCommands: .readLocalSupportedCommands
    case .localFeatures: ifSupported(.readLocalSupportedFeatures)
    case .publicAddress: ifSupported(.readBDADDR)
    case .leHostSupport:
      // A controller with BR/EDR keeps Low Energy off until it is told.
      facts.lmpFeatures.isEmpty || facts.lmpFeatures.contains(.bredrNotSupported)
        ? nil : ifSupported(.writeLEHostSupport(true))
    case .leFeatures: ifSupported(.leReadLocalSupportedFeatures)
    case .leBufferSize:
      // The newer form tells nothing more that is of use here.
      !facts.supports(.leReadBufferSize) && facts.supports(.leReadBufferSizeV2)
        ? .leReadBufferSizeV2 : .leReadBufferSize
    case .bufferSize: facts.aclLength == 0 || facts.aclCount == 0 ? .readBufferSize : nil
    case .eventMask: .setEventMask(eventMask)
    case .leEventMask: .leSetEventMask(leEventMask)
    case .acceptListSize: ifSupported(.leReadFilterAcceptListSize)
    case .clearAcceptList: facts.acceptListSize > 0 ? ifSupported(.leClearFilterAcceptList) : nil
    case .maximumDataLength:
      facts.leFeatures.contains(.dataPacketLengthExtension) ? ifSupported(.leReadMaximumDataLength) : nil
    case .suggestedDataLength:
      facts.maximumDataLength.flatMap { ifSupported(.leWriteSuggestedDefaultDataLength($0)) }
    case .defaultPHY:
      facts.wishes(for: preferredPHYs).flatMap {
        ifSupported(.leSetDefaultPHY(HCI.PHYPreference(transmit: $0, receive: $0)))
      }
    case .randomAddress: address.flatMap { ifSupported(.leSetRandomAddress($0.value)) }
    case .done: nil
    }
  }

  private func ifSupported(_ command: HCI.Command) -> HCI.Command? {
    facts.supports(command.opcode) ? command : nil
  }

  private var eventMask: HCI.EventMask {
    var mask: HCI.EventMask = [
      .disconnectionComplete, .readRemoteVersionInformationComplete, .hardwareError, .dataBufferOverflow, .leMeta,
    ]
    if facts.leFeatures.contains(.encryption) { mask.formUnion([.encryptionChange, .encryptionKeyRefreshComplete]) }
    return mask
  }

  /// Nothing is asked for that the controller does not have: some refuse a mask with other bits.
  private var leEventMask: HCI.LEEventMask {
    var mask: HCI.LEEventMask = [
      .connectionComplete, .advertisingReport, .connectionUpdateComplete, .readRemoteFeaturesComplete,
      .longTermKeyRequest,
    ]
    if facts.leFeatures.contains(.connectionParametersRequestProcedure) {
      mask.insert(.remoteConnectionParameterRequest)
    }
    if facts.leFeatures.contains(.dataPacketLengthExtension) { mask.insert(.dataLengthChange) }
    if !facts.leFeatures.isDisjoint(with: [.le2MPHY, .leCodedPHY]) { mask.insert(.phyUpdateComplete) }
    if !facts.leFeatures.isDisjoint(with: [.llPrivacy, .extendedAdvertising]) {
      mask.insert(.enhancedConnectionComplete)
    }
    // It shows that a link exists, also where the event before it was lost.
    if facts.leFeatures.contains(.channelSelectionAlgorithm2) { mask.insert(.channelSelectionAlgorithm) }
    if facts.leFeatures.contains(.extendedAdvertising) {
      mask.formUnion([.extendedAdvertisingReport, .advertisingSetTerminated])
    }
    return mask
  }

  /// The step's command has ended, with an error for one that was not answered. Goes on to the next step that has a
  /// command.
  mutating func ended(_ status: HCI.ErrorCode, _ parameters: HCI.ReturnParameters?) -> Outcome {
    // A lost answer must not make another device of this one: without its random address it goes by the public one, and
    // without the features it has only those of Bluetooth 4.0.
    if status == .unspecifiedError, parameters == nil, step != .reset, !isRepeated {
      isRepeated = true
      return .goOn
    }
    switch (step, parameters) {
    case (.reset, _):
      if status != .success { return .unusable }
    case (_, .localSupportedCommands(let commands)?): facts.supportedCommands = commands
    case (_, .localSupportedFeatures(let features)?): facts.lmpFeatures = features
    case (_, .leLocalSupportedFeatures(let features)?): facts.leFeatures = features
    case (_, .leBufferSize(let length, let count)?):
      facts.aclLength = Int(length)
      facts.aclCount = Int(count)
    case (_, .leBufferSizeV2(let length, let count, _, _)?):
      facts.aclLength = Int(length)
      facts.aclCount = Int(count)
    case (_, .bdADDR(let address)?): facts.publicAddress = address == 0 ? nil : DeviceAddress(address, .public)
    case (_, .bufferSize(let size)?):
      facts.aclLength = Int(size.aclLength)
      facts.aclCount = Int(size.aclCount)
    case (_, .leFilterAcceptListSize(let size)?): facts.acceptListSize = Int(size)
    case (_, .leMaximumDataLength(let transmit, _)?): facts.maximumDataLength = transmit
    case (.leBufferSize, _):
      // Every controller with Low Energy has this command.
      return .unusable
    case (.randomAddress, _):
      if status == .success { facts.ownAddressType = .random }
    default: break
    }
    if step == .bufferSize, facts.aclLength == 0 || facts.aclCount == 0 { return .unusable }
    isRepeated = false
    repeat {
      step = Step(rawValue: step.rawValue + 1) ?? .done
    } while command == nil && step != .done
    return step == .done ? .ready : .goOn
  }
}
