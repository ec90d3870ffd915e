import BluetoothDaemon
import BluetoothTransport

/// The adapters with an external controller.
extension TransportSpecifier.Scheme: AdapterScheme {
  package var name: String { rawValue }

  package var kind: AdapterKind {
    switch self {
    case .tcp, .unix: .remote
    case .serial, .hci: .local
    }
  }

  package var form: AdapterForm {
    let (example, meaning, requirements) =
      switch self {
      case .tcp:
        (
          "tcp:127.0.0.1:6402",
          "a controller that speaks HCI (H4) over TCP: `ble air`, Bumble, RootCanal, an emulator; `tcp:[::1]:6402` for"
            + " IPv6", "a server that listens on that port"
        )
      case .unix:
        (
          "unix:/run/air.sock", "the same over a Unix domain socket",
          "permission to open the socket: sockets that this package creates are accessible only to their owner"
        )
      case .serial:
        (
          "serial:/dev/ttyUSB0,1000000",
          "a controller on a serial line: 8 data bits, 115,200 baud by default or any rate that the hardware supports."
            + " H4 with RTS/CTS flow control and no parity; with `h5` a [three-wire UART](#three-wire-uart-h5) without"
            + " flow control, and with `even` even parity",
          "membership in the device's group: `sudo usermod -aG dialout $USER`"
        )
      case .hci:
        (
          "hci:0", "Linux adapter N, built in or a dongle, through the HCI user channel",
          "exclusive use of the adapter, and CAP_NET_ADMIN"
        )
      }
    return AdapterForm(syntax, example: example, meaning: meaning, requirements: requirements)
  }

  package func knownAdapters(of machine: Machine) -> [any AdapterSpecifier] {
    self == .hci ? machine.adapterNumbers.map { TransportSpecifier.hci($0) } : []
  }

  package func read(_ text: String) throws(SpecifierProblem) -> any AdapterSpecifier { try TransportSpecifier(text) }
}

extension TransportSpecifier: AdapterSpecifier {
  /// Each connection to an air has a controller of its own. The path of a serial line has no symbolic links, so that
  /// each of its names gives the same device.
  package var device: String? {
    switch self {
    case .hci: description
    case .serial(let device, _, _): Machine.realPath(device) ?? device
    case .tcp, .unix: nil
    }
  }

  package var remedy: String {
    guard case .tcp = self else { return AdapterCheck.advice }
    return "start one there with ble air --hci \(self), or see what was logged on the standard error"
  }

  package func checks(on machine: Machine) -> [AdapterCheck] {
    switch self {
    case .tcp: []
    case .unix(let path): [.socket(path, remedy: "start one with ble air --hci \(self)")]
    case .serial(let device, _, _): [.serialLine(device)]
    case .hci(let number): Self.checkAdapter(number, on: machine)
    }
  }

  private static func checkAdapter(_ number: Int, on machine: Machine) -> [AdapterCheck] {
    let known = machine.adapterNumbers
    var result = [
      known.contains(number)
        ? AdapterCheck("Linux adapter", .good, "hci\(number)")
        : AdapterCheck(
          "Linux adapter", .bad, "there is no hci\(number)",
          remedy: known.isEmpty
            ? "plug an adapter in, or load its driver; rfkill list shows blocked ones"
            : "use one of: \(known.map { "hci:\($0)" }.joined(separator: ", "))"),
      machine.hasNetworkRights
        ? AdapterCheck("permission", .good, "CAP_NET_ADMIN")
        : AdapterCheck(
          "permission", .bad, "this program has no CAP_NET_ADMIN",
          remedy: "sudo setcap cap_net_admin+ep \(Machine.programPath)"),
    ]
    if machine.isRunning("bluetoothd") {
      result.append(
        AdapterCheck(
          "BlueZ", .warning, "bluetoothd is running, and may hold the adapter",
          remedy: "sudo systemctl stop bluetooth && sudo hciconfig hci\(number) down"))
    }
    return result
  }

  package func makeAdapter(_ context: AdapterContext) -> any DaemonAdapter {
    TransportAdapter(DaemonConfiguration(context, for: self), to: self, on: context.makeLoop())
  }
}
