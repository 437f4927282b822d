"""Jobs that failed and wait to be tried again, while data come."""

from functools import wraps

from snakemake.dag import DAG


def with_retries_kept(update):
    """Snakemake's own way, without a failed job forgotten.

    Whenever a checkpoint is done it forgets which jobs are ready and finds them anew, but for those
    that have begun (9.27). A failed job that waits for its next attempt is of both kinds: it was
    never tried again, and with `keep-going` the run ended as if nothing was missing.
    """

    @wraps(update)
    async def update_needrun(dag, *words, **named):
        again = dag._ready_jobs & dag._running
        await update(dag, *words, **named)
        dag._ready_jobs |= again

    return update_needrun


if not hasattr(DAG.update_needrun, "__wrapped__"):  # read before, by another run of this process
    DAG.update_needrun = with_retries_kept(DAG.update_needrun)
