// swift-tools-version: 6.2
import PackageDescription

// A program for real controllers, which leaves out the simulated adapter and the client of btserver. With ALL_ADAPTERS=1 it
// has them, so that CI can say what they cost. CI lets a copy depend on a version.
let traits: Set<Package.Dependency.Trait> = Context.environment["ALL_ADAPTERS"] == "1" ? [.defaults] : []

let package = Package(
  name: "controller-client",
  dependencies: [.package(name: "swift-corebluetooth", path: "../..", traits: traits)],
  targets: [
    .executableTarget(
      name: "controller-client", dependencies: [.product(name: "CoreBluetooth", package: "swift-corebluetooth")])
  ]
)
