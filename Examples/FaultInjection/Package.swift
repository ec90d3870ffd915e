// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "fault-injection",
  dependencies: [
    // In a copy: .package(url: "https://github.com/OWNER/swift-corebluetooth", branch: "main")
    .package(name: "swift-corebluetooth", path: "../..")
  ],
  targets: [
    .target(name: "SettingsApp", dependencies: [.product(name: "CoreBluetooth", package: "swift-corebluetooth")]),
    .testTarget(
      name: "SettingsAppTests",
      dependencies: [
        "SettingsApp",
        .product(name: "BluetoothLab", package: "swift-corebluetooth"),
        .product(name: "BluetoothTypes", package: "swift-corebluetooth"),
      ],
      resources: [.copy("Plans")]),
  ]
)
