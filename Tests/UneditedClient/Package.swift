// swift-tools-version: 5.9
import PackageDescription

// A client that knows nothing of this project, as if it had been written for Apple's systems: no dependency is declared.
// CI builds it with the flags of Scripts/client-flags.
let package = Package(
  name: "client",
  targets: [.executableTarget(name: "client"), .executableTarget(name: "tested"), .executableTarget(name: "timed")]
)
