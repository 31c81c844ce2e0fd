// commands.c - the one table of commands and options.
#include "command.h"
#include <stddef.h>
#include <string.h>

#define JSON_OPTION                                                                       \
    {                                                                                     \
        "json", 0, NULL, WORD_OTHER, 0, "print one JSON object on stdout instead of text" \
    }
#define SET_OPTION                                              \
    {                                                           \
        "set", 0, "KEY=VALUE", WORD_OTHER, OPTION_REPEATS,      \
            "change one value of the scenario; may be repeated" \
    }
#define ALLOW_OPTION                                                                             \
    {                                                                                            \
        "allow-programs", 0, NULL, WORD_OTHER, 0,                                                \
            "start the processes, plug-ins and pilot devices that the log names: trust it first" \
    }
#define FOLDER_OPTION                                                                                \
    {                                                                                                \
        "folder", 0, "DIR", WORD_FILE, 0,                                                            \
            "where the programs are that the log names; by default beside the log, else this folder" \
    }
#define UNCONFINED_OPTION                                                        \
    {                                                                            \
        "unconfined", 0, NULL, WORD_OTHER, 0,                                    \
            "let programs that the log names write anywhere and use the network" \
    }
#define SIGN_OPTION                                                                           \
    {                                                                                         \
        "sign", 0, "KEY.pem", WORD_FILE, 0,                                                   \
            "sign the log with this Ed25519 private key (openssl genpkey -algorithm ed25519)" \
    }
#define END \
    {       \
        0   \
    }

static const option run_options[] = {
    {"output", 'o', "RUN.mcap", WORD_FILE, 0,
     "where the log goes, - is stdout; by default the scenario's name in this folder"},
    {"seed", 0, "N", WORD_OTHER, 0, "seed of all noise, instead of the scenario's"},
    {"duration", 0, "S", WORD_OTHER, 0, "length of the flight in seconds, instead of the scenario's"},
    SET_OPTION,
    {"log-state", 0, "every", WORD_CHOICE, 0,
     "log the full state at every step, so that replay names the exact step"},
    {"nap", 0, "strict", WORD_CHOICE, 0, "compute every effect: nothing is negligible"},
    {"no-log", 0, NULL, WORD_OTHER, 0, "write no log"},
    SIGN_OPTION,
    {"realtime", 0, NULL, WORD_OTHER, 0,
     "no faster than the clock, so that a person can fly; the result is the same"},
    {"watch", 0, NULL, WORD_OTHER, 0,
     "show the flight while it flies, in a browser or Foxglove; prints the address; the result is the same"},
    {"port", 0, "N", WORD_OTHER, 0, "the port of --watch on this machine; by default a free one"},
    {"address", 0, "A", WORD_OTHER, 0,
     "the IPv4 address of this machine that viewers reach, 0.0.0.0 is all; by default 127.0.0.1: nobody "
     "elsewhere"},
    {"threads", 0, "N", WORD_OTHER, 0,
     "threads that share the contacts of a step, 0 is one per core; the result is the same"},
    {"junit", 0, "FILE", WORD_FILE, 0, "write the outcome as JUnit XML, for systems that run tests"},
    JSON_OPTION,
    {"quiet", 'q', NULL, WORD_OTHER, 0, "no summary and no progress; errors and failures are still printed"},
    END,
};
static const example run_examples[] = {
    {"volery run first-flight", "fly the first flight that came with Volery; the log is first-flight.mcap"},
    {"volery run my.yaml --seed 7 --duration 60 -o seven.mcap",
     "a minute with other noise, under another name"},
    {"volery run my.yaml --set drones.alpha.vehicle.mass=0.030", "the same flight with a heavier drone"},
    {"volery run my.yaml --watch --realtime",
     "look at it while it flies; pause it, step it, change its speed"},
    END,
};

static const option check_options[] = {
    JSON_OPTION,
    SET_OPTION,
    {"schema", 0, NULL, WORD_OTHER, 0,
     "print the JSON Schema of scenarios, which editors use to help while typing"},
    {"reference", 0, NULL, WORD_OTHER, OPTION_HIDDEN, "print the reference page of the scenario format"},
    END,
};
static const example check_examples[] = {
    {"volery check my.yaml",
     "every value that will be flown, defaults included, and the configuration's hash"},
    {"volery check my.yaml --set step=0.0005", "the same with one value changed"},
    {"volery check --schema > scenario.schema.json", "the schema, for an editor"},
    END,
};

