// What the sketches of docs/clients.md use of the environment of Arduino: declarations alone.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

class String : public std::string {};
void delay(uint32_t ms);
unsigned long millis();
float temperatureRead();
void configTime(long gmtOffset, int daylightOffset, const char *server);
