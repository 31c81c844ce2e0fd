"""faults.py VOLERY PRELOAD WORK EVERY [COMMAND...] - every EVERYth allocation and system call of each command fails, alone and with all that follow.

Oracle: exit status 0 only with the right answer; else a sentence, which says `memory` where memory was short, and then status 3. Inputs stay as
they are, no signal, and no `.part` without its name in the sentence. Counted apart: crashes inside libfyaml. System calls of the program, not of
the loader before it, fail by strace's injection, where ptrace is allowed. Prints two lines; exit status 1 with findings.
"""
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

volery, preload, work, every = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
only = sys.argv[5:]
SCENARIO = """volery: 1
duration: 0.1 s
drones: [{name: a, vehicle: x500, sensors: {imu: {}}, controller: {kind: hold}}]
bodies: [{name: box, mass: 1, shape: {kind: box, size: [0.2, 0.2, 0.2]}, position: [2, 0, 1]}]
expect: [{quantity: tilt, max: 90 deg}, {quantity: speed, at: throughout, max: 100 m/s}]
"""
PLAN = """volery: 1
campaign: masses
scenario: in.yaml
seed: 7
cases: 3
vary: [{key: drones.a.vehicle.mass, from: 1.9, to: 2.1}]
"""
# Each with its output, or None: what it prints.
COMMANDS = {
    "run": ("run in.yaml -q -o out.mcap", "out.mcap"),
    "report": ("run in.yaml --json --no-log --junit out.xml", "out.xml"),
    "check": ("check in.yaml --json", None),
    "replay": ("replay in.mcap", None),
    "verify": ("verify in.mcap", None),
    "recover": ("recover killed.mcap.part -o out.mcap", "out.mcap"),
    "diff": ("diff in.mcap in.mcap", None),
    "branch": ("branch in.mcap --at 0.05 -q -o out.mcap", "out.mcap"),
    "view": ("view in.mcap -o out.html", "out.html"),
    "plot": ("plot in.mcap --drone a -o out.svg", "out.svg"),
    "export": ("export in.mcap --drone a --csv -o out.csv", "out.csv"),
    "parquet": ("export in.mcap --drone a --parquet -o out.parquet", "out.parquet"),
    "campaign": ("campaign run plan.yaml -o out --jobs 1", None),
}
INPUTS = ("in.yaml", "in.mcap", "plan.yaml", "killed.mcap.part")
CLOCK = re.compile(rb"\([0-9.e+-]+ s[^)]*\)|\"?(time|wall_s|realtime_factor)\"?[=:] ?\"?[0-9.e+-]+\"?")  # differs from run to run


# What fails, and how. Reading a folder, a clock or a signal's action is not among them: they fail nowhere.
CALLS = {"openat": "EMFILE", "read": "EIO", "pread64": "EIO", "write": "ENOSPC", "fsync": "EIO", "close": "EIO", "rename": "EACCES", "unlink": "EACCES",
         "mmap": "ENOMEM", "newfstatat": "EIO", "mkdir": "EACCES", "clone3": "EAGAIN", "lseek": "EIO", "ftruncate": "EIO", "flock": "EIO"}
MEMORY = "memory"  # of allocations, beside the system calls
Job = collections.namedtuple("Job", "command fails at after right")
STRACE = ["strace", "-f", "--seccomp-bpf", "-qq"]


