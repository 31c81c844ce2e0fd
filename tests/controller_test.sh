#!/bin/sh
# controller_test.sh BUILD - controllers of one's own through the command: a new one builds and flies; a crash and a
# hang end the run with a reason, exit status 1 and a log that replays; nothing is left running.
# shellcheck disable=SC2086 # commands and options are lists of words
set -eu
volery=$(cd "$1" && pwd)/volery
plugins=$(cd "$1" && pwd)/tests
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "controller_test: $*"; cat out err 2>/dev/null; exit 1; }
# try STATUS COMMAND... - its exit status must be STATUS; its output is in the files out and err.
try() {
    wanted=$1
    shift
    status=0
    "$@" >out 2>err || status=$?
    [ $status -eq "$wanted" ] || fail "$* gives status $status, wanted $wanted"
}
says() { grep -qF -- "$2" "$1" || fail "$1 does not say: $2"; }
# has_event LOG KIND DRONE TEXT - an event whose text begins like that; each string has its length in front.
has_event() { LC_ALL=C grep -qaP "\\Q$2\\E\"[\\x00-\\x7f]\\Q$3\\E[*].{1,2}\\Q$4\\E" "$1"; }
final() { "$volery" run "$@" --json | sed 's/.*"final_hash": *"\([0-9a-f]*\)".*/\1/'; }

# A new controller builds with every warning and flies as its scenario expects, by the command that is printed.
as_printed() { try 0 env CFLAGS='-O2 -Wall -Wextra -Wpedantic -Werror' sh -c "$(sed -n 's/^  //p' out)"; }
try 0 "$volery" new controller mine
says out "To build and fly it:"
as_printed
[ "$(grep -c '^  ok ' out)" -eq 3 ] || fail "the expectations of a new controller"
grep -q 'vehicle: crazyflie2x-physical' mine/mine.yaml || fail "the vehicle of a new controller"
try 0 "$volery" replay mine/mine.mcap
says out "identical"
try 2 "$volery" new controller mine
says err "mine"
# In Python it is the same flight, to the bit; what flies is the reference.
try 0 "$volery" new controller snake --language python
says out "snake/snake.py, snake.yaml and a Makefile are written. To fly it:"
as_printed
[ "$(grep -c '^  ok ' out)" -eq 3 ] || fail "the expectations of a new controller in Python"
try 0 "$volery" replay snake/snake.mcap
says out "identical"
try 0 "$volery" replay snake/snake.mcap --live --allow-programs
[ "$(final mine/mine.yaml --no-log)" = "$(final snake/snake.yaml --no-log)" ] || fail "C and Python differ"
circle="{kind: circle, centre: [0, 0, 1], radius: 1, speed: 1, laps: 1, yaw: 1}"
try 0 "$volery" run mine/mine.yaml --set "drones.alpha.controller.setpoints=[]" --set "drones.alpha.controller.path=$circle" \
    --set 'drones.alpha.start.position=[1, 0, 1]' \
    --set 'expect=[{quantity: position_error, at: throughout, max: 5 cm}, {quantity: yaw, at: end, min: 0.98, max: 1.02}]' --no-log
# Nothing is overwritten, and nothing is left of a mistake.
for words in "mine --language python" "snake --language=c"; do
    find mine snake -type f -exec cksum {} + | sort >before
    try 2 "$volery" new controller $words
    find mine snake -type f -exec cksum {} + | sort | cmp -s before - || fail "new controller $words changes files"
done
try 2 "$volery" new controller other --language fortran
says err "volery new: --language knows c and python, got fortran"
try 2 "$volery" new controller other --language
[ ! -e other ] || fail "a mistake leaves a folder"
try 2 "$volery" new controller ../mine
try 2 "$volery" new scenario mine
try 2 "$volery" serve

# The same plug-in as a process of its own: the same bits.
sed "s|kind: plugin|kind: process|; s|library: ./mine.so|command: $volery serve ./mine.so|" mine/mine.yaml >mine/apart.yaml
[ "$(final mine/mine.yaml --no-log)" = "$(final mine/apart.yaml --no-log)" ] || fail "plug-in and process differ"

