-- From `staged`, the runs that are new.
INSERT OR IGNORE INTO hosts BY NAME
    SELECT DISTINCT ON (host_id)
        host ->> 'host_id' AS host_id, host ->> 'hostname' AS hostname, host ->> 'system' AS system,
        host ->> 'cpu' AS cpu, host ->> 'logical_cores' AS logical_cores, host ->> 'memory_mb' AS memory_mb,
        host ->> 'python' AS python
    FROM staged;

INSERT INTO runs BY NAME
    SELECT * EXCLUDE (started_at, "commit"), "commit" AS git_commit, host ->> 'host_id' AS host_id,
        started_at::TIMESTAMPTZ AT TIME ZONE 'UTC' AS started_at
    FROM staged;
