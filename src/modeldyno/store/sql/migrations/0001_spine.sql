CREATE TABLE hosts (
    host_id TEXT PRIMARY KEY,
    hostname TEXT NOT NULL,
    system TEXT NOT NULL,
    cpu TEXT NOT NULL,
    logical_cores INTEGER NOT NULL,
    memory_mb DOUBLE NOT NULL,
    python TEXT NOT NULL
);

CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    host_id TEXT NOT NULL REFERENCES hosts (host_id),
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
    fingerprint TEXT PRIMARY KEY,
    platform TEXT NOT NULL,
    name TEXT NOT NULL,
    memory_mb DOUBLE,
    capability TEXT,
    emulated BOOLEAN NOT NULL
);

CREATE TABLE models (
    fingerprint TEXT PRIMARY KEY,
    name TEXT NOT NULL,
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
    platform TEXT NOT NULL,
    runtime TEXT NOT NULL,
    precision TEXT NOT NULL,
    batch INTEGER NOT NULL,
    shape JSON NOT NULL,
    weights TEXT NOT NULL,
    options JSON NOT NULL
);

CREATE TABLE records (
    record_id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    case_key TEXT NOT NULL REFERENCES cases (case_key),
    device_index INTEGER NOT NULL,
    device_fingerprint TEXT REFERENCES devices (fingerprint),
    model_fingerprint TEXT REFERENCES models (fingerprint),
    status TEXT NOT NULL CHECK (status IN ('ok', 'skipped', 'failed', 'invalid')),
    reason TEXT,
    remedy TEXT,
    provenance TEXT NOT NULL CHECK (provenance IN ('measured', 'imported', 'predicted', 'simulated')),
    started_at TIMESTAMP NOT NULL,
    duration_s DOUBLE NOT NULL,
    verdict TEXT CHECK (verdict IN ('valid', 'ambiguous', 'invalid')),
    device JSON,
    model JSON,
    placement JSON,
    output_check JSON,
    passport JSON,
    profile JSON NOT NULL,
    software JSON NOT NULL,
    log TEXT
);

CREATE TABLE metrics (
    record_id TEXT NOT NULL REFERENCES records (record_id),
    name TEXT NOT NULL,
    value DOUBLE,
    low DOUBLE,
    high DOUBLE,
    n INTEGER,
    note TEXT,
    PRIMARY KEY (record_id, name)
);

CREATE TABLE samples (
    record_id TEXT NOT NULL REFERENCES records (record_id),
    process INTEGER NOT NULL,
    steps_per_sample INTEGER NOT NULL,
    stop TEXT NOT NULL,
    steady BOOLEAN, -- NULL: not known
    warmup_ms DOUBLE[] NOT NULL,
    host_ms DOUBLE[] NOT NULL,
    device_ms DOUBLE[] NOT NULL,
    device_cold_ms DOUBLE[] NOT NULL,
    cpu_ms DOUBLE[] NOT NULL,
    wait_ms DOUBLE[] NOT NULL,
    PRIMARY KEY (record_id, process)
);