static const option replay_options[] = {
    {"live", 0, NULL, WORD_OTHER, 0, "start the controllers again and compare their replies with the log's"},
    ALLOW_OPTION,
    FOLDER_OPTION,
    UNCONFINED_OPTION,
    JSON_OPTION,
    {"quiet", 'q', NULL, WORD_OTHER, 0, "print nothing when the replay is identical"},
    END,
};
static const example replay_examples[] = {
    {"volery replay first-flight.mcap",
     "prints \"identical\" and the hash, or where the replay first differs"},
    {"volery replay mine.mcap --live --allow-programs", "does my changed controller still answer as it did?"},
    {"volery replay killed.mcap.part", "what a killed run left behind, as far as it goes"},
    END,
};

static const option diff_options[] = {JSON_OPTION, END};
static const example diff_examples[] = {
    {"volery diff monday.mcap tuesday.mcap", "changed settings, then the first step at which the runs part"},
    {"volery diff a.mcap b.mcap --json", "the same for a program"},
    END,
};

static const option branch_options[] = {
    {"at", 0, "T", WORD_OTHER, 0, "the moment to go on from, in seconds of the log; needed"},
    {"output", 'o', "NEW.mcap", WORD_FILE, 0, "the log of the branch; needed"},
    SET_OPTION,
    ALLOW_OPTION,
    FOLDER_OPTION,
    UNCONFINED_OPTION,
    SIGN_OPTION,
    JSON_OPTION,
    {"quiet", 'q', NULL, WORD_OTHER, 0, "no summary and no progress"},
    END,
};
static const example branch_examples[] = {
    {"volery branch run.mcap --at 12.5 -o again.mcap", "fly the rest again: the same final hash"},
    {"volery branch run.mcap --at 12.5 -o soft.mcap --set drones.alpha.controller.gains.rate=15",
     "what if the rate gain had been 15 from there on"},
    END,
};

static const option recover_options[] = {
    {"output", 'o', "RUN.mcap", WORD_FILE, 0, "where the log goes; by default the name without .part"},
    {"quiet", 'q', NULL, WORD_OTHER, 0, "print nothing when it is done"},
    END,
};
static const example recover_examples[] = {
    {"volery recover killed.mcap.part", "the log killed.mcap, whole as far as the run got"},
    END,
};

static const option watch_options[] = {
    {"port", 0, "N", WORD_OTHER, 0, "the port of this machine; by default any that is free"},
    {"address", 0, "A", WORD_OTHER, 0,
     "the IPv4 address of this machine that viewers reach, 0.0.0.0 is all; by default 127.0.0.1: nobody "
     "elsewhere"},
    {"paced", 0, NULL, WORD_OTHER, 0,
     "what flies asks over standard input before it steps, as docs/view.md says: it can be paused, stepped "
     "and disturbed"},
    END,
};
static const example watch_examples[] = {
    {"volery watch run.mcap", "the flight that a Python program records as run.mcap, as it flies"},
    END,
};

static const option verify_options[] = {
    {"key", 0, "PUB.pem", WORD_FILE, 0, "the log must be signed by this Ed25519 public key"},
    {"no-replay", 0, NULL, WORD_OTHER, 0, "check digests and signature alone, without flying the log again"},
    JSON_OPTION,
    {"quiet", 'q', NULL, WORD_OTHER, 0, "print nothing when all is right"},
    END,
};
static const example verify_examples[] = {
    {"volery verify run.mcap", "is it whole and unchanged, and does it fly again to the last bit?"},
    {"volery verify run.mcap --key alice.pub.pem", "and did Alice sign it?"},
    {"openssl pkey -in key.pem -pubout -out key.pub.pem", "the public half of a key, to give away"},
    END,
};

