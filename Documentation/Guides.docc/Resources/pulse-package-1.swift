// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "pulse",
  dependencies: [.package(path: "../swift-corebluetooth")],
  targets: [
    .target(
      name: "Pulse",
      dependencies: [.product(name: "CoreBluetooth", package: "swift-corebluetooth")])
  ]
)
