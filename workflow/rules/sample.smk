"""From labels to trials."""


rule sample:
    """Sample the trials of a task: rows and labels that methods see, rows that are scored."""
    input:
        labels=task_labels,
        splits=split_receipts,
        local=split_local_files,
    output:
        "results/{experiment}/{task}/trials.npz",
    log:
        "logs/sample/{experiment}/{task}.log",
    priority: 50
    localrule: not SHARED
    conda:
        "../../envs/core.yaml"
    threads: 1
    # Files of official trials are foreign: a guarded child reads them, with these limits.
    resources:
        mem_mb=with_room(800),
        runtime=each_attempt(10),
        seconds_per_trial=300,
        memory_mb_per_trial=800,
        trials_lost_in_a_row=1,
    params:
        code=sample_code,
        domains=lambda w: [str(ref) for ref in asked_task(w).domains],
        protocol_name=lambda w: SUITE.experiments[w.experiment].protocol,
        splits_loader=splits_loader,
        n_training=training_samples,
        vary=varied_protocol,
        protocol=sampled_protocol,
    script:
        "../scripts/sample.py"