static const option export_options[] = {
    {"csv", 0, NULL, WORD_OTHER, 0, "comma-separated values with a header line"},
    {"parquet", 0, NULL, WORD_OTHER, 0, "a Parquet file, which pandas, polars and DuckDB read"},
    {"kml", 0, NULL, WORD_OTHER, 0, "the path over a planet as KML, for Google Earth and maps"},
    {"gpx", 0, NULL, WORD_OTHER, 0, "the same as a GPX track with times"},
    {"drone", 0, "NAME", WORD_OTHER, 0, "which drone; needed when the log holds several"},
    {"fields", 0, "A,B", WORD_OTHER, 0,
     "only these fields, like body.position,geodetic,forces.gravity; by default all"},
    {"rate", 0, "HZ", WORD_OTHER, 0, "rows at an even rate; by default one per record"},
    {"output", 'o', "FILE", WORD_FILE, 0, "where it goes; by default stdout"},
    END,
};
static const example export_examples[] = {
    {"volery export run.mcap --csv -o run.csv", "all fields of the only drone"},
    {"volery export run.mcap --csv --drone alpha --fields body.position", "time and position, on stdout"},
    {"volery export run.mcap --parquet --rate 50 -o run.parquet", "fifty rows a second, for pandas"},
    {"volery export run.mcap --csv --fields geodetic",
     "latitude, longitude, altitude and what goes with them"},
    {"volery export run.mcap --kml --rate 1 -o run.kml", "the path over the Earth, a point a second"},
    END,
};

static const option view_options[] = {
    {"output", 'o', "RUN.html", WORD_FILE, 0, "where the page goes; by default beside the log"},
    {"open", 0, NULL, WORD_OTHER, 0, "open the page in the browser"},
    {"size", 0, "MB", WORD_OTHER, 0, "how large the page may become, 2 to 50; by default 50"},
    {"quiet", 'q', NULL, WORD_OTHER, 0, "print nothing when it is done"},
    END,
};
static const example view_examples[] = {
    {"volery view first-flight.mcap --open", "look at the flight"},
    {"volery view monday.mcap tuesday.mcap -o both.html",
     "two runs in one scene, with their first difference"},
    END,
};

static const option plot_options[] = {
    {"output", 'o', "FILE", WORD_FILE, 0, "an .svg, .png or .pdf file; by default RUN.svg beside the log"},
    {"signals", 0, "A,B", WORD_OTHER, OPTION_REPEATS,
     "fields of one panel, or position, error or angles; may be repeated"},
    {"drone", 0, "NAME", WORD_OTHER, 0, "which drone; needed when the log holds several"},
    {"from", 0, "S", WORD_OTHER, 0, "where the time axis begins, in seconds"},
    {"to", 0, "S", WORD_OTHER, 0, "where it ends"},
    {"width", 0, "PT", WORD_OTHER, 0, "width of the figure in points; by default 560"},
    {"panel", 0, "PT", WORD_OTHER, 0, "height of each panel in points; by default 104"},
    {"scale", 0, "N", WORD_OTHER, 0, "pixels per point of a .png; by default 3"},
    {"dark", 0, NULL, WORD_OTHER, 0, "light lines on a dark ground"},
    END,
};
static const example plot_examples[] = {
    {"volery plot first-flight.mcap", "position, error, attitude and motors as first-flight.svg"},
    {"volery plot run.mcap --signals forces.linear_drag --signals body.rate,control.rates --from 5 --to 8 -o "
     "f.pdf",
     "two panels of three seconds, as a PDF"},
    END,
};

