// swift-tools-version: 6.0
import PackageDescription

// Built with the flags of Scripts/client-flags, as the client is.
let package = Package(
  name: "uikit-stand-in",
  products: [.library(name: "UIKitStandIn", type: .dynamic, targets: ["UIKit", "_Testing_UIKit"])],
  targets: [.target(name: "UIKit"), .target(name: "_Testing_UIKit")]
)
