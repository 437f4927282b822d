"""Where the CPU seconds of a run go: every process of `snakemake EXPERIMENT`, by what it did.

    ALIGNMENT_MIRROR=../data python tests/bench/account_run.py fma_table1 [--cores 2] [--folder DIR]

Runs the experiment from nothing in a folder of its own (a temporary one by default; in one that
holds results, what is missing or outdated; in the project's own, the command as a user types it).
Processes are found by a mark in their environment and
read from /proc fifty times a second; what a process does after its last reading is not seen, 10 ms
on average. Then the same cells in a bare loop, in one process that has imported everything: the
floor, below which no workflow can come; not of a target that is more than one experiment, such as
`papers`, whose fits would all run twice. And what the tools take by themselves: Snakemake with as
many jobs that do nothing, MLflow's and the report's imports, a new store. Linux only.

``--page FILE`` writes the table into the page that reference results have of it. With
``--before REVISION`` an earlier state of the project runs in the same way, from a checkout of its
own, and its table stands beside today's.

A section says whether the goals are met. What a process did is read from its command line: where
those that no kind fits have more than a hundredth of a run, the script says which they are.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads

import argparse
import collections
import re
import secrets
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from sections import put_section

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "methods")]

MARK = "ALIGNMENT_ACCOUNT"
TICK = os.sysconf("SC_CLK_TCK")
SECONDS_BETWEEN = 0.02
# What fits methods and trains classifiers: the share of a run that is not overhead. A study does in
# its own process.
FITS = "fit and classify"
COMPUTING = FITS, "script study"
OTHER, MOST_OTHER = "other", 0.01
# Goals of a run on two cores: the least share of computing, and the most seconds.
LEAST_SHARE, MOST_SECONDS = 0.85, {"fma_table1": 45}
# Modules of today and of 0.1.0 by which processes are known.
SERVER = re.compile(r"workflow\.lib\.(execution\.forkserver|nursery)\b")
WORKER = re.compile(r"workflow\.lib\.(execution\.)?worker\b|studies\.common\._measure")


def has_mark(pid, mark):
    """Whether a process has the mark in its environment."""
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it has ended, or is another user's
        return False


def name_and_seconds_of(pid):
    """Name of a process, and its user and system seconds so far."""
    name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
    fields = rest.split()
    return name, (int(fields[11]) + int(fields[12])) / TICK


class Account:
    """CPU seconds of the processes that bear a mark, by number; their names and command lines."""

    def __init__(self, mark):
        self.mark = mark
        self.seconds, self.names, self.lines, self.others = {}, {}, {}, set()

    def read(self):
        """Look at every process once."""
        pids = {int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()}
        self.others &= pids  # numbers are used again
        for pid in pids - self.others:
            if pid not in self.seconds and not has_mark(pid, self.mark):
                self.others.add(pid)
                continue
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                self.names[pid], self.seconds[pid] = name_and_seconds_of(pid)
            except OSError:  # it has ended meanwhile
                continue
            self.lines[pid] = line or self.lines.get(pid, "")

    def kinds(self):
        """What each process did, by its number."""
        # The first one seen: numbers begin anew.
        servers = (pid for pid, line in self.lines.items() if SERVER.search(line))
        server = next(servers, None)
        return {
            pid: kind_of(self.names[pid], line, pid == server) for pid, line in self.lines.items()
        }

    def by_kind(self):
        """Processes and their seconds by what they did, the costliest first."""
        found = collections.defaultdict(lambda: [0, 0.0])
        for pid, kind in self.kinds().items():
            found[kind][0] += 1
            found[kind][1] += self.seconds[pid]
        return sorted(found.items(), key=lambda item: -item[1][1])

    def unknown(self):
        """The costliest command lines that no kind fits, if these are more than MOST_OTHER."""
        others = [pid for pid, kind in self.kinds().items() if kind == OTHER]
        share = sum(map(self.seconds.get, others)) / sum(self.seconds.values())
        if share <= MOST_OTHER:
            return ""
        costliest = sorted(others, key=self.seconds.get)[:-4:-1]
        named = "\n".join(f"  {self.seconds[pid]:.1f} s: {self.lines[pid]}" for pid in costliest)
        return f"kind_of does not know what had {share:.1%} of the CPU seconds:\n{named}"


def kind_of(name, line, is_server):
    """What a process did: a script that was forked has its name, any other a command line."""
    if script := re.search(r"/\.snakemake/scripts/tmp\w+\.(\w+)\.py", line):
        return f"script {script[1]}"
    if SERVER.search(line):
        if (ROOT / f"workflow/scripts/{name}.py").is_file():
            return f"script {name}"
        return "imports of the warm process" if is_server else FITS
    if WORKER.search(line):
        return FITS
    return "snakemake" if "snakemake" in line else OTHER


def run(experiment, cores, folder, root=ROOT, snakefile="Snakefile"):
    """Run an experiment of a checkout, or another workflow, and account for its processes."""
    value = secrets.token_hex(8)
    own = os.pathsep.join([str(root / "methods"), str(root)])
    environment = {**os.environ, MARK: value, "OMP_NUM_THREADS": "1", "PYTHONPATH": own}
    line = [sys.executable, "-m", "snakemake", "--cores", str(cores), experiment]
    if folder != root:
        line += ["--snakefile", str(root / snakefile), "--directory", str(folder)]
        line += ["--workflow-profile", str(root / "workflow/profiles/default")]
    account, started = Account(f"{MARK}={value}".encode()), time.monotonic()
    with open(folder / "run.log", "wb") as log:
        snakemake = subprocess.Popen(line, env=environment, cwd=root, stdout=log, stderr=log)
        # Until it has become Snakemake it has our environment, and would be another's for good.
        while snakemake.poll() is None and not has_mark(snakemake.pid, account.mark):
            time.sleep(SECONDS_BETWEEN / 10)
        while snakemake.poll() is None:
            account.read()
            time.sleep(SECONDS_BETWEEN)
    if snakemake.returncode:
        sys.exit(f"{' '.join(line)} ended with {snakemake.returncode}: see {folder / 'run.log'}")
    return account, time.monotonic() - started


def spec_of(suite, experiment, task, method):
    """The description of a block with all trials, as the rule `align` makes it."""
    asked, entry = suite.experiments[experiment], suite.method(experiment, method)
    protocol = suite.protocol(experiment)
    varied = asked.varies("methods")
    values = [{varied["parameter"]: value} for value in varied["values"]] if varied else [{}]
    classifiers = suite.classifiers_of(experiment, method)
    return {
        "features": [
            f"resources/domains/{d.dataset}/{d.domain}.features.npz" for d in task.domains
        ],
        "trials": f"results/{experiment}/{task.name}/trials.npz",
        "method": {key: entry[key] for key in ("estimator", "sees_labels", "params")}
        | {"varied_params": values},
        "classifiers": {
            name: {"estimator": own["estimator"], "params": own.get("params", {})}
            for name, own in classifiers.items()
        },
        "classifier_rows": protocol["classifier_rows"],
        "preprocess": protocol.get("preprocess", []),
        "preprocess_rows": protocol.get("preprocess_rows", "seen"),
        "pictured_trial": None,
        "probabilities": asked.probabilities,
        "tuning": None,
    }


def bare_loop(experiment):
    """CPU seconds of every cell of an experiment, run here, imports not counted.

    None of a target of several experiments, and of candidates, which share more than a loop would.
    """
    from workflow.lib.config.suite import load_suite
    from workflow.lib.trials import align

    suite = load_suite(ROOT)
    if experiment not in suite.experiments or suite.experiments[experiment].tuning:
        return None
    asked = suite.experiments[experiment]
    started = time.process_time()
    for task in asked.tasks:
        for method in asked.methods:
            block = align.setup(spec_of(suite, experiment, task, method))
            for number in range(len(block.trials)):
                align.run_trial(block, number)
    return time.process_time() - started


IDLE = """
rule nothing:
    input: expand("{{number}}", number=range({n_jobs}))

