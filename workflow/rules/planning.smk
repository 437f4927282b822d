"""What Snakemake (9.27) does for each job of a plan anew, done once for all of a rule, or for less.

Of a dry run of `papers`, some 2,000 jobs, this and looking for garbage took half of the time that was not
Snakemake's own start.
"""

import gc
import inspect
import sys

from snakemake.common import overwrite_function_params
from snakemake.dag import ScriptProcessor
from snakemake.resources import Resource
from snakemake.scheduling import milp

# A plan is millions of objects that stay, in few cycles. After every 700 new ones Python looks among
# the young for those that do not.
gc.freeze()
gc.set_threshold(50_000, 10, 10)


# Which of the ready jobs to start is asked after every job. By default a linear programme over all of
# them answers, which takes most of the main process's time; where it has no answer Snakemake chooses
# greedily. The profiles say so too, but Snakemake does not find one by itself with a Snakefile at the
# top.
if not any(word.partition("=")[0] == "--scheduler" for word in sys.argv):
    milp.Scheduler.select_jobs = lambda *_: None


def note_parameters(function, like=None):
    """Note what a function takes, where Snakemake looks first before it inspects the function."""
    overwrite_function_params(function, inspect.signature(like or function).parameters)


def functions_of(rule):
    """The functions of a rule's inputs, parameters and resources, out of what Snakemake puts around."""
    resources = [resource._value for resource in rule.resources.values()]
    for value in [*rule.input, *rule.params, *resources]:
        value = getattr(value, "callable", value)  # a function marked `local`
        value = getattr(value, "_file", value)
        if inspect.isfunction(value):
            yield value


def once_per_rule(process_job):
    """Snakemake's look for the script of a job: here no script's name depends on the job."""
    seen = set()

    def process(processor, job):
        if job.rule.name not in seen:
            process_job(processor, job)
            seen.add(job.rule.name)

    return process


def note_plan():
    """To be called when the rules are known."""
    note_parameters(Resource.evaluate, like=Resource("any", 0).evaluate)
    for one in workflow.rules:
        for function in functions_of(one):
            note_parameters(function)
    ScriptProcessor.process_job = once_per_rule(ScriptProcessor.process_job)
