#!/bin/sh
# league.sh BUILD [laws=NAMES] [px4=COMMAND] [ardupilot=COMMAND] [betaflight=COMMAND] [crazyflie=LIBRARY] [logs=FOLDER] [table] -
# one path, one wind, three faults: the built-in laws, all three of them unless named, and the firmware that is given: PX4,
# ArduPilot and Betaflight by the command that starts an instance, the Crazyflie's controllers by a plug-in made with
# examples/crazyflie. Logs go to FOLDER, BUILD/league, and the table is made of them alone: with the word table nothing is flown.
# A cell is the distance from the path [m]: root mean square / largest; `lost` is more than 5 m from it, or not on the ground at the end.
set -eu
cd "$(dirname "$0")/.."
build=$1 scenarios=scenarios/league
shift
volery=$build/volery logs=$build/league
laws='hold lee mellinger' px4='' ardupilot='' betaflight='' crazyflie='' fly=yes
for word; do
    case $word in
    laws=*) laws=${word#laws=} ;;
    px4=*) px4=${word#px4=} ;;
    ardupilot=*) ardupilot=${word#ardupilot=} ;;
    betaflight=*) betaflight=${word#betaflight=} ;;
    logs=*) logs=${word#logs=} ;;
    crazyflie=*) crazyflie=${word#crazyflie=} ;;
    table) fly= ;;
    *) echo "league: what is $word? laws=NAMES, px4=COMMAND, ardupilot=COMMAND, betaflight=COMMAND, crazyflie=LIBRARY, logs=FOLDER or table" >&2; exit 2 ;;
    esac
done
mkdir -p "$logs"

# One flight per fault. A flight that fails is a result, too; one that cannot begin is not.
race() { # NAME SCENARIO WORDS...
    name=$1 scenario=$2
    shift 2
    start=40
    [ "$name" != ardupilot ] || start=70 # its square begins 30 s later
    grep -v '^#' $scenarios/faults.txt | sed "s/start: 40 s/start: $start s/" | while read -r fault list; do
        status=0
        "$volery" run "$scenario" "$@" --set "faults=$list" -o "$logs/$name.$fault.mcap" >"$logs/$name.$fault.txt" 2>&1 </dev/null || status=$?
        [ $status -lt 2 ] || { cat "$logs/$name.$fault.txt"; exit 1; }
    done
}

# The distances of the positions in a log from the square, and where it ends.
judge() { # LOG
    "$volery" export "$1" --csv --drone alpha --fields body.position --rate 20 -o - 2>/dev/null | awk -F, '
        function leg(x, y, z, a, b,   i, t, n, d, e) { # squared distance from corner a to b
            t = n = d = 0
            split(corner[a], p, " "); split(corner[b], q, " ")
            split(x " " y " " z, at, " ")
            for (i = 1; i <= 3; ++i) { t += (at[i] - p[i]) * (q[i] - p[i]); n += (q[i] - p[i]) ^ 2 }
            t = t / n; t = t < 0 ? 0 : t > 1 ? 1 : t
            for (i = 1; i <= 3; ++i) { e = at[i] - p[i] - t * (q[i] - p[i]); d += e * e }
            return d
        }
        BEGIN { split("0 0 0,0 0 10,5 0 10,5 5 10,0 5 10,0 0 10", corner, ",") }
        NR > 1 && $4 != "" {
            best = 1e300
            for (k = 1; k < 6; ++k) { d = leg($2, $3, $4, k, k + 1); if (d < best) best = d }
            sum += best; ++count; if (best > most) most = best; last = $4; time = $1
        }
        END {
            if (count == 0) print "no flight"
            else if (most > 25 || last > 0.3) print "lost"
            else printf "%.2f / %.2f\n", sqrt(sum / count), sqrt(most)
        }'
}

if [ -n "$fly" ]; then
    for law in $laws; do race "$law" $scenarios/built-in.yaml --set "drones.alpha.controller.kind=$law"; done
    for law in pid mellinger indi brescianini; do
        [ -z "$crazyflie" ] || race crazyflie-$law $scenarios/crazyflie.yaml --set "drones.alpha.controller.library=$crazyflie" \
            --set drones.alpha.controller.parameters.controller=$law
    done
    [ -z "$px4" ] || race px4 scenarios/autopilots/px4-square.yaml --set "drones.alpha.controller.command=$px4"
    [ -z "$ardupilot" ] || race ardupilot scenarios/autopilots/ardupilot-square.yaml --set "drones.alpha.controller.command=$ardupilot"
    [ -z "$betaflight" ] || race betaflight $scenarios/betaflight.yaml --set "drones.alpha.controller.command=$betaflight"
fi

faults=$(sed -n 's/^\([a-z]*\) .*/\1/p' $scenarios/faults.txt)
{
    printf '| pilot |'
    for fault in $faults; do printf ' %s |' "$fault"; done
    printf '\n|---|'
    for fault in $faults; do printf -- '---|'; done
    echo
    for name in hold lee mellinger crazyflie-pid crazyflie-mellinger crazyflie-indi crazyflie-brescianini px4 ardupilot betaflight; do
        printf '| %s |' $name
        for fault in $faults; do
            if [ -f "$logs/$name.$fault.mcap" ]; then cell=$(judge "$logs/$name.$fault.mcap"); else cell=missing; fi
            printf ' %s |' "$cell"
        done
        echo
    done
} | tee "$logs/table.md"