# Live: the same answers, from the plug-in, the process, and Python; a changed controller is found by its first reply.
try 0 "$volery" replay mine/mine.mcap --live --allow-programs
says out "identical"
try 0 "$volery" run mine/apart.yaml -q -o apart.mcap
try 2 "$volery" replay apart.mcap --live --folder mine
says err "--folder and --unconfined go with --allow-programs"
try 0 "$volery" replay apart.mcap --live --allow-programs --folder mine
# A log and its program go to another computer: nothing there has the name of a folder here.
mkdir away
cp mine/mine.mcap mine/mine.so away
(cd away && try 0 "$volery" replay mine.mcap --live --allow-programs)
(cd / && "$volery" replay "$work/away/mine.mcap" --live --allow-programs >/dev/null 2>&1) || fail "a log elsewhere does not live"
try 0 env USER=somebody-here HOSTNAME=some-computer VOLERY_WORD=some-variable "$volery" run mine/mine.yaml -q -o named.mcap
for word in "$work" "$(pwd -P)" "$source" somebody-here some-computer some-variable VOLERY_WORD "$(hostname)" "$(id -un)"; do
    [ ${#word} -ge 8 ] || continue # a shorter one is among the numbers by chance
    ! LC_ALL=C grep -qaF -- "$word" named.mcap || fail "a log holds $word"
done
! LC_ALL=C grep -qaE "(folder|writable): *[\"']?/" named.mcap apart.mcap || fail "a log names a folder"
# Confined or not, the same flight; and the run says which.
[ "$(final mine/mine.yaml --no-log)" = "$(final mine/mine.yaml --no-log --set drones.alpha.controller.confine=on)" ] ||
    fail "confinement changes a flight"
try 0 "$volery" run mine/mine.yaml --no-log --set drones.alpha.controller.confine=on --json
says out '"programs": {"count": 1, "confined": 1, "kernel_lacks": '
says err ", confined"
try 0 "$volery" run mine/mine.yaml --no-log
says err ", not confined"
# A kernel without Landlock, as strace makes one of this: what it lacks is said, in one line and in JSON, and the flight goes on.
without="strace -f --seccomp-bpf -qq -o /dev/null -e trace=landlock_create_ruleset -e inject=landlock_create_ruleset:error=ENOSYS"
if $without true 2>/dev/null; then
    try 0 $without "$volery" run mine/mine.yaml --no-log --set duration=0.1 --set 'expect=[]' --set drones.alpha.controller.confine=on --json
    says out '"kernel_lacks": "Landlock: programs can write wherever you can, and signal your processes'
    [ "$(grep -c "this kernel lacks Landlock" err)" -eq 1 ] || fail "a kernel without Landlock"
fi
try 0 "$volery" branch mine/mine.mcap --at 5 -q -o branch.mcap --allow-programs
try 0 "$volery" diff mine/mine.mcap branch.mcap
sed -i 's/9.80665/9.8/' mine/mine.c
try 0 make -C mine mine.so
try 1 "$volery" replay mine/mine.mcap --live --allow-programs
says out "answers differently first at step 10 (0.01 s): drones[0].reply.thrust is"
try 1 "$volery" replay mine/mine.mcap --live --allow-programs --json
says out '"reply": true'
try 0 "$volery" replay mine/mine.mcap # which needs no controller

# A controller lets a parcel go, over its mark: as a plug-in, as a process, from the log, live; only what it may.
cp "$source/examples/airdrop.c" "$source/examples/airdrop.yaml" .
cc -shared -fPIC -O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror -I "$source/include" airdrop.c -o airdrop.so -lm
try 0 "$volery" run airdrop.yaml -o airdrop.mcap
has_event airdrop.mcap payload courier "parcel is dropped" || fail "no event of the drop"
# What it replied is in its tables, with a row's latest reply; a body has none.
try 0 "$volery" export airdrop.mcap --drone courier --csv --fields reply.rung,reply.drop -o replies.csv
[ "$(cut -d, -f2,3 replies.csv | uniq | tr '\n' ' ')" = "reply.rung,reply.drop , 5,0 5,1 " ] || fail "its replies are not in its table"
try 2 "$volery" export airdrop.mcap --drone parcel --csv --fields reply.drop
says err "no field reply.drop"
try 0 "$volery" replay airdrop.mcap
says out "identical"
try 0 "$volery" replay airdrop.mcap --live --allow-programs
says out "identical"
try 0 "$volery" branch airdrop.mcap --at 3 -q -o airdrop-3.mcap --allow-programs
try 0 "$volery" diff airdrop.mcap airdrop-3.mcap
sed "s|kind: plugin, library: ./airdrop.so|kind: process, command: $volery serve ./airdrop.so|" airdrop.yaml >apart.yaml
[ "$(final airdrop.yaml --no-log)" = "$(final apart.yaml --no-log)" ] || fail "a drop over the wire differs"
sed 's/mark: 10/mark: 9/' airdrop.yaml >nearer.yaml
try 0 "$volery" run nearer.yaml -q --set 'expect=[]' -o nearer.mcap
try 1 "$volery" diff airdrop.mcap nearer.mcap
sed 's/, release: on//' airdrop.yaml >kept.yaml
try 1 "$volery" run kept.yaml --no-log --json
says out '"reason": "command"'
sed 's/write_frame(struct.pack("<7d", samples\["tick"\], ATTITUDE, thrust, \*attitude))/write_frame(struct.pack("<8d", samples["tick"], ATTITUDE, thrust, *attitude, samples["tick"] >= 1000))/' \
    "$source/examples/controller.py" >airdrop.py
sed 's|kind: plugin, library: ./airdrop.so, .*parameters: {.*}}|kind: process, command: python3 airdrop.py, period: 10 ms, parameters: {height: 6}}|; /^expect/,$d' \
    airdrop.yaml >python.yaml
try 0 "$volery" run python.yaml -q -o python.mcap
# Its event: tick 1001, the time, and the words.
LC_ALL=C grep -qaP '\x09\xe9\x03\x00{6}\x11.{8}\x1a\x07payload"\x07courier\*\x11parcel is dropped' python.mcap ||
    fail "Python's drop is not at step 1001"
try 0 "$volery" replay python.mcap
# Numbers of its own to look at, over the wire: the flight is the same, and they are in its table.
sed 's|write_frame(struct.pack("<7d", samples\["tick"\], ATTITUDE, thrust, \*attitude))|write_frame(struct.pack("<16d", samples["tick"], ATTITUDE, thrust, *attitude, 0, *[k * samples["tick"] for k in range(8)]))|' \
    "$source/examples/controller.py" >shows.py
printf 'volery: 1\nduration: 0.5 s\ndrones: [{vehicle: x500, controller: {kind: process, command: python3 shows.py}}]\n' >shows.yaml
sed "s|shows.py|$source/examples/controller.py|" shows.yaml >hides.yaml
try 0 "$volery" run shows.yaml -q -o shows.mcap
[ "$(final shows.yaml --no-log)" = "$(final hides.yaml --no-log)" ] || fail "numbers to look at change the flight"
try 0 "$volery" export shows.mcap --csv --fields reply.debug
[ "$(tail -1 out)" = "0.500000000,0,500,1000,1500,2000,2500,3000,3500" ] || fail "numbers to look at are not in the table: $(tail -1 out)"
try 0 "$volery" replay shows.mcap --live --allow-programs

# Where the drone starts: its pose, and on a planet what autopilots call home, for plug-ins, over the wire and as PX4 looks for it.
cat >home.c <<'TEXT'
#include "volery/plugin.h"
#include <stdio.h>
static void *init(const vy_plugin_start *s, char *why, size_t room)
{
    (void)why, (void)room;
    fprintf(stderr, "start %.6f %.6f %.6f %.6f home %d %.8f %.8f %.4f\n", s->position.x, s->position.y, s->position.z, s->attitude.w, s->has_home,
            s->home_latitude, s->home_longitude, s->home_altitude);
    return "";
}
static void step(void *self, const vy_samples *samples, vy_intent *intent) { (void)self, (void)samples, (void)intent; }
VY_PLUGIN(init, step, NULL)
TEXT
cc -shared -fPIC -I"$source/include" -o home.so home.c
cat >home.yaml <<'YAML'
volery: 1
duration: 0.01 s
world: {planet: {origin: {latitude: 30 deg, longitude: -60 deg, height: 100 m}}}
drones: [{start: {position: [0, 0, 7]}, controller: {kind: plugin, library: ./home.so}}]
YAML
cat >home.sh <<SH
#!/bin/sh
echo "\$PX4_HOME_LAT \$PX4_HOME_LON \$PX4_HOME_ALT" >place.txt
exec "$volery" serve ./home.so
SH
chmod +x home.sh
sed 's|kind: plugin, library: ./home.so|kind: process, command: ./home.sh|' home.yaml >home-process.yaml
for way in home home-process; do
    try 0 "$volery" run $way.yaml -q --no-log
    says err "start 0.000000 0.000000 7.000000 1.000000 home 1 0.52359878 -1.04719755 107.0000"
done
[ "$(cat place.txt)" = "30.0000000000 -60.0000000000 107.000" ] || fail "home in the environment: $(cat place.txt)"
sed '/^world/d' home-process.yaml >flat-process.yaml
try 0 "$volery" run flat-process.yaml -q --no-log
says err "home 0 0.00000000 0.00000000 0.0000"
[ "$(cat place.txt)" = "  " ] || fail "home in a flat world: $(cat place.txt)"

# A controller with a memory goes on from a branch as if nothing had been: it has been shown every sample.
cat >memory.c <<'TEXT'
#include "volery/plugin.h"
static double sum;
static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    (void)start, (void)why, (void)room;
    sum = 0.0;
    return &sum;
}
static void step(void *self, const vy_samples *samples, vy_intent *intent)
{
    double *s = self;
    *s += 1e-3 * samples->imu.gyro.x;
    intent->rung = VY_RUNG_RATES;
    intent->thrust = 0.2746;
    intent->rates.x = -*s;
}
VY_PLUGIN(init, step, 0)
TEXT
cc -shared -fPIC -I "$source/include" memory.c -o memory.so
printf 'volery: 1\nduration: 2 s\ndrones: [{controller: {kind: plugin, library: memory.so}}]\n' >memory.yaml
try 0 "$volery" run memory.yaml -q -o memory.mcap
try 0 "$volery" branch memory.mcap --at 1.2345 -q -o later.mcap --allow-programs
try 0 "$volery" diff memory.mcap later.mcap

# A stranger's log starts nothing: neither its process nor its plug-in, whose constructor would leave a file.
cat >trap.c <<TEXT
#include "volery/plugin.h"
#include <stdio.h>
__attribute__((constructor)) static void spring(void)
{
    FILE *f = fopen("$work/sprung", "w");
    if (f != NULL) fclose(f);
}
static int self;
static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    (void)start, (void)why, (void)room;
    return &self;
}
static void step(void *me, const vy_samples *samples, vy_intent *intent)
{
    (void)me, (void)samples;
    intent->rung = VY_RUNG_NONE;
}
VY_PLUGIN(init, step, 0)
TEXT
cc -shared -fPIC -I "$source/include" trap.c -o trap.so
printf 'volery: 1\nduration: 0.1 s\ndrones: [{name: alpha, controller: {kind: plugin, library: trap.so}}]\n' >trap-plugin.yaml
printf '#!/bin/sh\ntouch %s\nexec %s serve ./memory.so\n' "$work/sprung" "$volery" >trap.so.sh
chmod +x trap.so.sh
printf 'volery: 1\nduration: 0.1 s\ndrones: [{name: alpha, controller: {kind: process, command: ./trap.so.sh}}]\n' >trap-process.yaml
for kind in plugin process; do
    log=trap-$kind.mcap
    try 0 "$volery" check trap-$kind.yaml
    [ ! -e sprung ] || fail "check starts the $kind"
    try 0 "$volery" run trap-$kind.yaml -o $log
    says err "volery run: drone alpha: $(echo $kind | sed s/plugin/plug-in/)"
    try 0 "$volery" run trap-$kind.yaml -q -o again.mcap
    [ ! -s err ] || fail "run --quiet talks"
    rm sprung
    for command in "replay $log" "view $log -o trap.html" "plot $log -o trap.svg" "export $log --csv" "diff $log $log"; do
        try 0 "$volery" $command
        [ ! -e sprung ] || fail "$command starts the $kind"
    done
    for command in "replay $log --live" "branch $log --at 0.05 -o trap.mcap" \
        "branch $log --at 0.05 -o trap.mcap --set duration=0.2" \
        "branch $log --at 0.05 -o trap.mcap --set drones.alpha.controller.deadline=2"; do
        try 2 "$volery" $command
        says err "drone alpha, $(echo $kind | sed s/plugin/plug-in/)"
        says err "trap.so"
        says err "--allow-programs"
        [ "$(wc -l <err)" -eq 1 ] || fail "more than a sentence"
        [ ! -e sprung ] || fail "$command starts the $kind"
        [ ! -e trap.mcap ] || fail "$command leaves a file"
    done
    # One whose controller is replaced has nothing of the log's to start.
    try 0 "$volery" branch $log --at 0.05 -q -o trap.mcap --set 'drones.alpha.controller={kind: hold}'
    [ ! -e sprung ] || fail "branch starts what was replaced"
    try 0 "$volery" branch $log --at 0.05 -q -o trap.mcap --set "drones.alpha.controller={kind: plugin, library: $work/memory.so}"
    says err "plug-in $work/memory.so"
    [ ! -e sprung ] || fail "branch starts what was replaced"
    try 0 "$volery" replay $log --live --allow-programs
    says err "volery replay: drone alpha: $(echo $kind | sed s/plugin/plug-in/)"
    says err ", confined"
    grep -q "kernel lacks Landlock" err || [ ! -e sprung ] || fail "a confined $kind writes a file"
    rm -f sprung
    try 0 "$volery" replay $log --live --allow-programs --unconfined
    says err ", not confined"
    [ -e sprung ] || fail "allowed, and not started"
    rm sprung
    try 0 "$volery" branch $log --at 0.05 -q -o trap.mcap --allow-programs --unconfined
    [ -e sprung ] || fail "allowed, and not started"
    rm sprung trap.mcap
