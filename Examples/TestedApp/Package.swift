// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "tested-app",
  dependencies: [
    // In a copy: .package(url: "https://github.com/OWNER/swift-corebluetooth", branch: "main")
    .package(name: "swift-corebluetooth", path: "../..")
  ],
  targets: [
    .target(
      name: "HeartRateApp", dependencies: [.product(name: "CoreBluetooth", package: "swift-corebluetooth")]),
    // Only tests depend on the lab and on the control of the app's time.
    .testTarget(
      name: "HeartRateXCTests",
      dependencies: [
        "HeartRateApp",
        .product(name: "BluetoothLab", package: "swift-corebluetooth"),
        .product(name: "BluetoothLabTime", package: "swift-corebluetooth"),
      ]),
    .testTarget(
      name: "HeartRateSwiftTests",
      dependencies: [
        "HeartRateApp",
        .product(name: "BluetoothLab", package: "swift-corebluetooth"),
        .product(name: "BluetoothLabTime", package: "swift-corebluetooth"),
      ]),
  ]
)
