/* report_assets.h: the style and the script of the HTML page, made from report.css and report.js by
 * scripts/embed. */
#ifndef PERFC_BACKEND_REPORT_ASSETS_H
#define PERFC_BACKEND_REPORT_ASSETS_H

#include <stddef.h>

extern const char report_css[];
extern const size_t report_css_length;
extern const char report_js[];
extern const size_t report_js_length;

#endif