done
try 2 "$volery" replay trap-plugin.mcap --allow-programs
says err "--live"

# Endings.
cat >odd.yaml <<TEXT
volery: 1
duration: 1 s
drones:
  - name: alpha
    controller: {kind: plugin, library: $plugins/plugin_odd_plugin.so, deadline: 20 s, parameters: {mode: 1}}
TEXT
hasty="--set drones.alpha.controller.deadline=0.5" # for those that never reply; a busy machine is no reason to fail
# failsafe NAME OPTIONS... - with a failsafe odd.yaml flies on to its end, says who took over, and replays to the same bits.
failsafe() {
    what=$1
    shift
    try 0 "$volery" run odd.yaml "$@" --set drones.alpha.vehicle.drive.failsafe=hold -o safe.mcap
    says out "failsafe    alpha: took over 1 time, last at"
    says out "completed"
    try 0 "$volery" replay safe.mcap
    says out "identical: 1000 of 1000 steps"
    has_event safe.mcap failsafe alpha "hold: the controller" || fail "$what: no event"
}
for mode in 1 2 3 4 6 8 10 13 14 15; do # 13 to 15: exit(0), _exit(0), pthread_exit()
    limit=
    case $mode in 2 | 10) limit=$hasty ;; esac
    try 1 "$volery" run odd.yaml $limit --set drones.alpha.controller.parameters.mode=$mode -o odd.mcap
    says out "at 0.100 s the controller of alpha"
    try 0 "$volery" replay odd.mcap
    says out "identical: 100 of 100 steps"
    [ ! -e odd.mcap.part ] || fail "mode $mode leaves odd.mcap.part"
    failsafe plugin-$mode $limit --set drones.alpha.controller.parameters.mode=$mode
