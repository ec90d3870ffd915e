// swift-tools-version: 6.0
import PackageDescription

// A client as for an iPhone: it imports modules of Apple's systems, and declares no dependency. CI builds and tests it
// with the stand-ins of StandIns.
let package = Package(
  name: "AppleClient",
  targets: [
    .target(name: "AppleClient"),
    .testTarget(name: "AppleClientTests", dependencies: ["AppleClient"]),
  ]
)
