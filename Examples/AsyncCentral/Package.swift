// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "async-central",
  dependencies: [
    // In a copy: .package(url: "https://github.com/OWNER/swift-corebluetooth", branch: "main")
    .package(name: "swift-corebluetooth", path: "../..")
  ],
  targets: [
    .target(
      name: "AsyncCentral",
      dependencies: [
        .product(name: "CoreBluetooth", package: "swift-corebluetooth"),
        .product(name: "CoreBluetoothExtras", package: "swift-corebluetooth"),
      ]),
    .executableTarget(
      name: "async-central",
      dependencies: ["AsyncCentral", .product(name: "BluetoothLab", package: "swift-corebluetooth")]),
    .testTarget(
      name: "AsyncCentralTests",
      dependencies: [
        "AsyncCentral",
        .product(name: "BluetoothLab", package: "swift-corebluetooth"),
        .product(name: "BluetoothLabTime", package: "swift-corebluetooth"),
      ]),
  ]
)