def contents(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def fly(name: str, folder: str, extra: dict[str, str], tracer: list[str]) -> tuple[int, bytes, str]:
    """Exit status, the answer, and what it says."""
    words, output = COMMANDS[name]
    env = {**os.environ, **extra} if tracer else {**os.environ, **extra, "LD_PRELOAD": preload}
    done = subprocess.run([*tracer, volery, *words.split()], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, check=False)
    path = os.path.join(folder, output) if output else ""
    answer = contents(path) if path and os.path.exists(path) else b"" if path else done.stdout
    return done.returncode, CLOCK.sub(b"", answer), done.stderr.decode(errors="replace")


def fresh(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in INPUTS:
        if os.path.exists(f"{work}/{name}"):
            shutil.copy(f"{work}/{name}", folder)


def judge_files(folder: str, said: str) -> str:
    for file in INPUTS:
        if os.path.exists(f"{work}/{file}") and contents(f"{folder}/{file}") != contents(f"{work}/{file}"):
            return f"{file} has changed"
    for file in os.listdir(folder):
        if file.endswith(".part") and file not in INPUTS and file not in said:
            return f"{file} is left without a word"
    return ""


def judge(job: Job, folder: str, result: tuple[int, bytes, str]) -> str:
    status, answer, said = result
    mute = job.fails == "write" and not said  # strace counts each thread's calls: its sentence may have failed as well
    if "crash: " in said:
        return "libfyaml" if "libfyaml" in said else said[said.index("crash: "):].split("\n")[0]
    if status < 0 or status > 3:
        return f"status {status}: {said.strip()[-200:]}"
    if not mute and judge_files(folder, said):
        return judge_files(folder, said)
    if status == 0:
        return "" if answer == job.right else "status 0 with another answer"
    if job.fails == MEMORY and (status != 3 or "memory" not in said):
        return f"status {status}: {said.strip()[-160:] or 'not a word'}"
    return "" if said or mute else f"status {status}: not a word"


def try_one(job: Job) -> tuple[Job, str]:
    folder = f"{work}/{job.command}-{job.fails}-{job.at}-{job.after}"
    fresh(folder)
    try:
        if job.fails == MEMORY:
            result = fly(job.command, folder, {"VOLERY_FAIL_AT": str(job.at), "VOLERY_FAIL_AFTER": str(job.after)}, [])
        else:
            fault = f"inject={job.fails}:error={CALLS[job.fails]}:when={job.at}{'+' if job.after else ''}"
            result = fly(job.command, folder, {}, [*STRACE, "-o", "/dev/null", "-e", f"trace={job.fails}", "-e", fault])
        found = judge(job, folder, result)
    except subprocess.TimeoutExpired:
        found = "hangs"
    shutil.rmtree(folder, ignore_errors=True)
    return job, found


def counted(name: str, traced: bool) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """The right answer of a command, and the numbers of what can fail: the first, and that after the last."""
    folder = f"{work}/{name}"
    fresh(folder)
    tracer = [*STRACE, "-o", f"{work}/count", "-e", "trace=munmap," + ",".join(CALLS)] if traced else []
    status, right, said = fly(name, folder, {"VOLERY_FAIL_COUNT": f"{work}/count"}, tracer)
    if status != 0:
        sys.exit(f"faults: {name} does not work at all: {said.strip()}")
    text = contents(f"{work}/count").decode(errors="replace")
    if not traced:
        return right, {MEMORY: (1, int(text) + 1)}
    lines = re.findall(r"^\d+ +(\w+)\((.*)", text, re.M)
    calls = [call for call, _ in lines]
    last = max(i for i, (call, rest) in enumerate(lines) if call == "openat" and ".so" in rest)
    loaded = calls.index("munmap", last)  # the loader's last call gives back its list of libraries
    before = collections.Counter(calls[:loaded])
    return right, {call: (before[call] + 1, count + 1) for call, count in collections.Counter(calls).items() if call in CALLS}


def try_all(jobs: list[Job], what: str) -> int:
    findings: dict[tuple[str, str, str], list[str]] = {}
    libfyaml = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for job, found in pool.map(try_one, jobs):
            if found == "libfyaml":
                libfyaml += 1
            elif found:
                findings.setdefault((job.command, job.fails, found), []).append(f"{job.at}{'+' if job.after else ''}")
    for (name, fails, found), places in findings.items():
        print(f"{name}: {fails} {', '.join(places[:6])}{', ...' if len(places) > 6 else ''} ({len(places)}): {found}")
    print(f"faults: {len(jobs)} {what} that failed, {sum(map(len, findings.values()))} findings, {libfyaml} crashes inside libfyaml", flush=True)
    return len(findings)


def prepare() -> None:
    os.makedirs(work, exist_ok=True)
    for file, text in (("in.yaml", SCENARIO), ("plan.yaml", PLAN)):
        with open(f"{work}/{file}", "w", encoding="utf-8") as out:
            out.write(text)
    subprocess.run([volery, "run", "in.yaml", "-q", "-o", "in.mcap"], cwd=work, check=True)
    whole = contents(f"{work}/in.mcap")
    with open(f"{work}/killed.mcap.part", "wb") as part:
        part.write(whole[:len(whole) * 3 // 4])


def all_jobs(traced: bool) -> list[Job]:
    jobs: list[Job] = []
    place = 0  # where the next row of jobs begins, so that the commands' beginnings are not always the ones that fail
    for name in only or COMMANDS:
        right, counts = counted(name, traced)
        for fails, (first, end) in counts.items():
            for after in (0, 1):
                jobs += [Job(name, fails, at, after, right) for at in range(first, end) if (place + at - first) % every == 0]
                place += end - first
    return jobs


def main() -> int:
    prepare()
    found = try_all(all_jobs(False), "allocations")
    try:
        can = subprocess.run([*STRACE, "-o", "/dev/null", "true"], capture_output=True, text=True, check=False)
        why = "" if can.returncode == 0 else can.stderr.strip()
    except FileNotFoundError:
        why = "there is no strace"
    if why:
        print(f"faults: system calls are skipped: {why}")
    else:
        found += try_all(all_jobs(True), "system calls")
    return 1 if found else 0


sys.exit(main())
