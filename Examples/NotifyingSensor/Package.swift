// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "notifying-sensor",
  dependencies: [
    // In a copy: .package(url: "https://github.com/OWNER/swift-corebluetooth", from: "0.1.0")
    .package(name: "swift-corebluetooth", path: "../..")
  ],
  targets: [
    .target(
      name: "NotifyingSensor", dependencies: [.product(name: "CoreBluetooth", package: "swift-corebluetooth")]),
    .testTarget(
      name: "NotifyingSensorTests",
      dependencies: ["NotifyingSensor", .product(name: "BluetoothLab", package: "swift-corebluetooth")]),
  ]
)