rule job:
    output: touch("{{number}}")
"""
STORE = """
import sys
from workflow.lib.tracking.store import Store
with Store(f"sqlite:///{sys.argv[1]}/mlflow.db"):
    pass
"""


def tools_alone(n_jobs, cores):
    """CPU seconds of what nobody can leave out, by tool."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "idle.smk").write_text(IDLE.format(n_jobs=n_jobs), encoding="utf-8")
        idle, _ = run("nothing", cores, folder, snakefile=folder / "idle.smk")
        return {
            f"Snakemake with {n_jobs} jobs that do nothing": dict(idle.by_kind())["snakemake"][1],
            "MLflow: imports and a new store": python_seconds(STORE, temporary),
            "Matplotlib, pandas": python_seconds("import matplotlib.figure, pandas"),
        }


def python_seconds(code, *arguments):
    """CPU seconds of a new Python that runs some code from the project's folder."""
    before = os.times()
    path = os.pathsep.join([str(ROOT), str(ROOT / "methods")])
    environment = {**os.environ, "PYTHONPATH": path}
    line = [sys.executable, "-c", code, *arguments]
    subprocess.run(line, env=environment, check=True, stderr=subprocess.DEVNULL)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def rows_of(account):
    """Kind, processes, seconds and share of each kind of process; all CPU seconds."""
    kinds = account.by_kind()
    total = sum(spent for _, (_, spent) in kinds)
    return [(kind, number, spent, spent / total) for kind, (number, spent) in kinds], total