static const option no_options[] = {END};
static const option new_options[] = {
    {"language", 0, "c|python", WORD_CHOICE, 0, "of the controller: c, by default, or python"},
    END,
};
static const example new_examples[] = {
    {"volery new controller mine && cd mine && make fly", "write, build and fly a controller of your own"},
    {"volery new controller mine --language python && cd mine && make fly", "the same in Python"},
    END,
};
enum { SITL_ARGUMENTS_MAX = 24 };
static const example sitl_examples[] = {
    {"volery sitl -- ./betaflight_SITL", "for `command` of a controller of kind betaflight"},
    {"volery sitl -- sleep 100", "is over at once"},
    END,
};
static const example serve_examples[] = {
    {"controller: {kind: process, command: volery serve ./mine.so}",
     "in a scenario: the plug-in in a process of its own"},
    END,
};
static const option bench_options[] = {
    {"json", 0, NULL, WORD_OTHER, 0, "print one JSON object a line instead of text"},
    {"once", 0, NULL, WORD_OTHER, 0, "do the work of each once: to check hashes, not to measure"},
    {"echo", 0, NULL, WORD_OTHER, OPTION_HIDDEN, "be the other side of the benchmark call-process"},
    END,
};
static const example bench_examples[] = {
    {"volery bench", "all of them"},
    {"volery bench hover", "one of them"},
    END,
};
static const option list_options[] = {JSON_OPTION, END};
static const example list_examples[] = {
    {"volery list", "everything, by kind"},
    {"volery list vehicles", "what a drone's vehicle can be called"},
    {"volery list parts --json", "the same of sensors, for a program"},
    END,
};
static const option campaign_options[] = {
    {"output", 'o', "DIR", WORD_FILE, 0,
     "the folder of the results, by default PLAN-results; of fly: the log"},
    {"jobs", 'j', "N", WORD_OTHER, 0, "processes at a time; by default one per core"},
    {"shards", 0, "N", WORD_OTHER, 0, "pieces of the campaign, fixed when the folder is started"},
    {"search", 0, "worst", WORD_CHOICE, 0,
     "of run: look for the worst case, each generation by the scores of those before"},
    {"slurm", 0, NULL, WORD_OTHER, 0, "of submit: as an array job of Slurm, by sbatch"},
    {"sbatch", 0, "OPTION", WORD_OTHER, OPTION_REPEATS,
     "of submit: an option of sbatch, like --sbatch=--time=10; may be repeated"},
    {"other", 0, "DIR", WORD_FILE, 0,
     "of compare: the folder of the second campaign; of fly --search: that of the search"},
    {"junit", 0, "FILE", WORD_FILE, 0, "write the answer as JUnit XML, for systems that run tests"},
    {"shard", 0, "I", WORD_OTHER, 0, "fly this piece alone; by default what Slurm or mpirun says, else all"},
    JSON_OPTION,
    {"quiet", 'q', NULL, WORD_OTHER, 0, "no summary and no progress; errors are still printed"},
    END,
};
static const example campaign_examples[] = {
    {"volery campaign check wind.yaml", "the first cases and what the whole will cost"},
    {"volery campaign run wind.yaml -o wind",
     "fly all of it on all cores; the same command goes on after Ctrl-C"},
    {"volery campaign fly wind.yaml 1234 -o case.mcap", "fly one case again, with a log"},
    {"volery campaign submit wind.yaml -o wind --slurm --sbatch=--time=10",
     "hand what is missing to a cluster; again, when tasks were lost"},
    END,
};
static const option fit_options[] = {
    {"vehicle", 0, "BASE", WORD_FILE, 0, "the vehicle to start from: a preset or a vehicle file; needed"},
    {"mass", 0, "KG", WORD_OTHER, 0, "the mass as flown: motion tells ratios to it; needed"},
    {"output", 'o', "MY.yaml", WORD_FILE, 0, "where the fitted vehicle goes; needed"},
    {"mapping", 0, "COLUMNS", WORD_FILE, 0,
     "of a CSV: which column is what, a file or a text like 'time=t_ms ms, motor.0=m4 /65535'"},
    {"page", 0, "FIT.html", WORD_FILE, 0, "a page with the figures and plots, which needs no network"},
    {"for", 0, "parameters|prediction", WORD_CHOICE, 0,
     "the vehicle's own figures, by default, or the least errors on flights like this one"},
    {"drone", 0, "NAME", WORD_OTHER, 0, "of a log of Volery that holds several"},
    {"from", 0, "S", WORD_OTHER, 0, "where the part begins that is fitted; by default 0"},
    {"to", 0, "S", WORD_OTHER, 0, "where it ends; the rest is held out; by default half of the flight"},
    JSON_OPTION,
    {"quiet", 'q', NULL, WORD_OTHER, 0, "no summary; errors are still printed"},
    END,
};
static const example fit_examples[] = {
    {"volery fit flight.csv --mapping columns.yaml --vehicle crazyflie21-brushless --mass 0.045 -o mine.yaml",
     "a vehicle file from a table; columns.yaml says which column is what"},
    {"volery fit run.mcap --vehicle x500 --mass 2.1 -o mine.yaml", "the same from a log of Volery"},
    END,
};
static const example help_examples[] = {{"volery help run", "everything about run"}, END};
static const example completion_examples[] = {
    {"source <(volery completion bash)", "complete commands, options and files in this bash"},
    {"volery completion zsh > ~/.zfunc/_volery", "for zsh, in a folder of its fpath"},
    END,
};
static const example manual_examples[] = {{"volery manual | man -l -", "read it"}, END};

