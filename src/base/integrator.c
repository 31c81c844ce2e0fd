// integrator.c - names and orders of the integrators.
#include "volery/integrator.h"
#include <stddef.h>

const char *vy_integrator_name(vy_integrator integrator)
{
    switch (integrator) {
    case VY_INTEGRATOR_EULER: return "euler";
    case VY_INTEGRATOR_SEMI_IMPLICIT: return "semi-implicit";
    case VY_INTEGRATOR_RK4: return "rk4";
    case VY_INTEGRATOR_LIE_MIDPOINT: return "lie-midpoint";
    }
    return NULL;
}

int vy_integrator_order(vy_integrator integrator)
{
    switch (integrator) {
    case VY_INTEGRATOR_EULER:
    case VY_INTEGRATOR_SEMI_IMPLICIT: return 1;
    case VY_INTEGRATOR_RK4: return 4;
    case VY_INTEGRATOR_LIE_MIDPOINT: return 2;
    }
    return 0;
}
