"""How often a cluster is asked what became of its jobs."""

from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor


def seldom(executor):
    """Seconds between two looks, by the rarer of the two settings that a user has."""
    settings = executor.workflow.executor_settings
    return max(
        executor.workflow.remote_execution_settings.seconds_between_status_checks,
        getattr(settings, "init_seconds_before_status_checks", None) or 0,
    )


def as_often_as_asked(pause):
    """The pause that a plugin sets, never longer than that.

    SLURM's (2.8) adds 10 seconds at each look at which no job has ended, up to 180: after a job of
    five minutes the next stage would wait for one more.
    """

    def shorten(executor, seconds):
        pause.fset(executor, min(seconds, seldom(executor)))

    return pause.setter(shorten)


RemoteExecutor.next_seconds_between_status_checks = as_often_as_asked(
    RemoteExecutor.next_seconds_between_status_checks
)
