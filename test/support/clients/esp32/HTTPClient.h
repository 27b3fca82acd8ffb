#pragma once
#include <Arduino.h>

class HTTPClient {
public:
  bool begin(String url);
  bool begin(const char *url);
  void addHeader(const char *name, const char *value);
  int POST(const String &body);
  void end();
};