done
# Before the first step: one sentence and no log.
before() { # [want=STATUS] before NAME TEXT [VARIABLE=VALUE] OPTIONS... - odd.yaml does not start, and says so
    name=$1 text=$2
    shift 2
    status=0
    env "$@" -q -o "$name.mcap" >"$name.out" 2>"$name.err" || status=$?
    [ $status -eq "${want:-2}" ] && grep -qF "drone alpha: plug-in" "$name.err" && grep -qF "$text" "$name.err" &&
        [ "$(wc -l <"$name.err")" -eq 1 ] && [ ! -e "$name.mcap" ] && [ ! -e "$name.mcap.part" ] || echo "$name" >>before.failed
}
run="$volery run odd.yaml --set drones.alpha.controller.parameters.mode"
for mode in 16 17 18; do before start-$mode "its init ended before the run did, with exit status 0" $run=$mode; done
for how in exit quit leave; do
    before constructor-$how "its constructor ended before the run did, with exit status 0" ODD_CONSTRUCTOR=$how $run=0
done
before start-12 "its init crashed: signal 11, segmentation fault" $run=12
before constructor-crash "its constructor crashed: signal 11, segmentation fault" ODD_CONSTRUCTOR=crash $run=0
hasty_boot="$hasty --set drones.alpha.controller.boot=0.5"
want=3 before start-loop "its init was not ready within 1 s of wall clock: \`boot\` sets how long it may take" $run=19 $hasty_boot
want=3 before constructor-loop "its constructor was not ready within 1 s of wall clock" ODD_CONSTRUCTOR=loop $run=0 $hasty_boot
[ ! -e before.failed ] || fail "a plug-in that does not start: $(cat before.failed)"
# After the last step: a failure with a whole log, and nobody says completed.
after() { # after TEXT COMMAND...
    text=$1
    shift
    try 1 env "$@" -o odd.mcap --junit odd.xml
    says out "because     at 1.000 s the controller of alpha $text (after the last step)"
    says odd.xml "the controller of alpha $text (after the last step)"
    has_event odd.mcap outcome "" "at 1.000 s the controller of alpha" || fail "the log does not tell: $text"
    [ ! -e odd.mcap.part ] || fail "odd.mcap.part is left after: $text"
    try 0 "$volery" replay odd.mcap
    says out "identical: 1000 of 1000 steps"
    try 1 env "$@" --no-log --json
    says out '"status": "failed"'
    says out '"reason": "controller"'
}
after "crashed: signal 11, segmentation fault" $run=20
for mode in 21 22 23; do after "ended before the run did, with exit status 0" $run=$mode; done
after "did not reply within its deadline of 0.5 s: \`deadline\` sets it" $run=24 $hasty
after "crashed: signal 11, segmentation fault" ODD_DESTRUCTOR=crash $run=0
for how in exit quit leave; do after "ended before the run did, with exit status 0" ODD_DESTRUCTOR=$how $run=0; done
after "did not reply within its deadline of 0.5 s: \`deadline\` sets it" ODD_DESTRUCTOR=loop $run=0 $hasty
# What a plug-in prints does not get into a log, nor into JSON, on standard output.
try 0 env ODD_CONSTRUCTOR=print ODD_DESTRUCTOR=print $run=0 -q --json --no-log
[ "$(cat err)" = "printed
printed" ] || fail "a plug-in that prints"
python3 -m json.tool out >/dev/null || fail "no JSON beside a plug-in that prints"
for mode in crash hang flood garbage size nan end; do
    cat >odd.yaml <<TEXT
volery: 1
duration: 1 s
drones:
  - name: alpha
    controller: {kind: process, command: $plugins/odd_process $mode, deadline: $([ $mode = hang ] && echo 0.5 || echo 20) s}
TEXT
    try 1 "$volery" run odd.yaml -o odd.mcap
    case $mode in
    crash) says out "crashed: signal 11, segmentation fault" ;;
    hang) says out "did not reply within its deadline of 0.5 s: \`deadline\` sets it" ;;
    flood) says out "sent more than it was asked for" ;;
    garbage) says out "wrote 'hello from my controller' on stdout, which is the wire: print to stderr" ;;
    size) says out "sent a reply of the wrong size, 40 bytes" ;;
    end) says out "ended before the run did, with exit status 5" ;;
    esac
    says out "the controller of alpha"
    try 0 "$volery" replay odd.mcap
    failsafe process-$mode
