#!/bin/sh
# check_components.sh [-v] - what only some worlds have is one place: its pair, its rows in a list, its def in a public
# header. Every other product file that names a component must be declared in tools/component_users.txt, and no other
# file. -v: how many.
set -eu
cd "$(dirname "$0")/.."

has_failed=0 count=0 verbose=${1:-}
users=$(mktemp)
trap 'rm -f "$users"' EXIT

# one_place KIND NAME HOME WORDS: product files outside HOME, all of them expressions, that have one of WORDS.
one_place() {
    grep -rlE "$4" src app include python web/src --include='*.[ch]' --include='*.inl' --include='*.cu' \
        --include='*.py' --include='*.ts' >"$users" || true
    [ -z "$verbose" ] || echo "$1 $2: $(grep -cxE "$3" "$users" || true) files of its own, $(grep -cvxE "$3" "$users" || true) users"
    for file in $(grep -vxE "$3" "$users" || true); do
        grep -qE "^$2 +$file\$" tools/component_users.txt ||
            { echo "$file names the $1 $2 and is not in tools/component_users.txt"; has_failed=1; }
    done
    declared=$(sed -n "s/^$2 \{1,\}//p" tools/component_users.txt)
    for file in $declared; do
        grep -qxF "$file" "$users" || { echo "tools/component_users.txt: $file does not name the $1 $2"; has_failed=1; }
    done
    count=$((count + 1))
}

# enough WHAT LEAST NAMES: the list has been read.
enough() {
    [ "$(echo "$3" | wc -l)" -ge "$2" ] || { echo "components: too few $1 are listed"; exit 1; }
}

sensors=$(sed -n 's/^ *S([0-9]*, [0-9]*, \([a-z_]*\), .*/\1/p' src/sensors/sensors.h | grep -vxE 'imu|mocap')
enough sensors 8 "$sensors"
# members_of NAME FILE...: those of its def, its sample, its constants and its state, as alternatives.
members_of() {
    part=$1
    shift
    sed -n "/^typedef struct \(vy_\)\{0,1\}${part}_\(def\|sample\|params\|state\|layout\) {/,/^}/p" "$@" |
        sed '/^typedef/d; /^}/d; s|//.*||; s/\[[^]]*\]//g; s/[,;]/\n/g' | grep -oE '[a-z_0-9]+ *$' | tr -d ' ' |
        sort -u | paste -sd'|'
}

for name in $sensors; do
    members=$(members_of "$name" include/volery/sensors.h)
    enough "members of $name" 2 "$(echo "$members" | tr '|' '\n')"
    words="\\b${name}(\\.|->)($members)\\b|vy_${name}_(def|sample|preset)"
    words="$words|\\b${name}_((block|params|WIDTH)\\b|sample\\()|(SENSOR|BLOCK)_${name}\\b"
    words="$words|(sensor_suite|k|in->sensor_suite)(\\.|->)${name}\\b|samples?(\\.|->)${name}\\b|\"${name}\"|vy_(sensor|table)_${name}\\b"
    one_place sensor "$name" "include/volery/sensors\\.h|src/sensors/($name\\.[ch]|sensors\\.h)" "$words"
done

estimators=$(sed -n 's/^ *E([A-Z]*, \([a-z_]*\),.*/\1/p' src/estimators/estimators.h)
enough estimators 2 "$estimators"
for name in $estimators; do
    upper=$(echo "$name" | tr '[:lower:]' '[:upper:]')
    one_place estimator "$name" "include/volery/estimator\\.h|src/estimators/($name\\.[ch]|estimators\\.h)" \
        "\\b${name}_[a-z]+\\b|VY_ESTIMATOR_${upper}\\b|\\b(vy_)?(estimator|ROWS|DEFAULTS)_${name}\\b|\"${name}\""
done

code='[a-z]+'
parts=$(sed -n 's/.*[PL](\([a-z_]*\), .*"[^"]*").*/\1/p' src/vehicle/parts.h)
enough "parts of vehicles" 5 "$parts"
for name in $parts; do
    members=$(members_of "$name" include/volery/vehicle.h src/*/"$name".h)
    enough "members of $name" 3 "$(echo "$members" | tr '|' '\n')"
    words="vy_${name}_$code|vy_(part|table)_${name}\\b|\\b${name}_(block|params|state|layout|model|memory)\\b"
    one_place part "$name" "include/volery/vehicle\\.h|src/(vehicle|equations)/$name\\.[ch]|src/vehicle/parts\\.h" \
        "$words|(vehicle|v|def|d|a)(\\.|->)${name}s?\\b|\\b${name}s?(\\[[^]]*\\])?(\\.|->)($members)\\b"
done

for name in payload supervisor delay_line; do # a world's own: pair, row of blocks.inl, rows of stages.inl
    one_place component "$name" "include/volery/$name\\.h|src/world/($name\\.[ch]|(blocks|stages)\\.inl)" \
        "vy_${name}_$code|vy_world_[a-z_]*${name}|\\b${name}_(block|model)\\b|BLOCK_${name}|world(->|\\.)${name}s\\b"
done

# Contacts and sleep are solved in a folder of their own, and the negligibility policy is evaluated in one.
one_place component contact "include/volery/contacts\\.h|src/(dynamics/.*|world/(contact_stage\\.[ch]|(blocks|stages)\\.inl))" \
    'vy_contacts?_(def|stage|look_again|list|state_[a-z]+|hash|sync|wake_up)\b|contact(_totals)?_block|(BLOCK|ROWS|FIELDS)_contact|world(->|\.)contact_totals'
one_place component sleep "include/volery/(contacts|bodies)\\.h|src/(dynamics/.*|world/(contact_stage\\.c|blocks\\.inl))" \
    'vy_sleep_[a-z]+|vy_table_sleep|\bsleep_block|(BLOCK|ROW|FIELDS)_sleep|world(->|\.)sleep\b|sleep_speed'
one_place component nap_account "include/volery/environment\\.h|src/(environment/nap.*\\.[ch]|world/(blocks|stages)\\.inl)" \
    '(nap|body)_account_block|(BLOCK|FIELDS)_(nap|body)_account|vy_table_nap|vy_nap_[a-z]+|world(->|\.)(nap|passive)_accounts'
one_place component budget "include/volery/(environment|world)\\.h|src/(environment/.*\\.[ch]|world/(budget\\.[ch]|(blocks|stages)\\.inl))" \
    'vy_budget_[a-z]+|VY_BUDGET_|\bbudget_block|(BLOCK|FIELDS)_budget|world(->|\.)budgets'

kinds=$(sed -n 's/^ *X(arg, \([A-Z]*\), .*/\1/p' include/volery/joint.h)
enough "kinds of joints" 9 "$kinds"
for name in $kinds; do # the list, its rows of equations; what joints share asks what a kind has
    word=$(echo "$name" | tr '[:upper:]' '[:lower:]')
    one_place joint "$word" "include/volery/joint\\.h|src/dynamics/joint(_rows|_def)\\.[ch]" "VY_JOINT_$name\\b"
done

[ $has_failed -eq 0 ] || exit 1
echo "components: ok, $count of them"
