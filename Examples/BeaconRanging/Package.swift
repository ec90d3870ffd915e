// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "beacon-ranging",
  dependencies: [
    // In a copy: .package(url: "https://github.com/OWNER/swift-corebluetooth", branch: "main")
    .package(name: "swift-corebluetooth", path: "../..")
  ],
  targets: [
    .target(
      name: "BeaconRanging", dependencies: [.product(name: "CoreBluetooth", package: "swift-corebluetooth")]),
    .executableTarget(
      name: "beacon-ranging",
      dependencies: ["BeaconRanging", .product(name: "BluetoothLab", package: "swift-corebluetooth")]),
    .testTarget(
      name: "BeaconRangingTests",
      dependencies: ["BeaconRanging", .product(name: "BluetoothLab", package: "swift-corebluetooth")]),
  ]
)
