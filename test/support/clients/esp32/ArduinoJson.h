#pragma once
#include <Arduino.h>

struct JsonVariant {
  JsonVariant operator[](const char *name);
  template <typename Value> JsonVariant &operator=(const Value &value);
};
class JsonDocument {
public:
  JsonVariant operator[](const char *name);
};
size_t serializeJson(const JsonDocument &document, String &text);
