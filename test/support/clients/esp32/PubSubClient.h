#pragma once
#include <WiFi.h>

class PubSubClient {
public:
  PubSubClient(Client &network);
  PubSubClient &setServer(const char *host, uint16_t port);
  bool connect(const char *id, const char *user, const char *password, const char *willTopic,
               uint8_t willQos, bool willRetain, const char *willMessage);
  bool connected();
  bool publish(const char *topic, const char *payload);
  bool loop();
};
