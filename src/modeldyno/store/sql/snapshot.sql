-- What a server keeps in memory of the attached store.

-- Apart from the rest, for to sort whole rows takes several times as long. `seq` is the place in time.
CREATE TEMP TABLE ranks AS
    SELECT rowid AS place, row_number() OVER (ORDER BY started_at, record_id) AS seq,
        row_number() OVER (
            PARTITION BY series_id, device_index, provenance, CASE WHEN device_id IS NULL THEN run_id END
            ORDER BY started_at DESC, record_id DESC) = 1 AS newest
    FROM store.records;

CREATE TABLE results AS
    SELECT r.record_id, r.run_id, r.series_id, r.case_key, r.started_at, r.duration_s, r.status, r.provenance,
        r.verdict, c.workload, r.model, lower(r.model) AS model_folded, m.family, m.architecture, m.parameters,
        c.platform, d.name AS device, lower(d.name) AS device_folded, r.device_id, r.device_index,
        coalesce(d.emulated, false) AS emulated, c.runtime, c.precision, c.batch, c.shape, c.options, c.weights,
        r.reason, r.remedy, u.effort, u.git_commit AS "commit", h.hostname, k.place, k.seq, k.newest,
        r.provenance IN ({real}) AS is_real,
        {values}
    FROM store.records r
    JOIN ranks k ON k.place = r.rowid
    JOIN store.cases c USING (case_key)
    JOIN store.runs u USING (run_id)
    JOIN store.hosts h USING (host_id)
    LEFT JOIN store.models m USING (model_id)
    LEFT JOIN store.devices d USING (device_id);

DROP TABLE ranks;

CREATE TABLE newest AS FROM results WHERE newest;

-- How many results are alike in all that people choose by.
CREATE TABLE alike AS
    SELECT {facets}, model_folded, device_folded, is_real, count(*) AS n FROM results GROUP BY ALL;

CREATE TABLE runs AS
    SELECT u.run_id, u.started_at, u.name, u.command, u.version, u.git_commit AS "commit", u.effort, u.import_id,
        h.host_id, h.hostname, h.cpu, h.system, json_array_length(u.plan) AS planned,
        coalesce(n.results, 0) AS results, coalesce(n.ok, 0) AS ok, coalesce(n.failed, 0) AS failed,
        coalesce(n.invalid, 0) AS invalid, coalesce(n.skipped, 0) AS skipped, coalesce(n.models, []) AS models,
        coalesce(n.platforms, []) AS platforms, n.last
    FROM store.runs u
    JOIN store.hosts h USING (host_id)
    LEFT JOIN (
        SELECT run_id, count(*) AS results, count(*) FILTER (status = 'ok') AS ok,
            count(*) FILTER (status = 'failed') AS failed, count(*) FILTER (status = 'invalid') AS invalid,
            count(*) FILTER (status = 'skipped') AS skipped, list_sort(list(DISTINCT model))[:20] AS models,
            list_sort(list(DISTINCT platform)) AS platforms, max(started_at) AS last
        FROM results GROUP BY run_id) n USING (run_id);

CREATE TABLE devices AS
    SELECT d.device_id, d.platform, d.name, d.memory_mb, d.capability, d.emulated,
        coalesce(n.results, 0) AS results, coalesce(n.models, 0) AS models, n.last
    FROM store.devices d
    LEFT JOIN (SELECT device_id, count(*) AS results, count(DISTINCT model) AS models, max(started_at) AS last
        FROM results GROUP BY device_id) n USING (device_id);

-- Of real results only: what is simulated or predicted is shown where it is asked for.
CREATE TABLE models AS
    SELECT model, any_value(family) AS family, any_value(architecture) AS architecture,
        max(parameters) AS parameters, count(*) AS results, count(*) FILTER (status = 'ok') AS ok,
        list_sort(list(DISTINCT platform)) AS platforms, max(started_at) AS last
    FROM results WHERE is_real AND workload <> 'hardware' GROUP BY model;

-- Series by provenance and status, so that both can be chosen by.
CREATE TABLE series AS
    SELECT series_id, provenance, status, any_value(is_real) AS is_real, any_value(workload) AS workload, any_value(model) AS model,
        any_value(model_folded) AS model_folded, any_value(family) AS family, any_value(architecture) AS architecture,
        any_value(platform) AS platform, any_value(device) AS device, any_value(device_folded) AS device_folded,
        any_value(runtime) AS runtime, any_value(precision) AS precision, any_value(batch) AS batch,
        any_value(shape) AS shape, any_value(options) AS options, count(*) AS results, min(started_at) AS first,
        max(started_at) AS last, arg_max(latency_ms, started_at) AS latency_ms
    FROM results GROUP BY series_id, provenance, status ORDER BY series_id;
