// presets.inl - the built-in vehicles. Made from vehicles/*.yaml by tools/generate.c: change those.
// clang-format off
{
    .cookie = VEHICLE_COOKIE,
    .name = "crazyflie21-brushless",
    .mass = 0.0434, // kg
    .inertia = {{{2.5e-05, 0.0, 0.0}, {0.0, 2.8e-05, 0.0}, {0.0, 0.0, 4.9e-05}}}, // kg m^2
    .centre_of_mass = {0.0, 0.0, 0.0}, // m
    .rotor_count = 4,
    .rotors =
        {
            {
                .position = {0.0354, 0.0354, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.0354, -0.0354, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.0354, -0.0354, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.0354, 0.0354, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
        },
    .thruster_count = 0,
    .allocation = 0, // physical
    .thrust_coef = 4.01907e-08, // N s^2
    .torque_coef = 2.38733e-10, // N m s^2
    .speed_max = 2268.0, // rad/s
    .motor_lag = 0.057, // s
    .motor_lag_down = 0.062, // s
    .thrust_linear = -2.99179e-06, // N s
    .thrust_cubic = 0.0, // N s^3
    .command_dead = 0.0,
    .command_curve = 1.0,
    .speed_idle = 0.0, // rad/s
    .drag_linear = {0.0215, 0.0215, 0.0236}, // N s/m
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
    .rotor_air =
        {
            .radius = 0.0275, // m
            .drag = 0.0, // kg
            .drag_axial = 0.0, // kg
            .flap = 0.0, // kg m
            .lift = 0.0, // kg/m
            .inflow = 0.0, // kg
            .inflow_lag = 0.0, // s
            .vortex_loss = 0.0,
            .inertia = 3.893e-08, // kg m^2
            .ground = 0, // off
        },
    .blade =
        {
            .count = 0,
            .chord = 0.0, // m
            .twist = 0.0, // rad
            .lift_slope = 0.0, // 1/rad
            .lift_max = 0.0,
            .drag_square = 0.0,
        },
    .battery =
        {
            .capacity = 0.0, // A s
            .charge = 1.0,
            .resistance = 0.0, // ohm
            .nominal = 0.0, // V
            .voltage = {0.0, 0.0, 0.0, 0.0, 0.0}, // V
            .efficiency = 1.0,
            .power = 0.0, // W
        },
    .drive =
        {
            .speed_max = 0.0, // m/s
            .climb_max = 0.0, // m/s
            .tilt_max = 0.0, // rad
            .rate_max = 0.0, // rad/s
            .command_min = 0.0,
            .command_max = 0.0,
            .slew = 0.0, // 1/s
            .deadline = 0.0, // s
            .rotor_loss = 0.0, // s
            .land_speed = 0.5, // m/s
            .failsafe = 0, // none
        },
    .collision_point_count = 0,
},
{
    .cookie = VEHICLE_COOKIE,
    .name = "crazyflie21",
    .mass = 0.0319, // kg
    .inertia = {{{1.68e-05, 0.0, 0.0}, {0.0, 1.68e-05, 0.0}, {0.0, 0.0, 2.98e-05}}}, // kg m^2
    .centre_of_mass = {0.0, 0.0, 0.0}, // m
    .rotor_count = 4,
    .rotors =
        {
            {
                .position = {0.03253, 0.03253, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.03253, -0.03253, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.03253, -0.03253, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.03253, 0.03253, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
        },
    .thruster_count = 0,
    .allocation = 0, // physical
    .thrust_coef = 2.24171e-08, // N s^2
    .torque_coef = 1.56761e-10, // N m s^2
    .speed_max = 2887.0, // rad/s
    .motor_lag = 0.05, // s
    .motor_lag_down = 0.08, // s
    .thrust_linear = -5.13943e-06, // N s
    .thrust_cubic = 0.0, // N s^3
    .command_dead = 0.0,
    .command_curve = 1.0,
    .speed_idle = 296.0, // rad/s
    .drag_linear = {0.0147, 0.0147, 0.0128}, // N s/m
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
    .rotor_air =
        {
            .radius = 0.02355, // m
            .drag = 0.0, // kg
            .drag_axial = 0.0, // kg
            .flap = 0.0, // kg m
            .lift = 0.0, // kg/m
            .inflow = 0.0, // kg
            .inflow_lag = 0.0, // s
            .vortex_loss = 0.0,
            .inertia = 3.452e-08, // kg m^2
            .ground = 0, // off
        },
    .blade =
        {
            .count = 0,
            .chord = 0.0, // m
            .twist = 0.0, // rad
            .lift_slope = 0.0, // 1/rad
            .lift_max = 0.0,
            .drag_square = 0.0,
        },
    .battery =
        {
            .capacity = 0.0, // A s
            .charge = 1.0,
            .resistance = 0.0, // ohm
            .nominal = 0.0, // V
            .voltage = {0.0, 0.0, 0.0, 0.0, 0.0}, // V
            .efficiency = 1.0,
            .power = 0.0, // W
        },
    .drive =
        {
            .speed_max = 0.0, // m/s
            .climb_max = 0.0, // m/s
            .tilt_max = 0.0, // rad
            .rate_max = 0.0, // rad/s
            .command_min = 0.0,
            .command_max = 0.0,
            .slew = 0.0, // 1/s
            .deadline = 0.0, // s
            .rotor_loss = 0.0, // s
            .land_speed = 0.5, // m/s
            .failsafe = 0, // none
        },
    .collision_point_count = 0,
},
{
    .cookie = VEHICLE_COOKIE,
    .name = "crazyflie2x-physical",
    .mass = 0.028, // kg
    .inertia = {{{1.4e-05, 0.0, 0.0}, {0.0, 1.4e-05, 0.0}, {0.0, 0.0, 2.17e-05}}}, // kg m^2
    .centre_of_mass = {0.0, 0.0, 0.0}, // m
    .rotor_count = 4,
    .rotors =
        {
            {
                .position = {0.03252691193458119, 0.03252691193458119, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.03252691193458119, -0.03252691193458119, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.03252691193458119, -0.03252691193458119, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.03252691193458119, 0.03252691193458119, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
        },
    .thruster_count = 0,
    .allocation = 0, // physical
    .thrust_coef = 2.88e-08, // N s^2
    .torque_coef = 7.24e-10, // N m s^2
    .speed_max = 2500.0, // rad/s
    .motor_lag = 0.015, // s
    .motor_lag_down = 0.0, // s
    .thrust_linear = 0.0, // N s
    .thrust_cubic = 0.0, // N s^3
    .command_dead = 0.0,
    .command_curve = 1.0,
    .speed_idle = 0.0, // rad/s
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
    .rotor_air =
        {
            .radius = 0.0231, // m
            .drag = 0.0, // kg
            .drag_axial = 0.0, // kg
            .flap = 0.0, // kg m
            .lift = 0.0, // kg/m
            .inflow = 0.0, // kg
            .inflow_lag = 0.0, // s
            .vortex_loss = 0.0,
            .inertia = 3.452e-08, // kg m^2
            .ground = 0, // off
        },
    .blade =
        {
            .count = 0,
            .chord = 0.0, // m
            .twist = 0.0, // rad
            .lift_slope = 0.0, // 1/rad
            .lift_max = 0.0,
            .drag_square = 0.0,
        },
    .battery =
        {
            .capacity = 0.0, // A s
            .charge = 1.0,
            .resistance = 0.0, // ohm
            .nominal = 0.0, // V
            .voltage = {0.0, 0.0, 0.0, 0.0, 0.0}, // V
            .efficiency = 1.0,
            .power = 0.0, // W
        },
    .drive =
        {
            .speed_max = 0.0, // m/s
            .climb_max = 0.0, // m/s
            .tilt_max = 0.0, // rad
            .rate_max = 0.0, // rad/s
            .command_min = 0.0,
            .command_max = 0.0,
            .slew = 0.0, // 1/s
            .deadline = 0.0, // s
            .rotor_loss = 0.0, // s
            .land_speed = 0.5, // m/s
            .failsafe = 0, // none
        },
    .collision_point_count = 0,
},
{
    .cookie = VEHICLE_COOKIE,
    .name = "crazyflie2x",
    .mass = 0.028, // kg
    .inertia = {{{1.4e-05, 0.0, 0.0}, {0.0, 1.4e-05, 0.0}, {0.0, 0.0, 2.17e-05}}}, // kg m^2
    .centre_of_mass = {0.0, 0.0, 0.0}, // m
    .rotor_count = 4,
    .rotors =
        {
            {
                .position = {0.03252691193458119, 0.03252691193458119, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.03252691193458119, -0.03252691193458119, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.03252691193458119, -0.03252691193458119, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.03252691193458119, 0.03252691193458119, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
        },
    .thruster_count = 0,
    .allocation = 1, // documented
    .thrust_coef = 2.88e-08, // N s^2
    .torque_coef = 7.24e-10, // N m s^2
    .speed_max = 2500.0, // rad/s
    .motor_lag = 0.015, // s
    .motor_lag_down = 0.0, // s
    .thrust_linear = 0.0, // N s
    .thrust_cubic = 0.0, // N s^3
    .command_dead = 0.0,
    .command_curve = 1.0,
    .speed_idle = 0.0, // rad/s
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
    .rotor_air =
        {
            .radius = 0.0231, // m
            .drag = 0.0, // kg
            .drag_axial = 0.0, // kg
            .flap = 0.0, // kg m
            .lift = 0.0, // kg/m
            .inflow = 0.0, // kg
            .inflow_lag = 0.0, // s
            .vortex_loss = 0.0,
            .inertia = 0.0, // kg m^2
            .ground = 0, // off
        },
    .blade =
        {
            .count = 0,
            .chord = 0.0, // m
            .twist = 0.0, // rad
            .lift_slope = 0.0, // 1/rad
            .lift_max = 0.0,
            .drag_square = 0.0,
        },
    .battery =
        {
            .capacity = 0.0, // A s
            .charge = 1.0,
            .resistance = 0.0, // ohm
            .nominal = 0.0, // V
            .voltage = {0.0, 0.0, 0.0, 0.0, 0.0}, // V
            .efficiency = 1.0,
            .power = 0.0, // W
        },
    .drive =
        {
            .speed_max = 0.0, // m/s
            .climb_max = 0.0, // m/s
            .tilt_max = 0.0, // rad
            .rate_max = 0.0, // rad/s
            .command_min = 0.0,
            .command_max = 0.0,
            .slew = 0.0, // 1/s
            .deadline = 0.0, // s
            .rotor_loss = 0.0, // s
            .land_speed = 0.5, // m/s
            .failsafe = 0, // none
        },
    .collision_point_count = 0,
},
{
    .cookie = VEHICLE_COOKIE,
    .name = "hexa",
    .mass = 1.53, // kg
    .inertia = {{{0.0347563, 0.0, 0.0}, {0.0, 0.0458929, 0.0}, {0.0, 0.0, 0.0806}}}, // kg m^2
    .centre_of_mass = {0.0, 0.0, 0.0}, // m
    .rotor_count = 6,
    .rotors =
        {
            {
                .position = {0.1861954618136543, 0.1075, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.0, 0.215, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.1861954618136543, 0.1075, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.1861954618136543, -0.1075, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.0, -0.215, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.1861954618136543, -0.1075, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
        },
    .thruster_count = 0,
    .allocation = 0, // physical
    .thrust_coef = 8.54858e-06, // N s^2
    .torque_coef = 1.3677728e-07, // N m s^2
    .speed_max = 838.0, // rad/s
    .motor_lag = 0.0125, // s
    .motor_lag_down = 0.025, // s
    .thrust_linear = 0.0, // N s
    .thrust_cubic = 0.0, // N s^3
    .command_dead = 0.0,
    .command_curve = 1.0,
    .speed_idle = 0.0, // rad/s
    .drag_linear = {0.0, 0.0, 0.0}, // N s/m
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
    .rotor_air =
        {
            .radius = 0.1, // m
            .drag = 8.06428e-05, // kg
            .drag_axial = 0.0, // kg
            .flap = 0.0, // kg m
            .lift = 0.0, // kg/m
            .inflow = 0.0, // kg
            .inflow_lag = 0.0, // s
            .vortex_loss = 0.0,
            .inertia = 1.7e-05, // kg m^2
            .ground = 0, // off
        },
    .blade =
        {
            .count = 0,
            .chord = 0.0, // m
            .twist = 0.0, // rad
            .lift_slope = 0.0, // 1/rad
            .lift_max = 0.0,
            .drag_square = 0.0,
        },
    .battery =
        {
            .capacity = 0.0, // A s
            .charge = 1.0,
            .resistance = 0.0, // ohm
            .nominal = 0.0, // V
            .voltage = {0.0, 0.0, 0.0, 0.0, 0.0}, // V
            .efficiency = 1.0,
            .power = 0.0, // W
        },
    .drive =
        {
            .speed_max = 0.0, // m/s
            .climb_max = 0.0, // m/s
            .tilt_max = 0.0, // rad
            .rate_max = 0.0, // rad/s
            .command_min = 0.0,
            .command_max = 0.0,
            .slew = 0.0, // 1/s
            .deadline = 0.0, // s
            .rotor_loss = 0.0, // s
            .land_speed = 0.5, // m/s
            .failsafe = 0, // none
        },
    .collision_point_count = 0,
},
{
    .cookie = VEHICLE_COOKIE,
    .name = "octo",
    .mass = 1.64, // kg
    .inertia = {{{0.044, 0.0, 0.0}, {0.0, 0.044, 0.0}, {0.0, 0.0, 0.088}}}, // kg m^2
    .centre_of_mass = {0.0, 0.0, 0.0}, // m
    .rotor_count = 8,
    .rotors =
        {
            {
                .position = {0.4, 0.0, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.282842712474619, 0.282842712474619, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.0, 0.4, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.282842712474619, 0.282842712474619, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.4, 0.0, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.282842712474619, -0.282842712474619, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.0, -0.4, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.282842712474619, -0.282842712474619, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
        },
    .thruster_count = 0,
    .allocation = 0, // physical
    .thrust_coef = 1e-05, // N s^2
    .torque_coef = 3e-07, // N m s^2
    .speed_max = 710.0, // rad/s
    .motor_lag = 0.04, // s
    .motor_lag_down = 0.0, // s
    .thrust_linear = 0.0, // N s
    .thrust_cubic = 0.0, // N s^3
    .command_dead = 0.0,
    .command_curve = 1.0,
    .speed_idle = 0.0, // rad/s
    .drag_linear = {0.0, 0.0, 0.0}, // N s/m
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
    .rotor_air =
        {
            .radius = 0.0, // m
            .drag = 0.0, // kg
            .drag_axial = 0.0, // kg
            .flap = 0.0, // kg m
            .lift = 0.0, // kg/m
            .inflow = 0.0, // kg
            .inflow_lag = 0.0, // s
            .vortex_loss = 0.0,
            .inertia = 9e-05, // kg m^2
            .ground = 0, // off
        },
    .blade =
        {
            .count = 0,
            .chord = 0.0, // m
            .twist = 0.0, // rad
            .lift_slope = 0.0, // 1/rad
            .lift_max = 0.0,
            .drag_square = 0.0,
        },
    .battery =
        {
            .capacity = 0.0, // A s
            .charge = 1.0,
            .resistance = 0.0, // ohm
            .nominal = 0.0, // V
            .voltage = {0.0, 0.0, 0.0, 0.0, 0.0}, // V
            .efficiency = 1.0,
            .power = 0.0, // W
        },
    .drive =
        {
            .speed_max = 0.0, // m/s
            .climb_max = 0.0, // m/s
            .tilt_max = 0.0, // rad
            .rate_max = 0.0, // rad/s
            .command_min = 0.0,
            .command_max = 0.0,
            .slew = 0.0, // 1/s
            .deadline = 0.0, // s
            .rotor_loss = 0.0, // s
            .land_speed = 0.5, // m/s
            .failsafe = 0, // none
        },
    .collision_point_count = 0,
},
{
    .cookie = VEHICLE_COOKIE,
    .name = "reference-quad",
    .mass = 1.0, // kg
    .inertia = {{{0.005, 0.0, 0.0}, {0.0, 0.005, 0.0}, {0.0, 0.0, 0.009}}}, // kg m^2
    .centre_of_mass = {0.0, 0.0, 0.0}, // m
    .rotor_count = 4,
    .rotors =
        {
            {
                .position = {0.08485281374238571, 0.08485281374238571, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.08485281374238571, -0.08485281374238571, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.08485281374238571, -0.08485281374238571, 0.0}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.08485281374238571, 0.08485281374238571, 0.0}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
        },
    .thruster_count = 0,
    .allocation = 0, // physical
    .thrust_coef = 6e-06, // N s^2
    .torque_coef = 1.2e-07, // N m s^2
    .speed_max = 1000.0, // rad/s
    .motor_lag = 0.03, // s
    .motor_lag_down = 0.0, // s
    .thrust_linear = 0.0, // N s
    .thrust_cubic = 0.0, // N s^3
    .command_dead = 0.0,
    .command_curve = 1.0,
    .speed_idle = 0.0, // rad/s
    .drag_linear = {0.0, 0.0, 0.0}, // N s/m
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
    .rotor_air =
        {
            .radius = 0.0, // m
            .drag = 0.0, // kg
            .drag_axial = 0.0, // kg
            .flap = 0.0, // kg m
            .lift = 0.0, // kg/m
            .inflow = 0.0, // kg
            .inflow_lag = 0.0, // s
            .vortex_loss = 0.0,
            .inertia = 1e-05, // kg m^2
            .ground = 0, // off
        },
    .blade =
        {
            .count = 0,
            .chord = 0.0, // m
            .twist = 0.0, // rad
            .lift_slope = 0.0, // 1/rad
            .lift_max = 0.0,
            .drag_square = 0.0,
        },
    .battery =
        {
            .capacity = 0.0, // A s
            .charge = 1.0,
            .resistance = 0.0, // ohm
            .nominal = 0.0, // V
            .voltage = {0.0, 0.0, 0.0, 0.0, 0.0}, // V
            .efficiency = 1.0,
            .power = 0.0, // W
        },
    .drive =
        {
            .speed_max = 0.0, // m/s
            .climb_max = 0.0, // m/s
            .tilt_max = 0.0, // rad
            .rate_max = 0.0, // rad/s
            .command_min = 0.0,
            .command_max = 0.0,
            .slew = 0.0, // 1/s
            .deadline = 0.0, // s
            .rotor_loss = 0.0, // s
            .land_speed = 0.5, // m/s
            .failsafe = 0, // none
        },
    .collision_point_count = 0,
},
{
    .cookie = VEHICLE_COOKIE,
    .name = "x500",
    .mass = 2.064, // kg
    .inertia = {{{0.0236, 0.0, 0.0}, {0.0, 0.0236, 0.0}, {0.0, 0.0, 0.0439}}}, // kg m^2
    .centre_of_mass = {0.0, 0.0, 0.0}, // m
    .rotor_count = 4,
    .rotors =
        {
            {
                .position = {0.174, 0.174, 0.06}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {0.174, -0.174, 0.06}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.174, -0.174, 0.06}, // m
                .spin = -1, // cw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
            {
                .position = {-0.174, 0.174, 0.06}, // m
                .spin = 1, // ccw
                .axis = {0.0, 0.0, 0.0},
                .thrust_coef = 0.0, // N s^2
                .torque_coef = 0.0, // N m s^2
            },
        },
    .thruster_count = 0,
    .allocation = 0, // physical
    .thrust_coef = 8.54858e-06, // N s^2
    .torque_coef = 1.3677728e-07, // N m s^2
    .speed_max = 1000.0, // rad/s
    .motor_lag = 0.0125, // s
    .motor_lag_down = 0.025, // s
    .thrust_linear = 0.0, // N s
    .thrust_cubic = 0.0, // N s^3
    .command_dead = 0.0,
    .command_curve = 1.0,
    .speed_idle = 0.0, // rad/s
    .drag_linear = {0.0, 0.0, 0.0}, // N s/m
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
    .rotor_air =
        {
            .radius = 0.127, // m
            .drag = 8.06428e-05, // kg
            .drag_axial = 0.0, // kg
            .flap = 0.0, // kg m
            .lift = 0.0, // kg/m
            .inflow = 0.0, // kg
            .inflow_lag = 0.0, // s
            .vortex_loss = 0.0,
            .inertia = 2.64986e-05, // kg m^2
            .ground = 0, // off
        },
    .blade =
        {
            .count = 0,
            .chord = 0.0, // m
            .twist = 0.0, // rad
            .lift_slope = 0.0, // 1/rad
            .lift_max = 0.0,
            .drag_square = 0.0,
        },
    .battery =
        {
            .capacity = 0.0, // A s
            .charge = 1.0,
            .resistance = 0.0, // ohm
            .nominal = 0.0, // V
            .voltage = {0.0, 0.0, 0.0, 0.0, 0.0}, // V
            .efficiency = 1.0,
            .power = 0.0, // W
        },
    .drive =
        {
            .speed_max = 0.0, // m/s
            .climb_max = 0.0, // m/s
            .tilt_max = 0.0, // rad
            .rate_max = 0.0, // rad/s
            .command_min = 0.0,
            .command_max = 0.0,
            .slew = 0.0, // 1/s
            .deadline = 0.0, // s
            .rotor_loss = 0.0, // s
            .land_speed = 0.5, // m/s
            .failsafe = 0, // none
        },
    .collision_point_count = 0,
},
