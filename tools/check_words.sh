#!/bin/sh
# check_words.sh - no file names a path of one machine or a package registry: both mean nothing to a reader
# elsewhere. No code has words of our own where the field has one (docs/glossary.md). This file is left out, since it
# has to name them.
set -eu
cd "$(dirname "$0")/.."

paths='(^|[^A-Za-z0-9._/-])/(work|home|root|Users|mnt)/[A-Za-z0-9._-]'
hosts='(registry\.npmjs\.org|registry\.yarnpkg\.com|files\.pythonhosted\.org|pypi\.org/simple|deb\.debian\.org|ghcr\.io|docker\.io)'

found=$(tools/list_files.sh | grep -vx 'tools/check_words.sh' | tr '\n' '\0' |
    xargs -0 grep -nHIE -e "$paths" -e "$hosts" || true)
if [ -n "$found" ]; then
    echo "$found"
    echo "words: the lines above name a machine's path or a registry"
    exit 1
fi

private='(rub|rubs|grip|grips|scrape|scrapes|rouse|rouses|ledger|wishes|wakeful|bounce_points|warm_points|share_out)'
found=$(tools/list_files.sh | grep -E '^(src|include|app|docs|python|web/src)/' | tr '\n' '\0' |
    xargs -0 grep -nHIiE -e "(^|[^a-z])$private([^a-z]|\$)" || true)
if [ -n "$found" ]; then
    echo "$found"
    echo "words: the lines above have a word of our own; docs/glossary.md has the field's"
    exit 1
fi

# Names that were once guessed, in code alone: as English words they may stand in a comment.
names='([a-z_]+_share_of|(voltage|density|speed|battery|range)_share|[a-z_]*(bend|forget)_[a-z]+|[a-z]+_(forget|bend|livelier)'
names="$names"'|foxglove_(greet|take|feed)|span_is|campaign_(own_shard|fly_apart)|fly_carefully|watch_(plant|desired|cascade)'
names="$names"'|widen_root|lowest_over_terrain|(put_lead|put_little)|motors_apart|offending_field|answer_by_[a-z]+'
names="$names"'|least_[a-z]+|(find|island|max)_again|turns?_(about|by|fast|size|part|of)|touch_(face|faces|edge|vertex|round|deep)[a-z_]*'
names="$names"'|weigh_row|plan_ahead|weaken_[a-z]+|open_(axes|anchors|limits|custom)|fly_joined|said_before|say_list'
names="$names"'|whirl|surprises|strengths_of|choose_told|play_speeds|rotor_player|FAMILY_[A-Z_]+|family_[a-z]+'
names="$names"'|VY_(KNOWN|COMPACT)|(hot|cold)_(world|layout|cell|real|store)|lone_case|watch_place|only_watched|may_step|LOOK_(EVERY|SHARE)'
names="$names"'|(ENTRY|LAST)_SECONDS|LAST_TOTAL|take_(ack|mission_ack|frames?|mutex|semaphore|imu)|small_whole|come_along|above_air|is_bare'
names="$names"'|clock_cases|report_clock|is_shown|over_inertia_z|last_order_2|nap_other_forces|ekf_mean_next|(fit|filter)_sums'
names="$names"'|fit_lean|lean_rotors|leave_parent_within|confine_name_lacks|body_held|loop_(desired|lift)|envelope_desired'
names="$names"'|thrust_(fraction|norm)_of|wrench_of|desired_spin|judge_world|undivided_start|casts_numbers|home_items|batch_machine)'
found=$(tools/list_files.sh | grep -E '^(src|include|app|python)/.*\.(c|h|inl|cu|py)$' | tr '\n' '\0' |
    xargs -0 grep -nHIiE -e "(^|[^A-Za-z0-9_\"])(vy_)?$names([^A-Za-z0-9_]|\$)" || true)
if [ -n "$found" ]; then
    echo "$found"
    echo "words: the names above have to be guessed; docs/glossary.md has the field's"
    exit 1
fi
echo "words: ok"
