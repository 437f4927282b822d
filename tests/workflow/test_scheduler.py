import inspect

from snakemake.scheduling.job_scheduler import JobScheduler


def test_without_a_limiter_no_chain_of_looks_begins():
    """The Snakefile sets `job_rate_limiter` to None on one machine."""
    lines = [line.strip() for line in inspect.getsource(JobScheduler.schedule).splitlines()]
    begun = lines.index("self._schedule_reevalutation(self.job_rate_limiter.timespan)")
    asked = [line for line in lines[:begun] if line and not line.startswith("#")][-1]
    assert asked == "if self.job_rate_limiter is not None:"
