-- Metrics become columns of the record, logs and profiles become artifacts, and results from elsewhere find room.

CREATE TEMP TABLE old_hosts AS FROM hosts;
CREATE TEMP TABLE old_runs AS FROM runs;
CREATE TEMP TABLE old_devices AS FROM devices;
CREATE TEMP TABLE old_models AS FROM models;
CREATE TEMP TABLE old_cases AS FROM cases;
CREATE TEMP TABLE old_records AS FROM records;
CREATE TEMP TABLE old_samples AS
    SELECT record_id, list({
        process: process, steps_per_sample: steps_per_sample, stop: stop, steady: steady, warmup_ms: warmup_ms,
        host_ms: host_ms, device_ms: device_ms, device_cold_ms: device_cold_ms, cpu_ms: cpu_ms, wait_ms: wait_ms
    } ORDER BY process) AS taken
    FROM samples GROUP BY record_id;
CREATE TEMP TABLE old_metrics AS
    SELECT record_id, map_from_entries(list((name, {value: value, low: low, high: high, n: n, note: note}))) AS found
    FROM metrics GROUP BY record_id;
DROP TABLE samples;
DROP TABLE metrics;
DROP TABLE records;
DROP TABLE cases;
DROP TABLE models;
DROP TABLE devices;
DROP TABLE runs;
DROP TABLE hosts;

CREATE TABLE platforms (
    platform TEXT PRIMARY KEY -- cpu, cuda, rocm, mps, openvino, qnn, webnn, webgpu, and what plug-ins bring
);

CREATE TABLE hosts (
    host_id TEXT PRIMARY KEY,
    hostname TEXT,
    system TEXT,
    cpu TEXT,
    logical_cores INTEGER,
    memory_mb DOUBLE,
    python TEXT
);

CREATE TABLE imports (
    import_id TEXT PRIMARY KEY, -- hash of the file's content
    file TEXT NOT NULL,
    format TEXT NOT NULL,
    size BIGINT NOT NULL, -- bytes
    imported_at TIMESTAMP NOT NULL
);

CREATE TABLE rejections (
    import_id TEXT NOT NULL REFERENCES imports (import_id),
    place TEXT NOT NULL, -- line, row or key inside the file
    reason TEXT NOT NULL
);

CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    host_id TEXT NOT NULL REFERENCES hosts (host_id),
    import_id TEXT REFERENCES imports (import_id),
    host JSON NOT NULL, -- as it was then; the table hosts keeps how it was first seen
    started_at TIMESTAMP NOT NULL, -- UTC, as everywhere
    name TEXT,
    command TEXT NOT NULL,
    version TEXT NOT NULL,
    git_commit TEXT,
    effort TEXT NOT NULL,
    settings JSON NOT NULL,
    plan_digest TEXT NOT NULL,
    plan JSON NOT NULL
);

CREATE TABLE devices (
    device_id TEXT PRIMARY KEY, -- fingerprint: equal hardware has equal ones
    platform TEXT NOT NULL REFERENCES platforms (platform),
    name TEXT NOT NULL,
    memory_mb DOUBLE,
    capability TEXT,
    emulated BOOLEAN NOT NULL
);

CREATE TABLE models (
    model_id TEXT PRIMARY KEY, -- fingerprint: equal ones compute the same function
    model_name TEXT NOT NULL,
    architecture TEXT,
    family TEXT,
    model_type TEXT,
    parameters BIGINT,
    size TEXT,
    weights TEXT NOT NULL,
    source TEXT NOT NULL
);

CREATE TABLE cases (
    case_key TEXT PRIMARY KEY,
    workload TEXT NOT NULL,
    model TEXT NOT NULL,
    platform TEXT NOT NULL REFERENCES platforms (platform),
    runtime TEXT NOT NULL,
    precision TEXT NOT NULL,
    batch INTEGER NOT NULL,
    shape JSON NOT NULL,
    weights TEXT NOT NULL,
    options JSON NOT NULL
);

