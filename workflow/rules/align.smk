"""From trials to predictions."""


rule align:
    """Fit one method on a block of trials and predict the target; a failed trial is a record."""
    input:
        features=task_features,
        trials="results/{experiment}/{task}/trials.npz",
    output:
        records="results/{experiment}/{task}/{method}.{block}.align.jsonl",
        predictions="results/{experiment}/{task}/{method}.{block}.predictions.npz",
    log:
        "logs/align/{experiment}/{task}/{method}.{block}.log",
    conda:
        "../../envs/core.yaml"
    threads: lambda w: SUITE.methods[w.method].get("threads", 1)
    resources:
        given_up=given_up,
        mem_mb=block_memory,
        runtime=block_minutes,
        asked_mb=asked_mb,
        seconds_per_trial=lambda w: limits(w)["seconds_per_trial"],
        memory_mb_per_trial=lambda w: limits(w)["memory_mb"],
        trials_lost_in_a_row=lambda w: limits(w)["trials_lost_in_a_row"],
        trials_asked=lambda w: SUITE.n_asked(w.experiment),
    params:
        code=align_code,
        block=block_description,
    script:
        "../scripts/align.py"
