"""Timings, apart from accuracies."""


rule time_alone:
    """Time one method on one task from a cold start, with the whole machine held."""
    input:
        features=task_features,
        trials="results/{experiment}/{task}/trials.npz",
    output:
        "results/{experiment}/timing/{task}.{method}.jsonl",
    log:
        "logs/timing/{experiment}/{task}.{method}.log",
    conda:
        "../../envs/core.yaml"
    threads: every_core
    resources:
        **HELD_ALONE,
        alone=1,
        given_up=given_up,
        mem_mb=guarded_memory,
        runtime=guarded_minutes,
        seconds_per_trial=lambda w: limits(w)["seconds_per_trial"],
        memory_mb_per_trial=lambda w: limits(w)["memory_mb"],
        trials_lost_in_a_row=1,
    params:
        code=timing_code,
        method=method_entry,
        preprocess=preprocess,
        preprocess_rows=preprocess_rows,
        repeats=timed_repeats,
    script:
        "../scripts/time_alone.py"
