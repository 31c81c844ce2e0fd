#!/usr/bin/env python3
# cflib_flight.py PORT - Bitcraze's own cflib takes off, goes to a place and lands, in lock-step: each packet of its log is
# answered by a null packet, and the flight goes by the times in the log alone.
import queue
import sys

import cflib.crtp
from cflib.crazyflie import Crazyflie
from cflib.crazyflie.log import LogConfig
from cflib.crazyflie.syncCrazyflie import SyncCrazyflie
from cflib.crtp.crtpstack import CRTPPacket

uri = "udp://127.0.0.1:" + sys.argv[1]
cflib.crtp.init_drivers()
with SyncCrazyflie(uri, cf=Crazyflie()) as link:
    cf = link.cf
    link.wait_for_params()
    print("connected: protocol", cf.platform.get_protocol_version(), "with", sum(len(g) for g in cf.log.toc.toc.values()),
          "variables,", sum(len(g) for g in cf.param.toc.toc.values()), "parameters,", len(cf.mem.mems), "memory")
    assert cf.param.get_value("stabilizer.estimator") == "2"
    commander = cf.high_level_commander
    plan = [
        (500, lambda: commander.takeoff(1.0, 2.0)),
        (4000, lambda: commander.go_to(2.0, 1.0, 1.0, 1.0, 3.0)),
        (8000, lambda: commander.go_to(0.0, 0.5, 0.0, 0.0, 2.0, relative=True)),
        (11000, lambda: commander.go_to(-0.2, 0.0, 0.0, 0.0, 1.0, relative=True, linear=True)),
        (13000, lambda: commander.land(0.0, 2.0)),
    ]
    log = LogConfig("state", 100)
    for name in ("x", "y", "z", "yaw"):
        log.add_variable("stateEstimate." + name, "float")
    log.add_variable("pm.vbat", "FP16")
    done = queue.Queue()

    def step(time, values, _):
        if plan and time >= plan[0][0]:
            plan.pop(0)[1]()
        if time >= 17000:
            done.put(values)
            log.stop()
        cf.send_packet(CRTPPacket(0xFF))  # the world goes on

    cf.log.add_config(log)
    log.data_received_cb.add_callback(step)
    log.start()
    print("landed:", done.get(timeout=600))