done
# A controller that boots takes no simulated time; one that never is ready ends the run. Disarmed, motors are off; a stale
# reply leaves its last commands. Each replays, and lives again.
for mode in good boot disarm stale unready status; do
    sed "s|odd_process [a-z]*, deadline: [0-9.]* s|odd_process $mode, deadline: 20 s, boot: 0.3 s|" odd.yaml >status-$mode.yaml
    wanted=0
    case $mode in unready | status) wanted=1 ;; esac
    try $wanted "$volery" run status-$mode.yaml -o status-$mode.mcap
    [ $mode != unready ] || says out "was not ready within 0.3 s of wall clock: \`boot\` sets how long it may take"
    [ $mode != status ] || says out "the controller of alpha gave an invalid reply"
    try 0 "$volery" replay status-$mode.mcap
    try 0 "$volery" replay status-$mode.mcap --live --allow-programs
done
try 0 "$volery" diff status-good.mcap status-boot.mcap
[ "$(final status-good.yaml --no-log)" = "$(final status-stale.yaml --no-log)" ] || fail "a stale reply acts"
try 0 "$volery" export status-disarm.mcap --csv --fields reply.status,control.motors
tail -1 out | grep -q ',1,0,0,0,0$' || fail "motors of a disarmed drone: $(tail -1 out)"

