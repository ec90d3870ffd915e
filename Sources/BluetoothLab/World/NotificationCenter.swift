import BluetoothDaemon
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import Foundation

extension Device {
  /// Adds a notification to the notification centre, or replaces the one with the same identifier. It has no effect if
  /// the policy of the device has no notification service (`PlatformPolicy.offersNotifications`).
  public func post(_ notification: DeviceNotification) {
    let system = SystemNotification(notification)
    perform { device, now in device.post(system, at: now) }
  }

  /// Removes a notification from the notification centre, as a user does. Does nothing if there is none with this
  /// identifier.
  public func removeNotification(_ identifier: String) {
    perform { device, now in device.removeNotification(identifier, at: now) }
  }

  /// The notifications in the notification centre, oldest first: those of `post`, and the alerts about suspended apps.
  /// Read this property while the world is not running, or in one of its callbacks.
  public var notifications: [DeviceNotification] {
    let radio = radio
    return world.inspect { engine in
      (engine.device(radio) as? any WorldDevice)?.notifications.map { DeviceNotification($0) } ?? []
    }
  }

  /// The actions on notifications that accessories have performed, oldest first. Each has ended its notification.
  public var notificationActions: [DeviceNotificationAction] {
    let radio = radio
    return world.inspect { engine in
      (engine.device(radio) as? any WorldDevice)?.notificationActions.map { action in
        DeviceNotificationAction(
          notification: action.notification, isPositive: action.isPositive,
          accessory: UUID(uuidString: action.peer.digits) ?? UUID())
      } ?? []
    }
  }
}
