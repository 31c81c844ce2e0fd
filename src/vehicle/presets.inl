// presets.inl - the built-in vehicles. Made from vehicles/*.yaml by tools/generate.c: change those.
// clang-format off
{
    .cookie = VEHICLE_COOKIE,
    .name = "crazyflie2x-physical",
    .mass = 0.028, // kg
    .inertia = {{{1.4e-05, 0.0, 0.0}, {0.0, 1.4e-05, 0.0}, {0.0, 0.0, 2.17e-05}}}, // kg m^2
    .rotor_count = 4,
    .rotors =
        {
            {
                .position = {0.03252691193458119, 0.03252691193458119, 0.0}, // m
                .spin = -1, // cw
            },
            {
                .position = {0.03252691193458119, -0.03252691193458119, 0.0}, // m
                .spin = 1, // ccw
            },
            {
                .position = {-0.03252691193458119, -0.03252691193458119, 0.0}, // m
                .spin = -1, // cw
            },
            {
                .position = {-0.03252691193458119, 0.03252691193458119, 0.0}, // m
                .spin = 1, // ccw
            },
        },
    .allocation = 0, // physical
    .thrust_coef = 2.88e-08, // N s^2
    .torque_coef = 7.24e-10, // N m s^2
    .speed_max = 2500.0, // rad/s
    .motor_lag = 0.015, // s
    .drag_linear = {0.00567, 0.00567, 0.00636}, // N s/m
    .area = 0.0, // m^2
    .cd = 0.0,
    .cl = 0.0,
    .volume = 0.0, // m^3
    .pressure_centre = {0.0, 0.0, 0.0}, // m
    .damping_area = {0.0, 0.0, 0.0}, // m^4
    .damping = {0.0, 0.0, 0.0}, // N m s
    .density_scaling = 0, // off
    .dipole = {0.0, 0.0, 0.0}, // A m^2
    .light_area = 0.0, // m^2
    .torque_ref = 0.0, // N m
},
{
    .cookie = VEHICLE_COOKIE,
    .name = "crazyflie2x",
    .mass = 0.028, // kg
    .inertia = {{{1.4e-05, 0.0, 0.0}, {0.0, 1.4e-05, 0.0}, {0.0, 0.0, 2.17e-05}}}, // kg m^2
    .rotor_count = 4,
    .rotors =
        {
            {
                .position = {0.03252691193458119, 0.03252691193458119, 0.0}, // m
                .spin = -1, // cw
            },
            {
                .position = {0.03252691193458119, -0.03252691193458119, 0.0}, // m
                .spin = 1, // ccw
            },
            {
                .position = {-0.03252691193458119, -0.03252691193458119, 0.0}, // m
                .spin = -1, // cw
            },
            {
                .position = {-0.03252691193458119, 0.03252691193458119, 0.0}, // m
                .spin = 1, // ccw
            },
        },
    .allocation = 1, // documented
    .thrust_coef = 2.88e-08, // N s^2
    .torque_coef = 7.24e-10, // N m s^2
    .speed_max = 2500.0, // rad/s
    .motor_lag = 0.015, // s
    .drag_linear = {0.00567, 0.00567, 0.00636}, // N s/m
    .area = 0.0, // m^2
    .cd = 0.0,
    .cl = 0.0,
    .volume = 0.0, // m^3
    .pressure_centre = {0.0, 0.0, 0.0}, // m
    .damping_area = {0.0, 0.0, 0.0}, // m^4
    .damping = {0.0, 0.0, 0.0}, // N m s
    .density_scaling = 0, // off
    .dipole = {0.0, 0.0, 0.0}, // A m^2
    .light_area = 0.0, // m^2
    .torque_ref = 0.0, // N m
},
