"""What a run says at its end, and its exit status."""

from workflow.lib.config.outputs import domains_of
from workflow.lib.storage.missing import missing, remedy


def asked_experiments():
    """Names of the experiments that the targets of this run belong to."""
    names = []
    for target in sorted(workflow.dag_settings.targets or {"all"}):
        folder, *below = Path(target).parts
        names += GROUPS.get(target, below[:1] if folder == "results" else [target])
    return [name for name in dict.fromkeys(names) if name in SUITE.experiments]


def receipts_of_experiment(name):
    experiment = SUITE.experiments[name]
    tasks = [SimpleNamespace(experiment=name, task=task.name) for task in experiment.tasks]
    receipts = [receipt for ref in domains_of(experiment) for receipt in receipts_of(ref)]
    return [*receipts, *(receipt for w in tasks for receipt in split_receipts(w))]


def tell_missing(names):
    """Say which files of some experiments are unavailable and what to do; return their receipts."""
    lacking = missing(receipt for name in names for receipt in receipts_of_experiment(name))
    if lacking:
        print(remedy(lacking, SUITE.datasets), file=sys.stderr)
    return lacking


def renew_index():
    from workflow.lib.report.index import write_index

    print(f"all experiments: {write_index(SUITE, 'results/index.html')}", file=sys.stderr)


def tell_outcome():
    """Say what became of each experiment asked for, and of the data that it lacks."""
    from workflow.lib.results.tally import tally  # pandas: not before a run has ended

    names = asked_experiments()
    lacking = tell_missing(names)
    if not SHARED:
        store = workflow.storage_settings.default_storage_prefix
        print(f"{', '.join(names)}: the results are in {store}", file=sys.stderr)
        return
    folders = {name: Path("results") / name for name in names}
    found = [tally(SUITE.experiments[name], folder) for name, folder in folders.items()]
    found = [one for one in found if one]
    renew_index()
    for one in found:
        kind = "answer" if one.experiment in ANSWERED else "report"
        page = folders[one.experiment] / f"{kind}.html"
        where = f": {kind} {page}" if page.is_file() else ""
        print(f"{one.experiment}: {one.words}{where}", file=sys.stderr)
    if found and not any(one.n_scored for one in found):
        # So that the same command tries again, and does not find everything done.
        try_again(lacking)
        raise WorkflowError(f"{', '.join(names)}: nothing could be scored")


def tell_interruption():
    """Say how to go on after a failed job or Ctrl-C."""
    tell_missing(asked_experiments())
    if SHARED:
        renew_index()
    again = "make resume" if Path.cwd() == ROOT else "the same command again"
    print(f"Not everything was done. To continue: {again}", file=sys.stderr)