COMMAND_NAMED(run);
COMMAND_NAMED(check);
COMMAND_NAMED(replay);
COMMAND_NAMED(diff);
COMMAND_NAMED(branch);
COMMAND_NAMED(recover);
COMMAND_NAMED(watch);
COMMAND_NAMED(verify);
COMMAND_NAMED(export);
COMMAND_NAMED(view);
COMMAND_NAMED(plot);
COMMAND_NAMED(new);
COMMAND_NAMED(serve);
COMMAND_NAMED(sitl);
COMMAND_NAMED(bench);
COMMAND_NAMED(list);
COMMAND_NAMED(campaign);
COMMAND_NAMED(fit);
COMMAND_NAMED(help);
COMMAND_NAMED(completion);
COMMAND_NAMED(manual);

const command vy_commands[] = {
    {"run", "SCENARIO", WORD_SCENARIO, 1, 1, "fly a scenario and log it",
     "Reads a scenario (YAML), flies it from start to end and writes a log that holds everything needed to "
     "have the\n"
     "same flight again. SCENARIO is a file, or the name of a scenario that came with Volery.\n"
     "\n"
     "The log is written beside its final name as RUN.mcap.part and renamed when it is whole: an older log "
     "stays\n"
     "until then. What a killed run left there is kept as RUN.mcap.part.1; volery recover makes a log of it. "
     "Ctrl-C ends the flight early but properly: the log is finished and marked as interrupted.\n"
     "\n"
     "What the scenario expects (expect:) is measured at every step; a broken expectation or safety limit "
     "makes the\n"
     "exit status 1. Tilt, speed and errors of the summary are taken at every tenth step.",
     run_options, run_examples, vy_cmd_run},
    {"check", "SCENARIO", WORD_SCENARIO, 0, 1, "check a scenario without flying it",
     "Prints the resolved configuration, that is every value with its defaults, and its hash: two scenarios "
     "with\n"
     "equal hashes fly the same, bit for bit. Mistakes are all reported in one go, each with file, line and "
     "column;\n"
     "a missing program, library or device of a controller is one. Nothing is started.",
     check_options, check_examples, vy_cmd_check},
    {"replay", "RUN.mcap", WORD_LOG, 1, 1, "fly a log again and compare every step",
     "Rebuilds the world from the log alone, flies it again and compares the hash of every step, every "
     "full\n"
     "state and every other message, up to the last step and the final hash of the log's result. Exit status "
     "0: the run stands, to "
     "the last\n"
     "bit. Exit status 1: it does not, and the first differing step, the field and both values are named (at "
     "the step\n"
     "itself when the log was made with --log-state every, else at the next full state); or the log lacks "
     "what it\n"
     "should have, and the step after which the replay cannot continue is named. A log that was cut off is "
     "compared as\n"
     "far as it goes, and said to be incomplete.\n"
     "\n"
     "A log of another physics revision is not expected to replay; that is said instead.",
     replay_options, replay_examples, vy_cmd_replay},
    {"diff", "A.mcap B.mcap", WORD_LOG, 2, 2, "compare two logs",
     "Lists the settings in which two runs differ, then the first step at which their states differ, the "
     "field and\n"
     "both values. Exit status 0 when the runs are identical.",
     diff_options, diff_examples, vy_cmd_diff},
    {"branch", "RUN.mcap", WORD_LOG, 1, 1, "go on from a moment of a log",
     "Brings the world back to a logged moment, changes what --set asks for, and flies on to the scenario's "
     "end. The\n"
     "new log names its parent. With nothing changed it ends with the parent's hash, unless something was "
     "injected later.\n"
     "\n"
     "A log can name any program as a drone's controller. None of them is started without --allow-programs; "
     "those\n"
     "that --set names in their place are yours.",
     branch_options, branch_examples, vy_cmd_branch},
    {"watch", "RUN.mcap", WORD_LOG, 1, 1, "watch a flight that another program records, as it flies",
     "Reads RUN.mcap.part while it is written, by a World of Python or a program in C, and shows the flight "
     "in a page\n"
     "and to Foxglove, as volery run --watch does; it ends with the recording. Without --paced it can only "
     "be "
     "watched:\n"
     "what flies it sets its pace.",
     watch_options, watch_examples, vy_cmd_watch},
    {"recover", "RUN.mcap.part", WORD_LOG, 1, 1, "make a log of what a killed run left",
     "Copies every whole chunk of an unfinished log into a new one, with an index, marked as cut off: all "
     "other\n"
     "commands say so and at which step, and replay goes that far. What the run left is not touched, and a "
     "log\n"
     "that is there already is not replaced unless -o names it.",
     recover_options, recover_examples, vy_cmd_recover},
    {"verify", "RUN.mcap", WORD_LOG, 1, 1, "check that a log is whole, unchanged and true",
     "Reads the log from front to back: checksums, the digest at the end of every chunk and in its result, "
     "its\n"
     "signature if it has one or --key asks for it; then flies it again and compares every step and every "
     "message.\n"
     "Exit status 1: damaged, changed, cut off, of another physics revision, not signed as asked, or it does "
     "not fly\n"
     "again as it says; the first place is named. A digest without a signature proves no author: whoever "
     "changes a\n"
     "log can compute a new one (docs/security.md).",
     verify_options, verify_examples, vy_cmd_verify},
    {"export", "RUN.mcap", WORD_LOG, 1, 1, "write the records of a log as a table",
     "One line per record of a drone: the time and the values, with all their digits. docs/log.md lists the "
     "fields.\n"
     "With --rate the lines are evenly spaced, and each holds the latest record at or before its time.",
     export_options, export_examples, vy_cmd_export},
    {"view", "RUN.mcap [OTHER.mcap]", WORD_LOG, 1, 2, "make a page that shows a flight",
     "Writes one HTML file that needs no server and no network: the flight in 3D, a timeline with the "
     "events,\n"
     "plots, and what the run was. Two logs are shown together, with the first step at which they differ. A "
     "log\n"
     "that would make the page too large is thinned: whole records are left out, and the page says so.",
     view_options, view_examples, vy_cmd_view},
    {"new", "controller NAME", WORD_FIRST, 0, 2, "write a controller to start from",
     "Makes the folder NAME with a controller that flies the scenario's reference, a scenario with a square "
     "for it,\n"
     "and a Makefile: make fly. In C it is a plug-in, in Python a program that needs the standard library "
     "alone.",
     new_options, new_examples, vy_cmd_new},
    {"serve", "PLUGIN.so", WORD_FILE, 0, 1, "run a plug-in as a process",
     "Speaks the wire of a controller process (docs/controllers.md) on stdin and stdout, and answers with "
     "the "
     "plug-in:\n"
     "the same bits as the plug-in itself, and whatever it breaks is not the simulation's.",
     no_options, serve_examples, vy_cmd_serve},
    {"sitl", "-- PROGRAM [ARG...]", WORD_FILE, 1, SITL_ARGUMENTS_MAX, "run a program in simulated time",
     "Starts a firmware's program, as it is, with a library that answers for its clocks: threads run one at "
     "a "
     "time\n"
     "in a fixed order, each reading of a clock costs 200 ns, and time moves on only when all of them wait. "
     "As "
     "the\n"
     "command of a controller (docs/autopilots.md) its time is the scenario's and its network ends in "
     "Volery: "
     "the\n"
     "same seed is the same flight, and no port is taken. Alone it waits for nothing.\n"
     "\n"
     "PROGRAM is one that uses the system's C library, and no script; what it starts itself runs by the "
     "wall's "
     "clock.",
     no_options, sitl_examples, vy_cmd_sitl},
    {"plot", "RUN.mcap", WORD_LOG, 1, 1, "draw a figure of a flight, for a paper",
     "Lines over time in panels, one below the other, with units and legends, in the colours of the page of\n"
     "volery view. docs/log.md lists the fields; position has the reference beside it, error is the "
     "distance\n"
     "from it, angles is the attitude as pilots read it: yaw, pitch and roll in north-east-down.",
     plot_options, plot_examples, vy_cmd_plot},
    {"bench", "[NAME]", WORD_BENCH, 0, 1, "run the benchmarks",
     "Each benchmark does a fixed amount of work several times, prints its best speed and checks the hash of "
     "what it\n"
     "computed: a fast wrong answer is exit status 1.",
     bench_options, bench_examples, vy_cmd_bench},
    {"campaign", "check|run|submit|status|missing|merge|fly|compare PLAN [CASE|PLAN]", WORD_FIRST, 2, 3,
     "fly a scenario many times, on one computer or a cluster",
     "PLAN is YAML: a scenario, what varies, how it is drawn, how many cases (docs/campaigns.md). Case i "
     "depends on\n"
     "the plan and i alone, so its result is the same wherever and in whatever order it is flown.\n"
     "\n"
     "check prints the first cases and what all of them will cost. run flies the missing shards of DIR on "
     "all "
     "cores and\n"
     "merges them; with --shard, or under sbatch --array, srun or mpirun, it flies that one shard. A killed "
     "run loses\n"
     "the shards in flight and nothing else. submit hands those that are missing to Slurm, status counts "
     "them, "
     "missing\n"
     "prints their numbers as sbatch --array takes them. merge proves that all are there, prints the hash of "
     "all final\n"
     "hashes and the answers, and writes results.parquet and campaign.html. fly flies one case again with a "
     "log,\n"
     "compare compares two campaigns on the same cases by pairs.\n"
     "\n"
     "Results of another plan, scenario, controller program, version or physics revision are refused. Exit "
     "status 1:\n"
     "a case failed and no limit is shown to be undercut, or shards are missing; 130: stopped by Ctrl-C.",
     campaign_options, campaign_examples, vy_cmd_campaign},
    {"list", "[vehicles|parts|scenarios|controllers|joints|faults|benchmarks]", WORD_CHOICE, 0, 1,
     "list what can be named",
     "Names for a scenario or the command line, each with a few words: built-in vehicles, sensors as sold, "
     "scenarios\n"
     "that came with Volery, kinds of controllers, joints and faults, benchmarks.",
     list_options, list_examples, vy_cmd_list},
    {"fit", "LOG", WORD_FILE, 1, 1, "make a vehicle file from a recorded flight",
     "Reads a flight (CSV, PX4's ULog or a log of Volery) and finds thrust, torque, inertia, lags, drag, "
     "centre\n"
     "of mass, delays and offsets of sensors: what the data can tell, by predicting it a quarter of a second "
     "ahead\n"
     "again and again with the equations that simulate. What they cannot tell stays as in the base and is "
     "named.\n"
     "\n"
     "The file has a 95 % interval beside each number, and how well the vehicle predicts the part of the "
     "flight that\n"
     "was held out, beside its base and two baselines. docs/fit.md has the quantities of a mapping and the "
     "method.",
     fit_options, fit_examples, vy_cmd_fit},
    {"help", "[COMMAND]", WORD_COMMAND, 0, 1, "explain a command", "The same as volery COMMAND --help.",
     no_options, help_examples, vy_cmd_help},
    {"completion", "bash|zsh", WORD_CHOICE, 1, 1, "print the completion script of a shell",
     "Made from the same table as this help. An installed Volery has put both scripts where the shells look.",
     no_options, completion_examples, vy_cmd_completion},
    {"manual", "", WORD_OTHER, 0, 0, "print the man page", "The page volery(1), as roff.", no_options,
     manual_examples, vy_cmd_manual},
};
const int vy_command_count = (int)(sizeof vy_commands / sizeof vy_commands[0]);

const char vy_exit_text[] =
    "0  done, and everything expected was met\n"
    "1  the run failed its own expectations or safety limits, or a replay or comparison differs\n"
    "2  bad usage or bad input: the sentence on stderr says what\n"
    "3  the system failed: a full disk, a closed pipe, no memory\n"
    "130, 143, 129  stopped by Ctrl-C, SIGTERM or SIGHUP (128 plus the signal's number), after a proper "
    "end\n";

const command *vy_command_find(const char *name)
{
    for (int i = 0; i < vy_command_count; ++i) {
        if (strcmp(vy_commands[i].name, name) == 0) return &vy_commands[i];
    }
    return NULL;
}

static int is_option(const option *o, const char *name, char letter)
{
    return letter != '\0' ? o->letter == letter : strcmp(o->name, name) == 0;
}

const option *vy_command_option(const command *cmd, const char *name, char letter)
{
    for (const option *o = cmd->options; o->name != NULL; ++o) {
        if (is_option(o, name, letter)) return o;
    }
    return is_option(&vy_help_option, name, letter) ? &vy_help_option : NULL;
}
