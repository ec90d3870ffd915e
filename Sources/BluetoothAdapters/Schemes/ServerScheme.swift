#if AllAdapters
  import BluetoothDaemon
  import BluetoothDaemonProtocol
  import BluetoothTransport

  /// The adapters of `btserver`.
  package struct ServerScheme: AdapterScheme {
    package let name = "server"
    package let kind = AdapterKind.server
    package let form = AdapterForm(
      ServerSpecifier.syntax, example: "server",
      meaning: "an adapter of [`btserver`](Server.md), which several programs share",
      requirements: "a running server, and permission to open its socket")

    package init() {}

    package func read(_ text: String) throws(SpecifierProblem) -> any AdapterSpecifier { try ServerSpecifier(text) }
  }

  extension ServerSpecifier: AdapterSpecifier {
    package var scheme: ServerScheme { ServerScheme() }

    package var remedy: String {
      switch place {
      case .unix: AdapterCheck.advice
      case .tcp(let host, let port):
        "start btserver there with --tcp \(host):\(port) and --token-file, or see what was logged"
      }
    }

    package func checks(on machine: Machine) -> [AdapterCheck] {
      switch place {
      case .unix(let path): [.socket(path, remedy: "start btserver, or name its socket: --adapter server:PATH")]
      case .tcp(let host, let port): [AdapterCheck("server", .good, "at \(host), port \(port)")]
      }
    }

    package func makeAdapter(_ context: AdapterContext) throws(AdapterError) -> any DaemonAdapter {
      ServerAdapter(self, program: SystemProcess.programName, token: try token(), on: context.makeLoop())
    }
  }
#endif
