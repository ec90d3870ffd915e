// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "restored-app",
  dependencies: [
    // In a copy: .package(url: "https://github.com/OWNER/swift-corebluetooth", branch: "main")
    .package(name: "swift-corebluetooth", path: "../..")
  ],
  targets: [
    .target(name: "ScaleApp", dependencies: [.product(name: "CoreBluetooth", package: "swift-corebluetooth")]),
    .testTarget(
      name: "ScaleAppTests",
      dependencies: ["ScaleApp", .product(name: "BluetoothLab", package: "swift-corebluetooth")]),
  ]
)
