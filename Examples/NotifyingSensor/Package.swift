// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "notifying-sensor",
  dependencies: [
    // In a copy: .package(url: "https://github.com/OWNER/swift-corebluetooth", branch: "main")
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