CREATE TYPE metric AS STRUCT (value DOUBLE, low DOUBLE, high DOUBLE, n INTEGER, note TEXT);

CREATE TABLE records (
    record_id TEXT NOT NULL, -- sorts by time; kept unique by the fold, for a key here would be a sixth of the file
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    case_key TEXT NOT NULL REFERENCES cases (case_key),
    series_id TEXT NOT NULL, -- the case on equal hardware
    model TEXT NOT NULL, -- the case's, here as well because it is asked for most
    device_index INTEGER NOT NULL, -- which device of the platform was asked for
    device_id TEXT REFERENCES devices (device_id), -- the one that really ran
    model_id TEXT REFERENCES models (model_id),
    status TEXT NOT NULL CHECK (status IN ('ok', 'skipped', 'failed', 'invalid')),
    reason TEXT,
    remedy TEXT,
    provenance TEXT NOT NULL CHECK (provenance IN ('measured', 'imported', 'predicted', 'simulated')),
    evidence TEXT[] NOT NULL, -- why it is called simulated
    started_at TIMESTAMP NOT NULL,
    duration_s DOUBLE NOT NULL,
    verdict TEXT CHECK (verdict IN ('valid', 'ambiguous', 'invalid')),
    device JSON, -- with driver, slot and details as they were then
    model_info JSON, -- with the operations of one step at this shape
    placement JSON,
    output_check JSON,
    passport STRUCT (
        verdict TEXT,
        checks STRUCT (name TEXT, value JSON, "limit" JSON, verdict TEXT, advice TEXT)[]
    ),
    samples STRUCT (
        process INTEGER,
        steps_per_sample INTEGER,
        stop TEXT,
        steady BOOLEAN, -- NULL: not known
        warmup_ms DOUBLE[],
        host_ms DOUBLE[],
        device_ms DOUBLE[],
        device_cold_ms DOUBLE[],
        cpu_ms DOUBLE[],
        wait_ms DOUBLE[]
    )[] NOT NULL, -- raw, one entry per process
    software JSON NOT NULL,
    latency_ms metric,
    latency_mean_ms metric,
    latency_min_ms metric,
    latency_max_ms metric,
    latency_stddev_ms metric,
    latency_p90_ms metric,
    latency_p95_ms metric,
    latency_p99_ms metric,
    throughput_per_s metric,
    tokens_per_s metric,
    first_token_ms metric,
    cpu_time_ms metric,
    device_time_ms metric,
    device_time_cold_ms metric,
    launch_gap_ms metric,
    load_ms metric,
    prepare_ms metric,
    build_ms metric,
    first_ms metric,
    memory_peak_mb metric,
    memory_average_mb metric,
    memory_host_peak_mb metric,
    memory_reserved_mb metric,
    memory_fragmentation_mb metric,
    memory_process_mb metric,
    energy_j metric,
    power_w metric,
    error_rel_l2 metric,
    compute_gflop metric,
    compute_rate_gflops metric,
    other_metrics MAP (TEXT, STRUCT (value DOUBLE, low DOUBLE, high DOUBLE, n INTEGER, note TEXT)) -- not in the metric table
);
CREATE INDEX records_of_series ON records (series_id);
CREATE INDEX records_of_model ON records (model);

CREATE TABLE tests (
    test_id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    name TEXT NOT NULL,
    model TEXT,
    platform TEXT REFERENCES platforms (platform),
    status TEXT NOT NULL CHECK (status IN ('ok', 'skipped', 'failed', 'invalid')),
    reason TEXT,
    provenance TEXT NOT NULL CHECK (provenance IN ('measured', 'imported', 'predicted', 'simulated')),
    evidence TEXT[] NOT NULL,
    started_at TIMESTAMP NOT NULL,
    duration_s DOUBLE
);

CREATE TABLE assertions (
    test_id TEXT NOT NULL REFERENCES tests (test_id),
    name TEXT NOT NULL,
    passed BOOLEAN NOT NULL,
    message TEXT
);

