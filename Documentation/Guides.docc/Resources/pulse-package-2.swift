// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "pulse",
  dependencies: [.package(path: "../swift-corebluetooth")],
  targets: [
    .target(
      name: "Pulse",
      dependencies: [.product(name: "CoreBluetooth", package: "swift-corebluetooth")]),
    .testTarget(
      name: "PulseTests",
      dependencies: [
        "Pulse",
        .product(name: "BluetoothLab", package: "swift-corebluetooth"),
        .product(name: "BluetoothLabTime", package: "swift-corebluetooth"),
      ]),
  ]
)
