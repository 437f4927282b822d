"""Which jobs make up a group: those that have begun keep to it, the others are put together anew."""

from functools import wraps

from snakemake.dag import DAG


def with_begun_groups_kept(update):
    """Snakemake's own way, without what it remembers of the last time.

    It puts jobs into groups whenever a checkpoint is done, keeps groups by the jobs that they had
    before they were merged, and merges them again: `--group-components cells=20` made groups of
    20, then of 400 cells, and ran cells twice (9.27; its issues 1217 and 1628).
    """

    @wraps(update)
    def update_groups(dag):
        begun = {g for g in dag._group.values() if g in dag._ready_jobs or g in dag._running}
        kept = {job: group for group in begun for job in group}
        dag.group_job_factory.cache.clear()
        needrun_jobs, needrun = dag.needrun_jobs, dag.needrun
        # Of this object alone, for as long as it looks.
        dag.needrun_jobs = lambda: (job for job in needrun_jobs() if job not in kept)
        dag.needrun = lambda job: job not in kept and needrun(job)
        try:
            update(dag)
        finally:
            del dag.needrun_jobs, dag.needrun
        dag._group.update(kept)

    return update_groups


if not hasattr(DAG.update_groups, "__wrapped__"):  # read before, by another run of this process
    DAG.update_groups = with_begun_groups_kept(DAG.update_groups)
