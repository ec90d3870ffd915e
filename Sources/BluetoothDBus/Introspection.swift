/// The descriptions of objects for other programs · D-Bus Specification, "Introspection Data Format".
enum Introspection {
  private static let head = """
    <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
    "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
    <node>

    """

  /// The interfaces that this module adds to objects.
  private static let standard = [
    DBusInterface(
      "org.freedesktop.DBus.Introspectable", methods: [DBusMethod("Introspect", out: ["xml": "s"]) { _, _ in }]),
    DBusInterface(
      "org.freedesktop.DBus.Properties",
      methods: [
        DBusMethod("Get", in: ["interface": "s", "name": "s"], out: ["value": "v"]) { _, _ in },
        DBusMethod("Set", in: ["interface": "s", "name": "s", "value": "v"]) { _, _ in },
        DBusMethod("GetAll", in: ["interface": "s"], out: ["properties": "a{sv}"]) { _, _ in },
      ],
      signals: [
        DBusSignalDeclaration(
          "PropertiesChanged",
          ["interface": "s", "changed_properties": "a{sv}", "invalidated_properties": "as"])
      ]),
  ]

  private static let manager = DBusInterface(
    "org.freedesktop.DBus.ObjectManager",
    methods: [DBusMethod("GetManagedObjects", out: ["objects": "a{oa{sa{sv}}}"]) { _, _ in }],
    signals: [
      DBusSignalDeclaration("InterfacesAdded", ["object": "o", "interfaces": "a{sa{sv}}"]),
      DBusSignalDeclaration("InterfacesRemoved", ["object": "o", "interfaces": "as"]),
    ])

  static func text(of path: String, _ objects: ExportedObjects) -> String {
    let own = (objects.interfaces[path] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    let interfaces = (objects.managers.contains(path) ? [manager] : []) + standard + own
    let children = objects.children(of: path).map { "  <node name=\"\($0)\"/>\n" }
    return head + interfaces.map(text).joined() + children.joined() + "</node>\n"
  }

  private static func text(of interface: DBusInterface) -> String {
    var text = "  <interface name=\"\(interface.name)\">\n"
    for (name, method) in interface.methods.sorted(by: { $0.key < $1.key }) {
      text += "    <method name=\"\(name)\">\n"
      for (name, type) in method.inputs { text += argument(name, type, "in") }
      for (name, type) in method.outputs { text += argument(name, type, "out") }
      if method.isNoReply { text += annotation("Method.NoReply", "true") }
      text += "    </method>\n"
    }
    for signal in interface.signals {
      text += "    <signal name=\"\(signal.name)\">\n"
      for (name, type) in signal.arguments { text += "      <arg name=\"\(name)\" type=\"\(type)\"/>\n" }
      text += "    </signal>\n"
    }
    for property in interface.properties {
      let access = property.set == nil ? "read" : "readwrite"
      text += "    <property name=\"\(property.name)\" type=\"\(property.signature)\" access=\"\(access)\">\n"
      text += annotation("Property.EmitsChangedSignal", property.emission.rawValue)
      text += "    </property>\n"
    }
    return text + "  </interface>\n"
  }

  private static func argument(_ name: String, _ type: String, _ direction: String) -> String {
    "      <arg name=\"\(name)\" type=\"\(type)\" direction=\"\(direction)\"/>\n"
  }

  private static func annotation(_ name: String, _ value: String) -> String {
    "      <annotation name=\"org.freedesktop.DBus.\(name)\" value=\"\(value)\"/>\n"
  }
}
