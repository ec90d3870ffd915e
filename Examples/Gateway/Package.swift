// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "gateway",
  dependencies: [
    // In a copy: .package(url: "https://github.com/OWNER/swift-corebluetooth", branch: "main")
    .package(name: "swift-corebluetooth", path: "../..")
  ],
  targets: [
    .target(
      name: "Gateway",
      dependencies: [
        .product(name: "CoreBluetooth", package: "swift-corebluetooth"),
        .product(name: "CoreBluetoothExtras", package: "swift-corebluetooth"),
        .product(name: "BluetoothProfiles", package: "swift-corebluetooth"),
      ]),
    .executableTarget(
      name: "gateway-service",
      dependencies: [
        "Gateway",
        // Without this product, the program would not read the world file that COREBLUETOOTH_WORLD names.
        .product(name: "CoreBluetoothWorld", package: "swift-corebluetooth"),
      ]),
    .executableTarget(
      name: "gateway-demo",
      dependencies: [
        "Gateway",
        .product(name: "BluetoothLab", package: "swift-corebluetooth"),
        .product(name: "BluetoothLabTime", package: "swift-corebluetooth"),
      ]),
  ]
)
