import BluetoothLab

// The kinds of accessories that are phones.

extension AccessoryKind {
  static let telephone = AccessoryKind(
    "telephone", "a telephone: Alert Notification, Phone Alert Status and the services of the time",
    { name, object in Telephone(name: name, startTime: object.dateTime("startTime")) },
    [
      .advertisingInterval(),
      WorldField(
        "hasReference", .flag, "True if it can update its clock from a reference", else: "true", example: "false"
      ).flag(\.hasReference),
      WorldField(
        "updateTime", .number(0.001...WorldLimits.seconds.upperBound),
        "The duration of an update of the clock from the reference, seconds", else: "2", example: "5"
      ).time(\.updateTime),
      WorldField(
        "categories", .list(.choice(AlertCategoryNames.all.keys.sorted()), count: 0...10),
        "The categories of alerts that it supports",
        else: "email, call, missed-call, sms, schedule, instant-message", example: #"["email", "news"]"#
      ).set { telephone, object, _ in
        if let categories = object.words("categories", AlertCategoryNames.all) { telephone.categories = categories }
      },
      alertStatus("The initial state of the ringer, the vibration and the display", else: "none").set {
        telephone, object, _ in
        telephone.alertStatus = object.alertStatus
      },
      WorldField(
        "ringer", .choice(RingerSettingNames.all.keys.sorted()), "The initial ringer setting", else: "\"normal\"",
        example: #""silent""#
      ).word(\.ringer, RingerSettingNames.all),
      WorldField(
        "alerts", .list(.object(.alert), count: 0...10_000), "The alerts that it gives by itself", else: "none",
        example: #"[{"at": 5, "category": "email", "text": "Ann"}]"#
      ).set { telephone, object, reader in
        for alert in object.objects("alerts", .alert) { telephone.schedule(alert, &reader) }
      },
      WorldField(
        "startTime", .dateTime, "The local time of its clock at the world's time 0", else: "\"2024-01-01T00:00:00\"",
        example: #""2024-02-29T08:30:00""#
      ).atCreation(),
      .battery(\.batteryLevel),
    ])

  static let notifyingPhone = AccessoryKind(
    "notifying-phone", "a phone with notifications for accessories: Apple Notification Center Service (ANCS)",
    { name, object in NotifyingPhone(name: name, startTime: object.dateTime("startTime")) },
    [
      .advertisingInterval(),
      WorldField(
        "notifications", .list(.object(.notification), count: 0...1_000),
        "The notifications, of which the phone keeps the latest 256", else: "none",
        example: #"[{"app": "com.example.mail", "category": "email", "title": "Ann"}]"#
      ).set { phone, object, reader in
        let notifications = object.objects("notifications", .notification)
        let identifiers = Set(notifications.compactMap { $0.text("id") })
        for (index, notification) in notifications.enumerated() {
          phone.schedule(notification, at: index, beside: identifiers, &reader)
        }
      },
      WorldField(
        "startTime", .dateTime, "The local time of its clock at the world's time 0", else: "\"2024-01-01T00:00:00\"",
        example: #""2024-02-29T08:30:00""#
      ).atCreation(),
      .battery(\.batteryLevel),
    ])
}

extension ObjectShape {
  static let alert = ObjectShape(
    "alert", "an alert of a telephone",
    [
      WorldField(
        required: "at", .number(WorldLimits.seconds), "The time after the telephone is turned on, seconds",
        example: "5"),
      WorldField(
        required: "category", .choice(AlertCategoryNames.all.keys.sorted()),
        "The category, one of those that the telephone supports", example: #""email""#),
      WorldField(
        "text", .text(1...1_000), "The name or title, of which at most 18 octets are sent", else: "none",
        example: #""Ann""#),
      WorldField(
        "unread", .integer(0...255), "The number of unread alerts of the category from then on", else: "unchanged",
        example: "3"),
      alertStatus("The state of the ringer, the vibration and the display from then on", else: "unchanged"),
    ])

  static let notification = ObjectShape(
    "notification", "a notification of a phone",
    [
      WorldField(
        "at", .number(WorldLimits.seconds),
        "The time after the phone is turned on at which the notification appears, seconds", else: "0", example: "5"),
      WorldField(
        "removedAt", .number(WorldLimits.seconds),
        "The time after the phone is turned on at which the notification is removed, seconds; later than `at`",
        else: "it stays", example: "60"),
      WorldField(
        "id", .text(1...248), "The identifier: a later notification with the same one replaces this one",
        else: "one of its own", example: #""one""#),
      WorldField(
        "category", .choice(NotificationCategoryNames.all.keys.sorted()), "The category", else: "\"other\"",
        example: #""email""#),
      WorldField(required: "app", .text(1...248), "The identifier of the app", example: #""com.example.mail""#),
      WorldField("appName", .text(1...248), "The name of the app for users", else: "`app`", example: #""Mail""#),
      WorldField("title", .text(1...1_000), "The title", else: "none", example: #""Ann""#),
      WorldField("subtitle", .text(1...1_000), "The subtitle", else: "none", example: #""Lunch""#),
      WorldField("message", .text(1...10_000), "The message", else: "none", example: #""At noon?""#),
      WorldField(
        "date", .dateTime, "The date", else: "the time of the phone's clock at which the notification appears",
        example: #""2024-02-29T08:30:00""#),
      WorldField(
        "positiveAction", .text(1...248), "The label of the positive action", else: "no such action",
        example: #""Answer""#),
      WorldField(
        "negativeAction", .text(1...248), "The label of the negative action", else: "no such action",
        example: #""Clear""#),
      WorldField("isSilent", .flag, "True if it makes no sound", else: "false", example: "true"),
      WorldField("isImportant", .flag, "True if it has a high priority", else: "false", example: "true"),
    ])
}

/// Returns a field with the state of the ringer, the vibration and the display.
private func alertStatus(_ meaning: String, else standard: String) -> WorldField {
  WorldField(
    "alertStatus", .list(.choice(AlertStatusNames.all.keys.sorted()), count: 0...3), meaning, else: standard,
    example: #"["ringer", "vibrate"]"#)
}
