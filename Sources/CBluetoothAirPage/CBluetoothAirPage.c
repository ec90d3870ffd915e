#include "CBluetoothAirPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// A file of the folder Page needs a block here, and a row in `files`.

static const unsigned char index_html[] = {
#embed "Page/index.html"
};

static const unsigned char style_css[] = {
#embed "Page/style.css"
};

static const unsigned char main_js[] = {
#embed "Page/main.js"
};

static const struct air_page_file files[] = {
    {"index.html", index_html, sizeof index_html},
    {"style.css", style_css, sizeof style_css},
    {"main.js", main_js, sizeof main_js},
};

struct air_page_file air_page_file(long index) {
  struct air_page_file none = {0, 0, 0};
  return index >= 0 && index < (long)(sizeof files / sizeof files[0]) ? files[index] : none;
}