# What a controller is told, over the wire: vehicle, sensors, parameters of any type, files by their digest, reference, RC.
echo weights >model.bin
cat >told.py <<'PY'
import json, math, struct, sys
def frame():
    head = sys.stdin.buffer.read(4)
    return sys.stdin.buffer.read(struct.unpack("<I", head)[0]) if len(head) == 4 else sys.exit(0)
def send(data):
    sys.stdout.buffer.write(struct.pack("<I", len(data)) + data)
    sys.stdout.buffer.flush()
start = json.loads(frame())
send(b"volery 1")
p, v = start["parameters"], start["vehicle"]
assert p == {"kp": 1.5, "on": True, "name": "PX4 v1", "list": [1, "a", {"b": [2.5]}], "model": p["model"]}, p
assert open(p["model"]).read() == "weights\n", p["model"]
assert start["instance"] == 1 and start["position"] == [1, 2, 3] and abs(start["origin"]["latitude"] - math.radians(30)) < 1e-12
assert len(v["rotors"]) == 4 and "spin" in v["rotors"][0] and len(v["rotors"][0]["position"]) == 3
assert v["mass"] == start["mass"] and v["motor_lag"] > 0 and v["thrust_coef"] > 0 and "battery" in v and "drive" in v
assert len(start["allocation"]) == 4 and len(start["thrust_limit"]) == 4
assert start["sensors"]["baro"]["period"] > 0 and start["sensors"]["imu"]["gyro_noise"] >= 0
assert "tilt_max" in start["safety"] and "kind" in start["estimator"]
while True:
    s = dict(zip(start["samples"], struct.unpack("<%dd" % len(start["samples"]), frame())))
    place = [s["reference.position." + a] for a in "xyz"]
    channels = [s["rc.channels[%d]" % i] for i in range(int(s["rc.count"]))]
    wanted = [] if s["time"] < 0.0995 or s["time"] > 0.2995 else [1500, 1500, 1000] if s["time"] < 0.1995 else [1500, 1500, 1900, 1200]
    assert channels == wanted, (s["time"], channels)
    assert abs(place[0] - 1 - min(max(s["time"] - 0.1, 0), 0.2) / 0.2) < 0.3, place
    assert abs(s["truth.position.x"] - 1) < 0.5 and s["air_temperature"] > 280
    send(struct.pack("<2d", s["tick"], 0))
