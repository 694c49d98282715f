-- From `staged`, the records that are new.
INSERT OR IGNORE INTO platforms
    SELECT "case".platform FROM staged
    UNION SELECT device ->> 'platform' FROM staged WHERE device IS NOT NULL;

INSERT OR IGNORE INTO cases BY NAME
    SELECT DISTINCT ON (case_key)
        case_key, "case".workload AS workload, "case".model AS model, "case".platform AS platform,
        "case".runtime AS runtime, "case".precision AS precision, "case".batch AS batch, "case".shape AS shape,
        "case".weights AS weights, "case".options AS options
    FROM staged;

INSERT OR IGNORE INTO devices BY NAME
    SELECT DISTINCT ON (device_id)
        device_id, device ->> 'platform' AS platform, device ->> 'name' AS name, device ->> 'memory_mb' AS memory_mb,
        device ->> 'capability' AS capability, device ->> 'emulated' AS emulated
    FROM staged WHERE device_id IS NOT NULL;

INSERT OR IGNORE INTO models BY NAME
    SELECT DISTINCT ON (model_id)
        model ->> 'fingerprint' AS model_id, model ->> 'name' AS model_name, model ->> 'architecture' AS architecture,
        model ->> 'family' AS family, model ->> 'model_type' AS model_type, model ->> 'parameters' AS parameters,
        model ->> 'size' AS size, model ->> 'weights' AS weights, model ->> 'source' AS source
    FROM staged WHERE model IS NOT NULL;

-- Neighbours of one series are asked for together, and have times of one size, which take less room.
INSERT INTO records BY NAME
    SELECT * EXCLUDE ("case", "check", model, metrics, profile, log, started_at),
        "case".model AS model, model AS model_info, "check" AS output_check, "case"."index" AS device_index, model ->> 'fingerprint' AS model_id,
        passport.verdict AS verdict, started_at::TIMESTAMPTZ AT TIME ZONE 'UTC' AS started_at, unnest(metrics)
    FROM staged ORDER BY staged."case".model, series_id, record_id;

INSERT INTO artifacts SELECT record_id, 'log', log FROM staged WHERE log IS NOT NULL;

INSERT INTO artifacts SELECT record_id, 'profile', profile FROM staged WHERE json_array_length(profile) > 0;