CREATE TABLE artifacts (
    owner_id TEXT NOT NULL, -- a record or a test
    kind TEXT NOT NULL, -- log, profile
    content TEXT NOT NULL
);
CREATE INDEX artifacts_of_owner ON artifacts (owner_id);

CREATE TABLE prediction_models (
    prediction_model_id TEXT PRIMARY KEY,
    created_at TIMESTAMP NOT NULL,
    kind TEXT NOT NULL,
    metric TEXT NOT NULL,
    features JSON NOT NULL,
    quality JSON NOT NULL, -- how well it did on data it had not seen
    content BLOB NOT NULL
);

INSERT INTO platforms SELECT platform FROM old_cases UNION SELECT platform FROM old_devices;
INSERT INTO hosts FROM old_hosts;
INSERT INTO runs BY NAME SELECT * FROM old_runs;
INSERT INTO devices BY NAME SELECT * RENAME (fingerprint AS device_id) FROM old_devices;
INSERT INTO models BY NAME SELECT * RENAME (fingerprint AS model_id, name AS model_name) FROM old_models;
INSERT INTO cases FROM old_cases;
INSERT INTO records BY NAME
    SELECT * EXCLUDE (log, profile, found, taken, passport, model, case_model, device_fingerprint, model_fingerprint),
        device_fingerprint AS device_id, model_fingerprint AS model_id, []::TEXT[] AS evidence,
        case_model AS model, model AS model_info,
        coalesce(taken, []) AS samples,
        from_json(passport, '{"verdict": "VARCHAR", "checks": [{"name": "VARCHAR", "value": "JSON", "limit": "JSON",
            "verdict": "VARCHAR", "advice": "VARCHAR"}]}') AS passport,
        left(sha256('["' || case_key || '",' || coalesce('"' || device_fingerprint || '"', 'null') || ']'), 16) AS series_id,
        found['latency_ms'] AS latency_ms, found['latency_mean_ms'] AS latency_mean_ms,
        found['latency_p90_ms'] AS latency_p90_ms, found['latency_p95_ms'] AS latency_p95_ms,
        found['latency_p99_ms'] AS latency_p99_ms, found['throughput_per_s'] AS throughput_per_s,
        found['device_time_ms'] AS device_time_ms, found['device_time_cold_ms'] AS device_time_cold_ms,
        found['launch_gap_ms'] AS launch_gap_ms, found['load_ms'] AS load_ms, found['prepare_ms'] AS prepare_ms,
        found['build_ms'] AS build_ms, found['first_ms'] AS first_ms, found['memory_peak_mb'] AS memory_peak_mb,
        found['memory_average_mb'] AS memory_average_mb, found['memory_host_peak_mb'] AS memory_host_peak_mb,
        found['memory_reserved_mb'] AS memory_reserved_mb,
        found['memory_fragmentation_mb'] AS memory_fragmentation_mb,
        found['memory_process_mb'] AS memory_process_mb, found['energy_j'] AS energy_j, found['power_w'] AS power_w,
        found['error_rel_l2'] AS error_rel_l2, found['compute_gflop'] AS compute_gflop,
        found['compute_rate_gflops'] AS compute_rate_gflops
    FROM (SELECT r.*, c.model AS case_model FROM old_records r JOIN old_cases c USING (case_key))
    LEFT JOIN old_metrics USING (record_id) LEFT JOIN old_samples USING (record_id);
INSERT INTO artifacts SELECT record_id, 'log', log FROM old_records WHERE log IS NOT NULL;
INSERT INTO artifacts SELECT record_id, 'profile', profile FROM old_records WHERE json_array_length(profile) > 0;
DROP TABLE old_hosts;
DROP TABLE old_runs;
DROP TABLE old_devices;
DROP TABLE old_models;
DROP TABLE old_cases;
DROP TABLE old_records;
DROP TABLE old_samples;
DROP TABLE old_metrics;