PY
cat >told.yaml <<'YAML'
volery: 1
duration: 0.4 s
world: {planet: {origin: {latitude: 30 deg, longitude: 10 deg, height: 0}}}
drones:
  - name: other
    start: {position: [0, 0, 3]}
  - name: alpha
    vehicle: crazyflie2x-physical
    start: {position: [1, 2, 3]}
    sensors: {baro: bmp388}
    controller:
      kind: process
      command: python3 told.py
      truth: on
      setpoints: [{time: 0.1, position: [1, 2, 3]}, {time: 0.3, position: [2, 2, 3]}]
      parameters: {kp: 1.5, on: true, name: PX4 v1, list: [1, a, {b: [2.5]}], model: {file: model.bin}}
      rc:
        - {time: 0.1, channels: [1500, 1500, 1000]}
        - {time: 0.2, channels: [1500, 1500, 1900, 1200]}
        - {time: 0.3, channels: []}
YAML
try 0 "$volery" run told.yaml -o told.mcap
try 0 "$volery" replay told.mcap --live --allow-programs
# Another place is the same configuration; another content is not, and lives no more. A replay needs no file.
hash_of() { "$volery" check "$1" | sed -n 's/^# configuration hash //p'; }
mkdir -p elsewhere
cp model.bin elsewhere/weights
sed 's|file: model.bin|file: elsewhere/weights|' told.yaml >moved.yaml
[ "$(hash_of told.yaml)" = "$(hash_of moved.yaml)" ] || fail "a file's place changes the configuration"
echo others >model.bin
[ "$(hash_of told.yaml)" != "$(hash_of moved.yaml)" ] || fail "a file's content does not change the configuration"
try 2 "$volery" replay told.mcap --live --allow-programs
says err "parameters.model: $(pwd -P)/model.bin has changed: its digest is"
rm model.bin
try 0 "$volery" replay told.mcap
# Mistakes, each with its place.
mistake() { # mistake TEXT OLD NEW
    sed "s|$2|$3|" told.yaml >bad.yaml
    echo weights >model.bin
    try 2 "$volery" check bad.yaml
    says err "$1"
    grep -q '^bad.yaml:[0-9]*:[0-9]*: ' err || fail "no place: $1"
}
mistake "model: there is no ./none.bin" "model.bin" "./none.bin"
mistake "model: cannot read ./elsewhere" "model.bin" "./elsewhere"
mistake "model: a file has the keys file and digest alone" "file: model.bin" "file: model.bin, mode: 1"
mistake "model: a digest is 16 hexadecimal digits" "file: model.bin" "file: model.bin, digest: abc"
mistake "kp must be a finite number" "kp: 1.5" "kp: .nan"
mistake "kp: expected a value, got nothing" "kp: 1.5" "kp: "
mistake "rc: time must be after that of the line before it" "time: 0.2, channels" "time: 0.1, channels"
mistake "channels must be between 0 and 2200" "1900" "19000"
mistake "truth cannot be" "truth: on" "truth: maybe"
mistake "boot must be between 0 and" "truth: on" "boot: -1"
try 2 "$volery" run odd.yaml --set "drones.alpha.controller.command=/no/such/program" --no-log
says err "command: there is no /no/such/program"
try 3 "$volery" run odd.yaml --set "drones.alpha.controller.command=false" --no-log
says err "drone alpha: controller"
try 2 "$volery" run odd.yaml --set "drones.alpha.controller.parameters={9: 1}" --no-log
says err "parameters: expected names"
try 2 "$volery" run "$source/scenarios/hover.yaml" --set "drones[0].controller.deadline=1" --no-log
says err "deadline does not apply to kind hold"

