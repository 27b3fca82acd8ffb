# Publishes by paho-mqtt at QoS 0, 1 and 2 in one version of the protocol, then says what it got.
import sys

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

port, version, user, password = sys.argv[1:5]
client = mqtt.Client(
    CallbackAPIVersion.VERSION2, f"paho-{version}", protocol=int(version)
)
client.username_pw_set(user, password)
client.connect("127.0.0.1", int(port))
client.loop_start()
for qos in (0, 1, 2):
    topic = f"things/paho-{version}-{qos}/attrs/by"
    client.publish(topic, "paho", qos).wait_for_publish(20)
    print("published", qos, flush=True)
client.disconnect()
client.loop_stop()
