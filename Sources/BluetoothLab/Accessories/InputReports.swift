import BluetoothProfiles

/// The input reports of a keyboard or a mouse, which are sent one after the other, and the protocol in which they are
/// sent · HID Service 1.0, 2.
struct InputReports<Report: CharacteristicValue>: Sendable {
  /// The protocol that the HID host has chosen; Report Protocol Mode on each new connection.
  private(set) var mode = ProtocolMode.report
  /// True if the HID host has entered the suspend state.
  private(set) var isSuspended = false
  /// The value of the Report characteristic, and that of the boot report.
  private(set) var report: Report
  private(set) var bootReport: Report
  /// The time between two reports.
  var interval = Duration.milliseconds(10)
  private let idle: Report
  private var pending: ArraySlice<Report> = []

  /// Creates the reports of a device that begins with this report.
  init(idle: Report) { (report, bootReport, self.idle) = (idle, idle, idle) }

  /// True if no report waits to be sent.
  var isIdle: Bool { pending.isEmpty }

  /// Appends reports, of which the first is sent as soon as possible.
  mutating func append(_ reports: [Report], in context: inout AccessoryContext) {
    if pending.isEmpty { context.wake(after: .zero) }
    pending += reports
  }

  /// Sends the next report: as a Report or as a boot report, depending on the protocol mode.
  mutating func sendNext(
    as report: Characteristic<HIDReport>, boot: Characteristic<Report>, in context: inout AccessoryContext
  ) {
    guard let next = pending.popFirst() else { return }
    if mode == .boot {
      bootReport = next
      context.notify(boot)
    } else {
      self.report = next
      context.notify(report)
    }
    if !pending.isEmpty { context.wake(after: interval) }
  }

  /// Sets the protocol mode. Throws Value Not Allowed (0x13) for a reserved mode.
  mutating func choose(_ mode: ProtocolMode) throws(ATTErrorCode) {
    guard mode.name != nil else { throw .valueNotAllowed }
    if mode != self.mode { (report, bootReport) = (idle, idle) }
    self.mode = mode
  }

  /// Performs a command of the HID Control Point; a reserved command has no effect.
  mutating func perform(_ command: HIDControlPoint) {
    if command.name != nil { isSuspended = command == .suspend }
  }

  /// Returns to Report Protocol Mode and drops the pending reports, because the HID host has connected or disconnected.
  mutating func reset() {
    (mode, isSuspended, report, bootReport, pending) = (.report, false, idle, idle, [])
  }
}

extension AccessoryService {
  /// Returns the Human Interface Device service (0x1812) of a keyboard or a mouse · HID Service 1.0, 3.
  ///
  /// - Parameters:
  ///   - reports: the reports and the protocol mode in the accessory.
  ///   - map: the format of the reports.
  ///   - outputs: the output reports.
  ///   - boot: the boot input report.
  ///   - bootOutputs: the boot output reports.
  ///   - protection: the link security that the characteristics require.
  static func humanInterfaceDevice<Report>(
    _ reports: WritableKeyPath<Owner, InputReports<Report>> & Sendable, map: ReportMap,
    outputs: [AccessoryCharacteristic<Owner>] = [], boot: Characteristic<Report>,
    bootOutputs: [AccessoryCharacteristic<Owner>] = [], protection: CharacteristicProtection
  ) -> AccessoryService {
    let service: BluetoothUUID = 0x1812
    var input = AccessoryCharacteristic<Owner>(
      Characteristic<HIDReport>(of: service), [.read, .notify],
      value: { HIDReport(content: $0[keyPath: reports].report.octets) })
    input.descriptors = [.reportReference(1, .input)]
    var characteristics = [
      AccessoryCharacteristic<Owner>(
        Characteristic<ProtocolMode>(of: service), [.read, .writeWithoutResponse],
        value: { $0[keyPath: reports].mode },
        written: { (owner, mode, _) throws(ATTErrorCode) in try owner[keyPath: reports].choose(mode) }),
      AccessoryCharacteristic(Characteristic<ReportMap>(of: service), .read, value: { _ in map }),
      input,
    ]
    characteristics += outputs
    characteristics.append(
      AccessoryCharacteristic(boot, [.read, .notify], value: { $0[keyPath: reports].bootReport }))
    characteristics += bootOutputs
    characteristics += [
      AccessoryCharacteristic(
        Characteristic<HIDInformation>(of: service), .read,
        value: { _ in HIDInformation(flags: [.normallyConnectable]) }),
      AccessoryCharacteristic(Characteristic<HIDControlPoint>(of: service), .writeWithoutResponse) {
        owner, command, _ in owner[keyPath: reports].perform(command)
      },
    ]
    for index in characteristics.indices { characteristics[index].protection = protection }
    return AccessoryService(service, characteristics)
  }
}

extension AccessoryDescriptor {
  /// Returns a Report Reference descriptor · HID Service 1.0, 2.5.3.1.
  static func reportReference(_ id: UInt8, _ type: ReportReference.ReportType) -> AccessoryDescriptor {
    .other(BluetoothUUID(ReportReference.uuid), ReportReference(reportID: id, type: type).octets)
  }
}