# Every fault is in the log, beyond the 64th too, and counted.
{
    printf 'volery: 1\nduration: 1 s\ndrones: [{name: alpha}]\nfaults:\n'
    for k in $(seq 10 79); do
        echo "  - {kind: sensor_bias, channel: gyro, bias: [0, 0, 0.001], start: 0.$k, duration: 5 ms}"
    done
} >faults.yaml
try 0 "$volery" run faults.yaml --set log.display=none -o faults.mcap
says out "faults      alpha: 70 times"
[ "$(grep -aoF 'fault"' faults.mcap | wc -l)" -eq 140 ] || fail "not every fault begins and ends in the log"
# Those of sensors by their channel; what they did to the samples replays.
try 0 "$volery" run "$source/scenarios/sensor-faults.yaml" --set log.display=none -o faults.mcap
says out "sensor_bias of baro"
says out " of gps"
for text in 'sensor_dropout of gps_position begins' 'sensor_stuck of baro ends' 'samples of gps are rejected'; do
    grep -qaF "$text" faults.mcap || fail "the log does not say $text"
done
try 0 "$volery" replay faults.mcap

# Killed itself, it leaves no controller behind: a process in the midst of its step and what it started, a plug-in in
# an endless loop, one that waits for its next question.
gone() { for _ in $(seq 500); do kill -0 "$1" 2>/dev/null || return 0; sleep 0.02; done; return 1; }
sed -i 's|odd_process [a-z]*, deadline: 20 s|odd_process hang child, deadline: 600 s|' odd.yaml
"$volery" run odd.yaml --no-log >out 2>err &
pid=$!
for _ in $(seq 500); do [ -s child ] && break; sleep 0.02; done
[ -s child ] || fail "the controller did not start"
controller=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$(cat child)/stat")
kill -9 $pid
gone "$controller" || fail "the controller outlives the run"
gone "$(cat child)" || fail "what the controller started outlives the run"
for mode in 2 0; do
    "$volery" run odd.yaml --no-log --realtime --set duration=1000 --set "drones.alpha.controller={kind: plugin, library: \
$plugins/plugin_odd_plugin.so, deadline: 600 s, parameters: {mode: $mode}}" >out 2>err &
    pid=$!
    controller=
    for _ in $(seq 500); do
        controller=$(cat /proc/$pid/task/$pid/children 2>/dev/null) || true
        [ -z "$controller" ] || break
        sleep 0.02
    done
    [ -n "$controller" ] || fail "the plug-in did not start"
    sleep 0.3
    kill -9 $pid
    gone $controller || fail "the plug-in of mode $mode outlives the run"
done
echo "controller_test: ok"
