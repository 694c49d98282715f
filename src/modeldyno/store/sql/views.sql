-- Made anew whenever the schema changes. First our own, then the names that the plan's SQL uses.

CREATE OR REPLACE VIEW results AS
    SELECT r.record_id, r.series_id, r.run_id, r.started_at, r.status, r.provenance, r.verdict,
        c.workload, r.model, m.family, m.architecture, c.platform, d.name AS device, c.runtime, c.precision, c.batch,
        c.shape, c.options, {values}, r.reason, h.hostname, u.git_commit, u.import_id
    FROM records r
    JOIN cases c USING (case_key)
    JOIN runs u USING (run_id)
    JOIN hosts h USING (host_id)
    LEFT JOIN models m USING (model_id)
    LEFT JOIN devices d USING (device_id);
COMMENT ON VIEW results IS 'One row per record with the values of its metrics: where to begin.';

CREATE OR REPLACE VIEW metrics AS
    {metrics}
    UNION ALL
    SELECT record_id, entry.key AS name, unnest(entry.value)
    FROM (SELECT record_id, unnest(map_entries(other_metrics)) AS entry FROM records WHERE other_metrics IS NOT NULL);
COMMENT ON VIEW metrics IS 'One row per metric of a record, with its interval.';

CREATE OR REPLACE VIEW samples AS
    SELECT record_id, unnest(samples, recursive := true) FROM records;
COMMENT ON VIEW samples IS 'Raw samples of a record, one row per process, in milliseconds per step.';

CREATE OR REPLACE VIEW compatibility AS
    SELECT record_id AS outcome_id, r.run_id, r.model, c.platform, c.runtime, c.precision, r.status, r.reason, r.remedy,
        r.provenance, r.evidence, r.started_at
    FROM records r JOIN cases c USING (case_key)
    UNION ALL BY NAME
    SELECT test_id AS outcome_id, run_id, model, platform, status, reason, provenance, evidence, started_at
    FROM tests WHERE model IS NOT NULL AND platform IS NOT NULL;
COMMENT ON VIEW compatibility IS 'Whether a model worked on a platform, from measurements and from tests.';

CREATE OR REPLACE VIEW hardware_platforms AS
    SELECT device_id AS hardware_id, platform AS hardware_type, name AS device_name, memory_mb / 1024 AS memory_gb,
        capability AS compute_capability, emulated AS is_emulated
    FROM devices
    UNION ALL BY NAME
    SELECT platform AS hardware_id, platform AS hardware_type, false AS is_emulated FROM platforms;
COMMENT ON VIEW hardware_platforms IS 'Devices, and one row per platform for outcomes that met no device.';

CREATE OR REPLACE VIEW performance_results AS
    SELECT r.record_id AS result_id, r.run_id, coalesce(r.model_id, r.model) AS model_id,
        coalesce(r.device_id, c.platform) AS hardware_id, c.workload AS test_case, c.batch AS batch_size, c.precision,
        (c.shape ->> 'seq')::INTEGER AS sequence_length, r.duration_s AS total_time_seconds,
        coalesce(r.latency_mean_ms.value, r.latency_ms.value) AS average_latency_ms,
        r.throughput_per_s.value AS throughput_items_per_second, r.memory_peak_mb.value AS memory_peak_mb,
        r.latency_ms.n AS iterations, r.started_at AS created_at, r.provenance, r.verdict
    FROM records r JOIN cases c USING (case_key)
    WHERE r.status = 'ok';
COMMENT ON VIEW performance_results IS 'Measured cases by the names of the plan.';

CREATE OR REPLACE VIEW hardware_compatibility AS
    SELECT r.record_id AS compatibility_id, r.run_id, coalesce(r.model_id, r.model) AS model_id,
        coalesce(r.device_id, c.platform) AS hardware_id, r.model AS model_name, c.platform AS hardware_type,
        r.status = 'ok' AS is_compatible, r.reason AS error_message, r.remedy AS suggested_fix, r.provenance,
        r.started_at AS created_at
    FROM records r JOIN cases c USING (case_key)
    UNION ALL BY NAME
    SELECT test_id AS compatibility_id, run_id, model AS model_id, platform AS hardware_id, model AS model_name,
        platform AS hardware_type, status = 'ok' AS is_compatible, reason AS error_message, provenance,
        started_at AS created_at
    FROM tests WHERE model IS NOT NULL AND platform IS NOT NULL;
COMMENT ON VIEW hardware_compatibility IS 'Outcomes by the names of the plan.';

CREATE OR REPLACE VIEW web_platform_results AS
    SELECT r.record_id AS result_id, r.run_id, coalesce(r.model_id, r.model) AS model_id,
        coalesce(r.device_id, c.platform) AS hardware_id, r.model AS model_name, c.platform,
        c.options ->> 'browser' AS browser, r.status = 'ok' AS success, r.load_ms.value AS load_time_ms,
        r.latency_ms.value AS inference_time_ms, r.memory_peak_mb.value AS memory_usage_mb,
        r.throughput_per_s.value AS throughput_items_per_second, r.reason AS error_message, r.provenance,
        r.started_at AS created_at
    FROM records r JOIN cases c USING (case_key)
    WHERE c.platform IN ('webnn', 'webgpu');
COMMENT ON VIEW web_platform_results IS 'Records of browsers by the names of the plan.';

CREATE OR REPLACE VIEW benchmark_runs AS
    SELECT r.run_id || '/' || r.series_id AS id, min(r.started_at) AS timestamp, any_value(r.model) AS model_id,
        any_value(coalesce(d.name, c.platform)) AS device, any_value(m.architecture) AS architecture_type,
        any_value(m.parameters) AS parameter_count, any_value(u.name) AS description
    FROM records r
    JOIN cases c USING (case_key)
    JOIN runs u USING (run_id)
    LEFT JOIN models m USING (model_id)
    LEFT JOIN devices d USING (device_id)
    GROUP BY r.run_id, r.series_id;
COMMENT ON VIEW benchmark_runs IS 'Runs of one case by the names of the plan.';

CREATE OR REPLACE VIEW benchmark_results AS
    SELECT r.run_id || '/' || r.series_id AS run_id, c.batch AS batch_size,
        (c.shape ->> 'seq')::INTEGER AS sequence_length, c.precision, r.latency_ms.value AS latency_ms,
        r.throughput_per_s.value AS throughput_samples_per_sec, r.memory_average_mb.value AS memory_usage_mb,
        r.first_token_ms.value AS first_token_latency_ms, r.memory_peak_mb.value AS peak_memory_mb,
        r.device AS device_metrics
    FROM records r JOIN cases c USING (case_key)
    WHERE r.status = 'ok';
COMMENT ON VIEW benchmark_results IS 'Measured cases by the names of the plan.';
