#pragma once
enum wl_status_t { WL_IDLE_STATUS = 0, WL_CONNECTED = 3 };

class Client {};
class WiFiClient : public Client {};
struct WiFiClass {
  wl_status_t begin(const char *network, const char *password);
  wl_status_t status();
};
extern WiFiClass WiFi;