def goals(experiment, seconds, share):
    """What a run was to reach, and whether it has."""
    wanted = [(f"{LEAST_SHARE:.0%} of them or more", share >= LEAST_SHARE)]
    if most := MOST_SECONDS.get(experiment):
        wanted.append((f"{most} s or less", seconds <= most))
    return "; ".join(f"{goal}: {'met' if met else 'not met'}" for goal, met in wanted)


def sentences(asked, seconds, total, computing, floor=None, alone=None):
    """What the table says; without what was not measured."""
    told = [
        f"{asked.experiment}: {seconds:.0f} s on {asked.cores} cores, {total:.0f} CPU seconds, "
        f"{computing / total:.1%} of them in methods and classifiers, those of studies among them."
    ]
    if alone and asked.cores == 2:
        told.append(f"Goals: {goals(asked.experiment, seconds, computing / total)}.")
    if floor is not None:
        told.append(
            f"The same cells in a bare loop take {floor:.1f} CPU seconds; the run takes "
            f"{total / floor:.2f} times that."
        )
    if alone:
        least = sum(alone.values())
        named = "; ".join(f"{tool} {spent:.1f}" for tool, spent in alone.items())
        told.append(
            f"The tools by themselves take {least:.1f} CPU seconds ({named}), so that a workflow "
            f"that adds nothing would have {computing / (computing + least):.1%} in methods and "
            "classifiers."
        )
    return told


def main():
    """Run, account, print, write."""
    asked = parsed()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (asked.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        account, seconds = run(asked.experiment, asked.cores, folder)
        n_jobs = sum(n for kind, (n, _) in account.by_kind() if kind.startswith("script "))
        alone = tools_alone(n_jobs, asked.cores)
        os.chdir(folder)
        warnings.simplefilter("ignore")
        floor = bare_loop(asked.experiment)
        os.chdir(ROOT)
    tell(asked, asked.experiment, account, seconds, (floor, alone))
    if asked.before:
        account, seconds = run_before(asked)
        tell(asked, f"{asked.experiment}, {asked.before}", account, seconds)


def run_before(asked):
    """The same of an earlier state of the project, with the packages of today."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "project"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", str(root), asked.before], check=True)
        try:
            return run(asked.experiment, asked.cores, root, root)
        finally:
            subprocess.run([*git, "remove", "--force", str(root)], check=True)


def tell(asked, title, account, seconds, floors=(None, None)):
    """Print the table of a run, and put it on the page."""
    rows, total = rows_of(account)
    computing = sum(spent for kind, _, spent, _ in rows if kind in COMPUTING)
    told = sentences(asked, seconds, total, computing, *floors)
    print(f"{title:32}{'processes':>10}{'CPU s':>9}{'share':>8}")
    for kind, number, spent, share in rows:
        print(f"{kind:32}{number:10d}{spent:9.1f}{share:8.1%}")
    print("\n".join(told))
    if unknown := account.unknown():
        print(unknown, file=sys.stderr)
    if asked.page:
        lines = [f"| {kind} | {n} | {spent:.1f} | {share:.1%} |" for kind, n, spent, share in rows]
        table = ["| Processes | Number | CPU s | Share |", "| :--- | ---: | ---: | ---: |", *lines]
        put_section(asked.page, PAGE, title, [" ".join(told), "", *table])


PAGE = """# Where the CPU seconds of a run go

Every process of `snakemake EXPERIMENT` from nothing, data at hand, by what it did; written by \
tests/bench/account_run.py, one section a run. A section that names a commit is of that state of \
the project with the packages of today.
"""


def parsed():
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", help="or another target")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--before", metavar="REVISION")
    return parser.parse_args()


if __name__ == "__main__":
    main()
