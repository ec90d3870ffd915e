#include "CBluetoothAirPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// A file of the folder Page needs a block here, and a row in `files`.

static const unsigned char index_html[] = {
#embed "Page/index.html"
};

static const unsigned char advertising_js[] = {
#embed "Page/advertising.js"
};

static const unsigned char camera_js[] = {
#embed "Page/camera.js"
};

static const unsigned char channels_js[] = {
#embed "Page/channels.js"
};

static const unsigned char connection_js[] = {
#embed "Page/connection.js"
};

static const unsigned char dialogs_js[] = {
#embed "Page/dialogs.js"
};

static const unsigned char dom_js[] = {
#embed "Page/dom.js"
};

static const unsigned char fault_plan_js[] = {
#embed "Page/fault-plan.js"
};

static const unsigned char format_js[] = {
#embed "Page/format.js"
};

static const unsigned char gatt_js[] = {
#embed "Page/gatt.js"
};

static const unsigned char history_js[] = {
#embed "Page/history.js"
};

static const unsigned char icon_svg[] = {
#embed "Page/icon.svg"
};

static const unsigned char links_js[] = {
#embed "Page/links.js"
};

static const unsigned char main_js[] = {
#embed "Page/main.js"
};

static const unsigned char map_canvas_js[] = {
#embed "Page/map-canvas.js"
};

static const unsigned char map_hand_js[] = {
#embed "Page/map-hand.js"
};

static const unsigned char map_layout_js[] = {
#embed "Page/map-layout.js"
};

static const unsigned char packet_detail_js[] = {
#embed "Page/packet-detail.js"
};

static const unsigned char packets_js[] = {
#embed "Page/packets.js"
};

static const unsigned char store_js[] = {
#embed "Page/store.js"
};

static const unsigned char style_css[] = {
#embed "Page/style.css"
};

static const unsigned char theme_js[] = {
#embed "Page/theme.js"
};

static const unsigned char transport_js[] = {
#embed "Page/transport.js"
};

static const unsigned char view_air_js[] = {
#embed "Page/view-air.js"
};

static const unsigned char view_apps_js[] = {
#embed "Page/view-apps.js"
};

static const unsigned char view_device_js[] = {
#embed "Page/view-device.js"
};

static const unsigned char view_faults_js[] = {
#embed "Page/view-faults.js"
};

static const unsigned char view_map_js[] = {
#embed "Page/view-map.js"
};

static const unsigned char view_time_js[] = {
#embed "Page/view-time.js"
};

static const unsigned char views_css[] = {
#embed "Page/views.css"
};

static const struct air_page_file files[] = {
    {"index.html", index_html, sizeof index_html},
    {"advertising.js", advertising_js, sizeof advertising_js},
    {"camera.js", camera_js, sizeof camera_js},
    {"channels.js", channels_js, sizeof channels_js},
    {"connection.js", connection_js, sizeof connection_js},
    {"dialogs.js", dialogs_js, sizeof dialogs_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"fault-plan.js", fault_plan_js, sizeof fault_plan_js},
    {"format.js", format_js, sizeof format_js},
    {"gatt.js", gatt_js, sizeof gatt_js},
    {"history.js", history_js, sizeof history_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"links.js", links_js, sizeof links_js},
    {"main.js", main_js, sizeof main_js},
    {"map-canvas.js", map_canvas_js, sizeof map_canvas_js},
    {"map-hand.js", map_hand_js, sizeof map_hand_js},
    {"map-layout.js", map_layout_js, sizeof map_layout_js},
    {"packet-detail.js", packet_detail_js, sizeof packet_detail_js},
    {"packets.js", packets_js, sizeof packets_js},
    {"store.js", store_js, sizeof store_js},
    {"style.css", style_css, sizeof style_css},
    {"theme.js", theme_js, sizeof theme_js},
    {"transport.js", transport_js, sizeof transport_js},
    {"view-air.js", view_air_js, sizeof view_air_js},
    {"view-apps.js", view_apps_js, sizeof view_apps_js},
    {"view-device.js", view_device_js, sizeof view_device_js},
    {"view-faults.js", view_faults_js, sizeof view_faults_js},
    {"view-map.js", view_map_js, sizeof view_map_js},
    {"view-time.js", view_time_js, sizeof view_time_js},
    {"views.css", views_css, sizeof views_css},
};

struct air_page_file air_page_file(long index) {
  struct air_page_file none = {0, 0, 0};
  return index >= 0 && index < (long)(sizeof files / sizeof files[0]) ? files[index] : none;
}
